// A set of writes in order, which is applied as a whole or not at all. It belongs to no store: it
// can be serialised, sent elsewhere, read again and written to any store.
//
// One thread. The bytes are described in docs/formats/groups.md.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "storage/family.h"

namespace rocksdb {
class WriteBatch;
}  // namespace rocksdb

namespace sluice::storage {

// Visits the records of a batch, in order.
class BatchVisitor {
 public:
  virtual ~BatchVisitor() = default;
  virtual void Put(Family family, std::string_view key, std::string_view value) = 0;
  virtual void Delete(Family family, std::string_view key) = 0;
  // From `from` on and below `to`.
  virtual void DeleteRange(Family family, std::string_view from, std::string_view to) = 0;
};

class Batch {
 public:
  Batch();
  ~Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;

  void Put(Family family, std::string_view key, std::string_view value);
  // The value is the parts' concatenation, at most eight; spares the caller a copy.
  void PutParts(Family family, std::string_view key, std::span<const std::string_view> value);
  void Delete(Family family, std::string_view key);
  void DeleteRange(Family family, std::string_view from, std::string_view to);
  void Clear();

  size_t bytes() const;
  bool empty() const;

  // The keys of the family `meta` that the batch puts or deletes, in order. Definitions of all
  // kinds are there, and whoever keeps them in memory must know which have changed. Ranges of this
  // family are never deleted.
  const std::vector<std::string>& meta_keys() const { return meta_keys_; }

  void ForEach(BatchVisitor& visitor) const;

  std::string Serialize() const;
  // Refuses bytes that Serialize did not make: group.corrupt, group.unknown_version.
  static Result<Batch> Parse(std::string_view bytes);

 private:
  friend class Store;
  void Note(Family family, std::string_view key) {
    if (family == Family::kMeta) meta_keys_.emplace_back(key);
  }

  std::unique_ptr<rocksdb::WriteBatch> batch_;
  std::vector<std::string> meta_keys_;
};

}  // namespace sluice::storage
