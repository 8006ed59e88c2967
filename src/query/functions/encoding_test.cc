#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

TEST(EncodingFunctions, Base64) {
  CheckCalls({
      {"base64", {"abc"}, "ImFiYyI="},
      {"base64_encode", {Value::Object({{"a", 1}})}, "eyJhIjoxfQ=="},
      {"encode_base64", {Value::Bytes("abc")}, "YWJj"},
      {"base64", {nullptr}, "bnVsbA=="},
      {"base64", {kMissing}, kMissing},
      {"base64_decode", {"ImFiYyI="}, "abc"},
      {"decode_base64", {"eyJhIjoxfQ=="}, Value::Object({{"a", 1}})},
      {"base64_decode", {"YWJj"}, Value::Bytes("abc")},
      {"base64_decode", {"!"}, nullptr},
  });
  CheckUnknowns("base64_decode", {"YWJj"}, {1});
}

TEST(EncodingFunctions, Url) {
  CheckCalls({
      {"urlencode", {"a b&é/~"}, "a+b%26%C3%A9%2F~"},
      {"urldecode", {"a+b%26%c3%A9%2F~"}, "a b&é/~"},
      {"urldecode", {"%4"}, nullptr},
      {"urldecode", {"%zz"}, nullptr},
      {"urldecode", {"%+1"}, nullptr},
      {"urldecode", {"%ff"}, "\uFFFD"},
  });
  CheckUnknowns("urlencode", {"a"}, {1});
  CheckUnknowns("urldecode", {"a"}, {1});
}

TEST(EncodingFunctions, Compress) {
  TestContext context;
  for (const std::string& text : {std::string(), std::string("hello"), std::string(300'000, 'x')}) {
    const Value packed = Call(context, "compress", {text});
    EXPECT_EQ(Call(context, "uncompress", {packed}), Value(text));
  }
  CheckCalls({
      // As Couchbase compresses it.
      {"uncompress",
       {"eJwKycgsVsgsVijJSFUoLinKzEtXKMlXSM7PLShKLS4GBAAA//+ouQs8"},
       "This is the string to compress"},
      {"uncompress", {"YWJj"}, nullptr},
      {"uncompress", {"eJwKycgsVsgsVijJSFUo"}, nullptr},
      {"uncompress", {"no base64"}, nullptr},
  });
  CheckUnknowns("compress", {"a"}, {1});
  CheckUnknowns("uncompress", {"a"}, {1});
}

TEST(EncodingFunctions, ALittleThatBecomesMuchIsRefused) {
  TestContext roomy;
  roomy.limit_bytes = size_t{1} << 30;
  const Value packed = Call(roomy, "compress", {std::string(10'000'000, 'x')});
  TestContext context;
  context.limit_bytes = 1000;
  EXPECT_EQ(Call(context, "uncompress", {packed}), Value(nullptr));
  EXPECT_EQ(CodeOf(context.failure), QueryCode::kMemoryQuota);
}

TEST(EncodingFunctions, HashBytes) {
  const auto crc = [](Value polynomial) {
    return Value::Object({{"algorithm", "crc32"}, {"polynomial", polynomial}});
  };
  CheckCalls({
      {"hashbytes", {"abc"}, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"hashbytes", {"abc", "md5"}, "900150983cd24fb0d6963f7d28e17f72"},
      {"hashbytes", {"abc", "SHA-1"}, "a9993e364706816aba3e25717850c26c9cd0d89d"},
      {"hashbytes", {"abc", "sha224"}, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
      {"hashbytes",
       {"abc", "sha512/256"},
       "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"},
      {"hashbytes", {"123456789", "crc32"}, "cbf43926"},
      {"hashbytes", {"123456789", crc("castagnoli")}, "e3069283"},
      {"hashbytes", {"123456789", crc("Koopman")}, "2d3dd0ae"},
      {"hashbytes", {"123456789", crc("0xEDB88320")}, "cbf43926"},
      {"hashbytes", {"123456789", crc(0x82f63b78U)}, "e3069283"},
      {"hashbytes", {"123456789", "crc64"}, "b90956c775a41001"},
      {"hashbytes", {Value::Bytes("123456789"), "crc32"}, "cbf43926"},
      {"hashbytes", {123456789, "crc32"}, "cbf43926"},
      {"hashbytes", {"abc", "rot13"}, nullptr},
      {"hashbytes", {"abc", 1}, nullptr},
      {"hashbytes", {kMissing, "md5"}, kMissing},
      {"hashbytes", {nullptr, "md5"}, nullptr},
      {"hashbytes",
       {"123456789", nullptr},
       "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"},
  });
}

}  // namespace
}  // namespace sluice::query
