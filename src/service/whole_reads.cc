#include "service/whole_reads.h"

#include <memory>

#include "db/traffic.h"

namespace sluice::service {
namespace {

// The counter of the keyspace that this thread's last read was of: looking for it takes a lock. It
// lives as long as its database.
struct Last {
  const db::Traffic* traffic = nullptr;
  db::KeyspaceId keyspace = 0;
  std::weak_ptr<std::atomic<uint64_t>> runs;
};

}  // namespace

void NoteWholeRead(const db::Database& database, db::KeyspaceId keyspace) {
  thread_local Last last;
  db::Traffic& traffic = database.operations().traffic();
  db::Traffic::Runs runs =
      last.traffic == &traffic && last.keyspace == keyspace ? last.runs.lock() : nullptr;
  if (runs == nullptr) {
    runs =
        traffic.Enter({.reads = {{.keyspace = keyspace, .whole = true, .paths = {}}}, .joins = {}});
    last = {&traffic, keyspace, runs};
  }
  if (runs != nullptr) runs->fetch_add(1, std::memory_order_relaxed);
}

}  // namespace sluice::service
