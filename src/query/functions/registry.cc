#include <algorithm>
#include <unordered_map>

#include "query/functions/cast.h"
#include "query/functions/comdb2.h"
#include "query/functions/function.h"

namespace sluice::query {
namespace {

using Table = std::unordered_map<std::string_view, const ScalarFunction*>;

Table MakeTable() {
  Table table;
  for (const FunctionFamily& family :
       {ArithmeticFunctions(), ArrayFactFunctions(),  ArrayFunctions(),
        BitFunctions(),        ComparisonFunctions(), ConditionalFunctions(),
        DateFunctions(),       EncodingFunctions(),   JsonFunctions(),
        LikeFunctions(),       MetaFunctions(),       NavigationFunctions(),
        NumberFunctions(),     ObjectFunctions(),     ObjectNestedFunctions(),
        PatternFunctions(),    RedactFunctions(),     StringBuildFunctions(),
        StringFunctions(),     TableFunctions(),      TokenFunctions(),
        TypeFunctions(),       VectorFunctions(),     CastFunctions(),
        Comdb2Functions(),     SqliteFunctions(),     SqliteTimeFunctions(),
        Comdb2TimeFunctions()}) {
    for (const ScalarFunction& function : family.functions) table[function.name] = &function;
    for (const auto& [alias, name] : family.aliases) table[alias] = table.at(name);
  }
  return table;
}

const Table& Functions() {
  static const Table table = MakeTable();
  return table;
}

}  // namespace

const ScalarFunction* FindFunction(std::string_view name) {
  const auto found = Functions().find(name);
  return found == Functions().end() ? nullptr : found->second;
}

std::vector<std::string_view> FunctionNames() {
  std::vector<std::string_view> names;
  for (const auto& [name, function] : Functions()) {
    if (name.find(' ') == std::string_view::npos) names.push_back(name);  // others nobody can write
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace sluice::query
