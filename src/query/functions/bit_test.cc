#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

TEST(BitFunctionsTest, Calls) {
  CheckTexts({
      {"bitand", "[12, 10]", "8"},
      {"bitand", "[15, 7.0, 3]", "3"},
      {"bitand", "[3, 1.5]", "null"},
      {"bitor", "[12, 10, 1]", "15"},
      {"bitxor", "[12, 10]", "6"},
      {"bitnot", "[3]", "-4"},
      {"bitshift", "[6, 1]", "12"},
      {"bitshift", "[6, -1]", "3"},
      {"bitshift", "[-1, -63]", "1"},
      {"bitshift", "[6, 64]", "0"},
      {"bitshift", "[6, -9223372036854775808]", "0"},
      {"bitshift", "[1, -1, true]", "-9223372036854775808"},
      {"bitshift", "[1, 65, true]", "2"},
      {"bitshift", "[1, 1, false]", "2"},
      {"bitshift", "[1, 1, 1]", "null"},
      {"bitset", "[6, 1]", "7"},
      {"bitset", "[6, [1, 4]]", "15"},
      {"bitset", "[0, 64]", "-9223372036854775808"},
      {"bitset", "[6, 0]", "null"},
      {"bitset", "[6, [1, 65]]", "null"},
      {"bitset", "[6, []]", "6"},
      {"bitclear", "[6, 2]", "4"},
      {"bitclear", "[6, [2, 3]]", "0"},
      {"bittest", "[6, 1]", "false"},
      {"bittest", "[6, [1, 2]]", "true"},
      {"isbitset", "[6, [1, 2], true]", "false"},
      {"bittest", "[6, [2, 3], true]", "true"},
      {"bittest", "[6, [2, \"a\"]]", "null"},
  });
}

TEST(BitFunctionsTest, Unknowns) {
  for (const char* name : {"bitand", "bitor", "bitxor", "bitset", "bitclear"}) {
    CheckUnknowns(name, {6, 3}, {"6", "3"});
  }
  CheckUnknowns("bitnot", {6}, {true});
  CheckUnknowns("bitshift", {6, 1, true}, {"6", "1", "true"});
  CheckUnknowns("bittest", {6, 1, true}, {"6", "1", "true"});
}

}  // namespace
}  // namespace sluice::query
