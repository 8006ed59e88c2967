// Cursors without rows, which return an error.
#pragma once

#include <string_view>
#include <utility>

#include "base/status.h"
#include "db/reader.h"

namespace sluice::db {

class FailedDocumentCursor final : public DocumentCursor {
 public:
  explicit FailedDocumentCursor(Status status) : status_(std::move(status)) {}
  bool Next() override { return false; }
  std::string_view key() const override { return {}; }
  const DocumentView& document() const override { return document_; }
  Status status() const override { return status_; }

 private:
  const Status status_;
  const DocumentView document_;
};

class FailedIndexCursor final : public IndexCursor {
 public:
  explicit FailedIndexCursor(Status status) : status_(std::move(status)) {}
  bool Next() override { return false; }
  std::string_view parts() const override { return {}; }
  std::string_view key() const override { return {}; }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace sluice::db
