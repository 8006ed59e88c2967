// Values as other bytes: base64, URLs, compression, hashes.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include <openssl/evp.h>
#include <zlib.h>

#include "base/base64.h"
#include "json/crc64.h"
#include "json/parse.h"
#include "query/functions/arguments.h"
#include "query/functions/function.h"
#include "query/functions/text.h"
#include "query/result_text.h"

namespace sluice::query {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

// The base64 of a value's JSON; binary is taken as it is. NULL has a text too.
Value Base64Encode(FunctionContext& context, Args args) {
  if (args[0]->is_missing()) return {};
  const std::string text =
      args[0]->is_bytes() ? std::string(args[0]->AsBytes()) : ResultText(*args[0]);
  if (!context.Allow(text.size() * 4 / 3)) return nullptr;
  return ToBase64(text);
}

// What is JSON becomes its value, other bytes stay binary.
Value Base64Decode(FunctionContext& context, Args args) {
  if (!AllStrings(args) || !context.Allow(TextOf(args, 0).size())) return nullptr;
  const auto bytes = FromBase64(TextOf(args, 0));
  if (!bytes) return nullptr;
  auto value = json::Parse(*bytes);
  return value ? std::move(*value) : Value::Bytes(*bytes);
}

Value UrlEncode(FunctionContext& context, Args args) {
  if (!AllStrings(args) || !context.Allow(TextOf(args, 0).size() * 3)) return nullptr;
  std::string out;
  for (const char c : TextOf(args, 0)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-_.~").find(c) != std::string_view::npos) {
      out += c;
    } else if (c == ' ') {
      out += '+';
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

Value UrlDecode(FunctionContext& context, Args args) {
  if (!AllStrings(args) || !context.Allow(TextOf(args, 0).size())) return nullptr;
  const std::string_view text = TextOf(args, 0);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const char* digits = text.data() + i + 1;
    uint8_t byte = 0;
    if (i + 3 > text.size() || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
      return nullptr;
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return TextValue(out);
}

// The base64 of what zlib makes of a string.
Value Compress(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  const std::string_view text = TextOf(args, 0);
  uLongf size = compressBound(text.size());
  if (!context.Allow(size * 7 / 3)) return nullptr;
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size,
               reinterpret_cast<const Bytef*>(text.data()), text.size()) != Z_OK) {
    return nullptr;
  }
  return ToBase64(std::string_view(packed).substr(0, size));
}

// Nothing when the bytes are not what zlib made, or the result has no room.
std::optional<std::string> Inflate(FunctionContext& context, std::string packed) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  constexpr size_t kChunk = 64 << 10;
  std::string out;
  int result = Z_OK;
  while (result == Z_OK && context.Allow(kChunk)) {
    out.resize(stream.total_out + kChunk);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + stream.total_out);
    stream.avail_out = kChunk;
    result = inflate(&stream, Z_NO_FLUSH);
  }
  out.resize(stream.total_out);
  const bool whole = result == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  return whole ? std::optional(std::move(out)) : std::nullopt;
}

Value Uncompress(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  auto packed = FromBase64(TextOf(args, 0));
  if (!packed) return nullptr;
  const auto text = Inflate(context, std::move(*packed));
  return text ? TextValue(*text) : Value(nullptr);
}

std::string ToHex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes)
    fmt::format_to(std::back_inserter(out), "{:02x}", static_cast<uint8_t>(c));
  return out;
}

constexpr uint32_t kIeee = 0xedb88320, kCastagnoli = 0x82f63b78, kKoopman = 0xeb31d82e;

// Reflected, as all three are written here.
uint32_t Crc32(std::string_view bytes, uint32_t polynomial) {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? polynomial : 0);
    table[i] = rest;
  }
  uint32_t crc = ~uint32_t{0};
  for (const char c : bytes) crc = table[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

// A name, a number, or a number as a string in C's notation; others mean the usual one.
uint32_t PolynomialOf(const Value& option) {
  if (const auto number = WholeNumber(option)) return static_cast<uint32_t>(*number);
  if (!option.is_string()) return kIeee;
  std::string name = ToLowerAscii(option.AsString());
  if (name == "castagnoli") return kCastagnoli;
  if (name == "koopman") return kKoopman;
  const bool hex = name.starts_with("0x");
  const std::string_view digits = std::string_view(name).substr(hex ? 2 : 0);
  uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  return error == std::errc() && end == digits.data() + digits.size() ? number : kIeee;
}

// Empty when there is no such algorithm.
std::string HashHex(std::string_view bytes, std::string name, uint32_t polynomial) {
  if (name.starts_with("sha-")) name.erase(3, 1);
  if (name == "crc32") return fmt::format("{:08x}", Crc32(bytes, polynomial));
  if (name == "crc64") return json::Crc64IsoHex(bytes);
  constexpr std::string_view kDigests[] = {"md5",    "sha1",   "sha224",     "sha256",
                                           "sha384", "sha512", "sha512/224", "sha512/256"};
  if (std::ranges::find(kDigests, name) == std::end(kDigests)) return "";
  if (const size_t slash = name.find('/'); slash != name.npos) name[slash] = '-';
  const EVP_MD* digest = EVP_get_digestbyname(name.c_str());
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  if (digest == nullptr ||
      EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, digest, nullptr) != 1) {
    return "";
  }
  return ToHex({reinterpret_cast<const char*>(out.data()), size});
}

// HASHBYTES(value [, algorithm or {"algorithm", "polynomial"}]): strings and binary as they are,
// others by their JSON.
Value HashBytes(FunctionContext&, Args args) {
  const Value& value = *args[0];
  if (value.is_missing() || value.is_null()) return value;
  std::string algorithm = "sha256";
  uint32_t polynomial = kIeee;
  if (args.size() > 1 && !args[1]->is_missing() && !args[1]->is_null()) {
    const Value& options = *args[1];
    if (!options.is_string() && !options.is_object()) return nullptr;
    const Value& name = options.is_object() ? options["algorithm"] : options;
    if (name.is_string()) algorithm = ToLowerAscii(name.AsString());
    polynomial = PolynomialOf(options["polynomial"]);
  }
  const std::string text = value.is_string()  ? std::string(value.AsString())
                           : value.is_bytes() ? std::string(value.AsBytes())
                                              : ResultText(value);
  const std::string hash = HashHex(text, algorithm, polynomial);
  return hash.empty() ? Value(nullptr) : Value(hash);
}

constexpr ScalarFunction kEncodingFunctions[] = {
    {"base64", 1, 1, Base64Encode, Unknowns::kSeen},
    {"base64_decode", 1, 1, Base64Decode},
    {"urlencode", 1, 1, UrlEncode},
    {"urldecode", 1, 1, UrlDecode},
    {"compress", 1, 1, Compress},
    {"uncompress", 1, 1, Uncompress},
    {"hashbytes", 1, 2, HashBytes, Unknowns::kSeen},
};

constexpr FunctionAlias kEncodingAliases[] = {
    {"base64_encode", "base64"},
    {"encode_base64", "base64"},
    {"decode_base64", "base64_decode"},
};

}  // namespace

FunctionFamily EncodingFunctions() { return {kEncodingFunctions, kEncodingAliases}; }

}  // namespace sluice::query
