#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

TEST(VectorFunctionsTest, Calls) {
  CheckTexts({
      {"vector_distance", R"([[0, 0], [3, 4], "L2"])", "5"},
      {"vector_distance", R"([[0, 0], [3, 4], "euclidean_squared"])", "25"},
      {"knn_distance", R"([[1, 2], [3, 4], "DOT"])", "-11"},
      {"vector_distance", R"([[1, 0], [0, 2], "cosine"])", "1"},
      {"vector_distance", R"([[0, 0], [0, 2], "cosine"])", "null"},
      {"vector_distance", R"([[1], [1, 2], "L2"])", "null"},
      {"isvector", R"([[1, 2], 2, "float32"])", "true"},
      {"isvector", R"([[1, 2], 3, "float32"])", "false"},
      {"isvector", R"([[1, "a"], 2, "float32"])", "false"},
      {"isvector", R"(["a", 2, "float32"])", "false"},
      {"normalize_vector", "[[3, 4]]", "[0.6,0.8]"},
      {"normalize_vector", "[[0, 0]]", "null"},
      {"encode_vector", "[[1, -2.5]]", R"("AACAPwAAIMA=")"},
      {"vector_encode", "[[1], true]", R"("P4AAAA==")"},
      {"decode_vector", R"(["AACAPwAAIMA="])", "[1,-2.5]"},
      {"decode_vector", R"(["P4AAAA==", true])", "[1]"},
      {"decode_vector", R"(["AAA="])", "null"},
      {"decode_vector", R"(["?"])", "null"},
  });
}

TEST(VectorFunctionsTest, Unknowns) {
  const Value vector = FromText("[1, 2]");
  CheckUnknowns("vector_distance", {vector, vector, "L2"}, {1, "a", 5});
  CheckUnknowns("normalize_vector", {vector}, {"a"});
  CheckUnknowns("encode_vector", {vector, true}, {"a", 1});
  CheckUnknowns("decode_vector", {"P4AAAA==", true}, {5, 1});
  CheckTexts({{"isvector", R"([null, 1, "float32"])", "null"},
              {"isvector", R"([[1], "MISSING", "float32"])", "MISSING"}});
  TestContext context;
  Call(context, "vector_distance", {vector, vector, "manhattan"});
  EXPECT_EQ(CodeOf(context.failure), QueryCode::kEvaluation);
}

}  // namespace
}  // namespace sluice::query
