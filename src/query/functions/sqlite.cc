// Functions that Comdb2's clients know from SQLite or from Comdb2 itself, and SQL++ has not.
#include <algorithm>
#include <chrono>
#include <climits>
#include <optional>
#include <string>
#include <thread>

#include <unistd.h>
#include <zlib.h>

#include "base/utf8.h"
#include "json/parse.h"
#include "json/print.h"
#include "query/functions/comdb2.h"

namespace sluice::query {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;

// SLEEP(seconds): the run waits, and can be stopped meanwhile.
Value Sleep(FunctionContext& context, Args args) {
  using std::chrono::milliseconds;
  constexpr int64_t kStepMs = 10;
  constexpr size_t kSpentPerStep = 100'000;
  constexpr int64_t kMostSeconds = 86'400;
  if (!args[0]->is_int() || args[0]->AsInt() < 0) return nullptr;
  const int64_t seconds = std::min(args[0]->AsInt(), kMostSeconds);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < end) {
    if (!context.Spend(kSpentPerStep)) return nullptr;
    std::this_thread::sleep_for(milliseconds(kStepMs));
  }
  return seconds;
}

// --- JSON, which is text in SQLite ---

Value JsonObject(FunctionContext& context, Args args) {
  if (args.size() % 2 != 0) {
    context.Fail(QueryError(QueryCode::kSyntax, "JSON_OBJECT takes pairs of a name and a value"));
    return nullptr;
  }
  Value object = Value::EmptyObject();
  for (size_t i = 0; i < args.size(); i += 2) {
    if (!args[i]->is_string()) {
      context.Fail(QueryError(QueryCode::kEvaluation, "JSON_OBJECT: the names are texts"));
      return nullptr;
    }
    object.Set(std::string(args[i]->AsString()), *args[i + 1]);
  }
  return json::ToText(object);
}

Value JsonArray(FunctionContext&, Args args) {
  Value array = Value::EmptyArray();
  for (const Value* arg : args) array.Append(*arg);
  return json::ToText(array);
}

Value JsonValid(FunctionContext&, Args args) {
  return args[0]->is_string() && json::Parse(args[0]->AsString()) ? 1 : 0;
}

// --- bytes ---

Value ZeroBlob(FunctionContext& context, Args args) {
  if (!args[0]->is_int()) return nullptr;
  const auto size = static_cast<size_t>(std::max<int64_t>(args[0]->AsInt(), 0));
  if (size > kMaxBytes) {
    context.Fail(QueryError(QueryCode::kTooLarge, "ZEROBLOB makes at most {} bytes", kMaxBytes));
    return nullptr;
  }
  return context.Allow(size) ? Value::Bytes(std::string(size, '\0')) : Value(nullptr);
}

Value Utf8Valid(FunctionContext&, Args args) {
  if (args[0]->is_bytes()) return IsValidUtf8(args[0]->AsBytes()) ? 1 : 0;
  return 1;
}

constexpr int kGzip = 15 + 16;
constexpr int kZlib = 15;

std::optional<std::string> Deflated(std::string_view bytes, int format) {
  z_stream stream{};
  constexpr int kMemoryLevel = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, format, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return std::nullopt;
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return done ? std::optional(std::move(out)) : std::nullopt;
}

// Nothing when the bytes are of another format, or when there is no room for what they hold.
std::optional<std::string> Inflated(FunctionContext& context, std::string_view bytes, int format) {
  constexpr size_t kChunk = size_t{1} << 16;
  z_stream stream{};
  if (inflateInit2(&stream, format) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() < kMaxBytes && context.Allow(out.size() + kChunk)) {
    const size_t before = out.size();
    out.resize(before + kChunk);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(kChunk);
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    if (state == Z_BUF_ERROR || (state == Z_OK && stream.avail_in == 0 && stream.avail_out > 0)) {
      break;
    }
  }
  inflateEnd(&stream);
  return state == Z_STREAM_END ? std::optional(std::move(out)) : std::nullopt;
}

// The size of the content before it, seven bits a byte, the highest first.
std::string SizePrefix(size_t size) {
  std::string prefix(1, static_cast<char>(size & 0x7f));
  for (size >>= 7; size > 0; size >>= 7) prefix.insert(0, 1, static_cast<char>(size | 0x80));
  return prefix;
}

template <int kFormat>
Value Compress(FunctionContext& context, Args args) {
  const auto bytes = Comdb2Text(*args[0], context.time_zone());
  if (!bytes || !context.Allow(2 * bytes->size())) return nullptr;
  const auto deflated = Deflated(*bytes, kFormat);
  if (!deflated) return nullptr;
  return Value::Bytes(kFormat == kZlib ? SizePrefix(bytes->size()) + *deflated : *deflated);
}

template <int kFormat>
Value Uncompress(FunctionContext& context, Args args) {
  if (!args[0]->is_bytes()) return nullptr;
  std::string_view bytes = args[0]->AsBytes();
  if (kFormat == kZlib) {
    while (!bytes.empty() && (bytes.front() & 0x80) != 0) bytes.remove_prefix(1);
    if (!bytes.empty()) bytes.remove_prefix(1);
  }
  auto inflated = Inflated(context, bytes, kFormat);
  return inflated ? Value::Bytes(*inflated) : Value(nullptr);
}

// --- the server ---

Value Host(FunctionContext&, Args) {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? Value(std::string(name)) : Value(nullptr);
}

// CARRAY(@list) in FROM: a row with one column `value` for each.
Value CArray(FunctionContext& context, Args args) {
  if (!args[0]->is_array()) return nullptr;
  constexpr size_t kItemBytes = 96;
  if (!context.Allow(args[0]->size() * kItemBytes)) return nullptr;
  std::vector<Value> rows;
  for (const Value& item : args[0]->items()) rows.push_back(Value::Object({{"value", item}}));
  return Value::Array(std::move(rows));
}

constexpr ScalarFunction kFunctions[] = {
    {"sleep", 1, 1, Sleep, Unknowns::kPropagate, Volatility::kVolatile},
    {"json_object", 0, kAnyNumber, JsonObject, Unknowns::kSeen},
    {"json_array", 0, kAnyNumber, JsonArray, Unknowns::kSeen},
    {"json_valid", 1, 1, JsonValid},
    {"zeroblob", 1, 1, ZeroBlob},
    {"utf8_valid", 1, 1, Utf8Valid},
    {kComdb2Compress, 1, 1, Compress<kZlib>},
    {kComdb2Uncompress, 1, 1, Uncompress<kZlib>},
    {"compress_gzip", 1, 1, Compress<kGzip>},
    {"uncompress_gzip", 1, 1, Uncompress<kGzip>},
    {"comdb2_host", 0, 0, Host, Unknowns::kPropagate, Volatility::kStatement},
    {"carray", 1, 1, CArray},
};

}  // namespace

FunctionFamily SqliteFunctions() { return {kFunctions, {}}; }

}  // namespace sluice::query
