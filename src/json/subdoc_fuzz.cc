// The input is an operation's letter, a path, a value and a document, divided by line feeds. A
// change that succeeds gives JSON in which the path leads to what the operation promises, and the
// outcome equals the same change made on a Value.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "json/extract.h"
#include "json/parse.h"
#include "json/path.h"
#include "json/subdoc.h"

namespace sluice::json {
namespace {

std::string_view TakeLine(std::string_view* input) {
  const size_t end = std::min(input->find('\n'), input->size());
  const std::string_view line = input->substr(0, end);
  input->remove_prefix(std::min(end + 1, input->size()));
  return line;
}

Value At(std::string_view document, std::string_view path) {
  const Value root = *Parse(document);
  return Path::Parse(path)->Get(root);
}

void CheckArray(const MutateSpec& spec, const Value& before, const Value& after) {
  const Value value = *Parse(spec.value);
  CHECK(after.size() == before.size() + 1);
  const size_t position = spec.op == MutateSpec::Op::kArrayPrepend ? 0 : before.size();
  CHECK(after[position] == value);
}

void CheckOutcome(const MutateSpec& spec, std::string_view before, std::string_view after) {
  switch (spec.op) {
    case MutateSpec::Op::kInsert:
      CHECK(At(before, spec.path).is_missing());
      [[fallthrough]];
    case MutateSpec::Op::kUpsert:
    case MutateSpec::Op::kReplace:
    case MutateSpec::Op::kArrayInsert:
      CHECK(At(after, spec.path) == *Parse(spec.value));
      break;
    case MutateSpec::Op::kRemove:
      CHECK(!At(before, spec.path).is_missing());
      CHECK(after.size() < before.size());
      break;
    case MutateSpec::Op::kCounter:
      CHECK(At(after, spec.path).is_int());
      break;
    default:
      CheckArray(spec, At(before, spec.path), At(after, spec.path));
  }
}

void Run(std::string_view input) {
  const std::string_view letter = TakeLine(&input);
  if (letter.empty()) return;
  MutateSpec spec;
  spec.op = static_cast<MutateSpec::Op>(static_cast<uint8_t>(letter[0]) % 9);
  spec.create_path = letter.size() > 1;
  spec.delta = static_cast<int64_t>(letter.size()) - 3;
  spec.path = TakeLine(&input);
  spec.value = TakeLine(&input);
  const auto result = Mutate(input, {&spec, 1});
  if (result && Validate(input).ok()) CheckOutcome(spec, input, result->document);
  for (const auto op : {LookupSpec::Op::kGet, LookupSpec::Op::kExists, LookupSpec::Op::kCount}) {
    const LookupSpec lookup{op, spec.path};
    const auto found = Lookup(input, {&lookup, 1});
    CHECK(found.has_value());
    if (op != LookupSpec::Op::kGet || !Validate(input).ok()) continue;
    const LookupResult& first = found->front();
    if (first.status.ok()) CHECK(*Parse(first.value) == At(input, spec.path));
  }
}

}  // namespace
}  // namespace sluice::json

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::json::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
