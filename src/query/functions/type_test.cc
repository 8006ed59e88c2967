#include <cmath>
#include <limits>

#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

TEST(TypeFunctionsTest, Checks) {
  CheckTexts({
      {"is_array", "[[]]", "true"},
      {"isarray", "[1]", "false"},
      {"is_atom", "[1]", "true"},
      {"is_atom", "[\"a\"]", "true"},
      {"is_atom", "[{}]", "false"},
      {"is_bool", "[false]", "true"},
      {"is_boolean", "[0]", "false"},
      {"is_number", "[1.5]", "true"},
      {"isnumber", "[\"1\"]", "false"},
      {"is_object", "[{}]", "true"},
      {"is_obj", "[[]]", "false"},
      {"is_string", "[\"a\"]", "true"},
      {"isstr", "[1]", "false"},
      {"is_binary", "[\"a\"]", "false"},
      {"type", "[1.5]", "\"number\""},
      {"type", "[null]", "\"null\""},
      {"typename", "[{}]", "\"object\""},
      {"type", "[\"MISSING\"]", "\"missing\""},
      {"type_name", "[true]", "\"boolean\""},
  });
  CheckCalls({{"is_binary", {Value::Bytes("x")}, true},
              {"is_atom", {Value::Bytes("x")}, false},
              {"type", {Value::Bytes("x")}, "binary"}});
}

TEST(TypeFunctionsTest, Conversions) {
  CheckTexts({
      {"to_array", "[1]", "[1]"},
      {"to_array", "[[1]]", "[1]"},
      {"to_array", "[{\"a\": 1}]", "[{\"a\":1}]"},
      {"to_atom", "[[[{\"a\": 5}]]]", "5"},
      {"to_atom", "[[1, 2]]", "null"},
      {"to_atom", "[\"x\"]", "\"x\""},
      {"to_boolean", "[0]", "false"},
      {"to_bool", "[\"a\"]", "true"},
      {"to_bool", "[[]]", "false"},
      {"to_object", "[{\"a\": 1}]", "{\"a\":1}"},
      {"to_object", "[1]", "{}"},
      {"to_string", "[1.50]", "\"1.5\""},
      {"to_string", "[12]", "\"12\""},
      {"to_string", "[1e21]", "\"1000000000000000000000\""},
      {"to_string", "[true]", "\"true\""},
      {"to_string", "[\"a\\\"b\"]", "\"a\\\"b\""},
      {"to_string", "[[]]", "null"},
      {"tostr", "[{}]", "null"},
  });
  CheckCalls({{"to_string", {std::numeric_limits<double>::infinity()}, "+Infinity"},
              {"to_string", {std::nan("")}, "NaN"},
              {"to_string", {Value::Bytes("bytes")}, "bytes"},
              {"to_string", {Value::Bytes("\xff")}, nullptr},
              {"to_array", {Value::Bytes("x")}, nullptr}});
}

TEST(TypeFunctionsTest, Numbers) {
  CheckTexts({
      {"to_number", "[\"12\"]", "12"},
      {"to_number", "[\"9223372036854775807\"]", "9223372036854775807"},
      {"to_number", "[\"9223372036854775808\"]", "9223372036854776000"},
      {"to_number", "[\"-1.5e2\"]", "-150"},
      {"to_number", "[\"+3\"]", "3"},
      {"to_number", "[\"+-3\"]", "null"},
      {"to_number", "[\"a12\"]", "null"},
      {"to_number", "[\"12 \"]", "null"},
      {"to_number", "[\"\"]", "null"},
      {"to_number", "[\"1e999\"]", "null"},
      {"to_number", "[\"nan(1)\"]", "null"},
      {"to_number", "[true]", "1"},
      {"to_num", "[1.5]", "1.5"},
      {"to_number", "[[1]]", "null"},
      {"tonumber", "[\"$ 1,234.50\", \"$,\"]", "1234.5"},
      {"to_number", "[\"1.234,50\", \".\"]", "1234.5"},
      {"to_number", "[\"1 234,5\u20ac\", \"\u20ac\"]", "1234.5"},
      {"to_number", "[\"1,234,5\", \"x\"]", "null"},
      {"to_number", "[\"12\", 5]", "null"},
      {"to_number", "[\" \", \"\"]", "null"},
  });
}

TEST(TypeFunctionsTest, Unknowns) {
  for (const char* name : {"is_array", "is_atom", "is_bin", "is_bool", "is_num", "is_obj", "is_str",
                           "to_array", "to_atom", "to_bool", "to_num", "to_obj", "to_str"}) {
    CheckTexts({{name, "[null]", "null"}, {name, "[\"MISSING\"]", "MISSING"}});
  }
  CheckUnknowns("to_num", {"1", "x"}, {Value::EmptyArray(), 5});
}

}  // namespace
}  // namespace sluice::query
