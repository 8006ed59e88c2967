// RocksDB's warnings and errors in our log, instead of in a file of its own: a file beside the data
// can't be written when the disk is full, and Debian's RocksDB asserts that it can.
#pragma once

#include <atomic>
#include <cstdarg>

#include <rocksdb/env.h>

namespace sluice::storage {

// Any thread. Silent until Begin: Open returns the errors of opening a store itself.
class LogForwarder final : public rocksdb::Logger {
 public:
  LogForwarder() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}
  void Begin() { begun_.store(true, std::memory_order_relaxed); }

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override;
  void Logv(rocksdb::InfoLogLevel level, const char* format, va_list arguments) override;

 private:
  std::atomic<bool> begun_ = false;
};

}  // namespace sluice::storage
