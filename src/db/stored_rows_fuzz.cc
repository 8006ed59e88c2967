// Every decoder of stored rows on any bytes: it refuses them or gives something that encodes again
// and reads back the same. The first byte picks the decoder.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "db/catalog_rows.h"
#include "db/cursor.h"
#include "db/document.h"
#include "db/expiry.h"
#include "db/group.h"
#include "db/index.h"
#include "db/log.h"
#include "db/shared_rows.h"

namespace sluice::db {
namespace {

void TryDocument(std::string_view row) {
  const auto read = DecodeDocument(row);
  if (!read) return;
  const std::string again = EncodeDocument(*read);
  CHECK(EncodeDocument(*DecodeDocument(again)) == again);
}

void TryLog(std::string_view row) {
  const std::string_view key = row.substr(0, 14);
  Change change;
  if (!DecodeLogRow(key, row.substr(key.size()), &change).ok()) return;
  CHECK(key.substr(2) == LogKey(0, change.sequence, change.n).substr(2));
  std::string again = EncodeLogHeader(change);
  if (change.after) again += EncodeDocument(*change.after);
  Change reread;
  CHECK(DecodeLogRow(key, again, &reread).ok());
  CHECK(reread.key == change.key && reread.cas == change.cas);
}

void TryCursor(std::string_view row) {
  (void)DecodeCursorKey(row);
  const auto read = DecodeCursor(row);
  if (read) CHECK(*DecodeCursor(EncodeCursor(*read)) == *read);
}

void TryIndexAndExpiry(std::string_view row) {
  const auto index = DecodeIndexRow(row);
  if (index) CHECK(index->parts.size() + index->key.size() + 2 == row.size());
  const auto value = IndexRowValue::Decode(row);
  if (value) CHECK(value->Encode().size() <= row.size());
  const auto expiry = DecodeExpiryRow(row, "d");
  if (expiry) CHECK(ExpiryKey(expiry->due_ms, expiry->DocumentRowKey()) == row);
  (void)DecodeExpiryRow("", row);
}

void TryMeta(std::string_view row) {
  const auto prepared = PreparedGroup::Decode(row);
  if (prepared) CHECK(PreparedGroup::Decode(prepared->Encode())->group == prepared->group);
  const auto decision = Decision::Decode(row);
  if (decision) CHECK(decision->Encode() == row);
  const auto state = ShardState::Decode(row);
  if (state && row[0] != 1) CHECK(state->Encode() == row);  // rows of version 1 get longer
  const auto value = DecodeMetaJson("key", row, kIndexRowVersion);
  if (!value) return;
  (void)KeyspaceFromJson(*value);
  (void)IndexFromJson(*value);
  (void)FollowerFromJson(*value);
}

}  // namespace
}  // namespace sluice::db

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sluice::db;
  if (size == 0) return 0;
  const std::string_view row(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      TryDocument(row);
      break;
    case 1:
      TryLog(row);
      break;
    case 2:
      TryCursor(row);
      break;
    case 3:
      TryIndexAndExpiry(row);
      break;
    default:
      TryMeta(row);
  }
  return 0;
}
