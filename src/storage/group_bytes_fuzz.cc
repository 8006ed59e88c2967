// Batch::Parse on any bytes: it refuses them or gives a batch that serialises to the same meaning.
// The bytes are also tried behind a checksum that fits, since few random bytes have one.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "storage/batch.h"
#include "storage/crc32c.h"

namespace sluice::storage {
namespace {

void Try(std::string_view bytes) {
  const auto parsed = Batch::Parse(bytes);
  if (!parsed) return;
  const std::string again = parsed->Serialize();
  const auto reread = Batch::Parse(again);
  CHECK(reread && reread->Serialize() == again);
  CHECK(reread->meta_keys() == parsed->meta_keys());
}

}  // namespace
}  // namespace sluice::storage

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  sluice::storage::Try(input);
  std::string bytes = "\x01";
  sluice::AppendU32(&bytes, sluice::storage::Crc32c(input));
  sluice::storage::Try(bytes.append(input));
  return 0;
}
