#include "json/path.h"

#include <charconv>

namespace sluice::json {
namespace {

constexpr std::string_view kSpecial = ".[]`";
// More digits than any array has elements.
constexpr size_t kMaxIndexDigits = 10;

class PathParser {
 public:
  explicit PathParser(std::string_view text) : text_(text) {}

  Result<Path> Run() {
    if (text_.size() > kMaxPathBytes) {
      return Invalid(0, fmt::format("a path has at most {} bytes", kMaxPathBytes));
    }
    while (at_ < text_.size()) {
      if (steps_.size() == kMaxPathSteps) {
        return Invalid(at_, fmt::format("a path has at most {} steps", kMaxPathSteps));
      }
      if (text_[at_] == '[') {
        RETURN_IF_ERROR(ReadIndex());
        continue;
      }
      if (!steps_.empty()) {
        if (text_[at_] != '.') return Invalid(at_, "expected '.' or '['");
        ++at_;
      }
      RETURN_IF_ERROR(ReadName());
    }
    return Path(std::move(steps_));
  }

 private:
  std::unexpected<Status> Invalid(size_t at, std::string_view why) const {
    return Unexpected(
        Error(Code::kInvalidArgument, "path.invalid", "path '{}': {}", text_.substr(0, 64), why)
            .At({.file = "", .line = 1, .column = static_cast<uint32_t>(at + 1)}));
  }

  Status ReadIndex() {
    const size_t start = at_ + 1;
    const size_t end = std::min(text_.find(']', start), text_.size());
    const std::string_view number = text_.substr(start, end - start);
    const std::string_view digits = number.substr(number.starts_with('-') ? 1 : 0);
    const bool leading_zero = digits.starts_with('0') && number != "0";
    int64_t index = 0;
    const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    if (end == text_.size() || digits.empty() || digits.size() > kMaxIndexDigits || leading_zero ||
        error != std::errc() || stop != number.data() + number.size()) {
      return Invalid(start, "expected a position such as [0] or [-1]").error();
    }
    steps_.emplace_back(index);
    at_ = end + 1;
    return OkStatus();
  }

  Status ReadName() {
    if (at_ < text_.size() && text_[at_] == '`') return ReadQuotedName();
    const size_t end = std::min(text_.find_first_of(kSpecial, at_), text_.size());
    if (end == at_) return Invalid(at_, "expected a field name").error();
    steps_.emplace_back(std::string(text_.substr(at_, end - at_)));
    at_ = end;
    return OkStatus();
  }

  Status ReadQuotedName() {
    std::string name;
    const size_t start = at_++;
    while (true) {
      const size_t quote = text_.find('`', at_);
      if (quote == std::string_view::npos) {
        return Invalid(start, "the back quote is not closed").error();
      }
      name += text_.substr(at_, quote - at_);
      at_ = quote + 1;
      if (at_ == text_.size() || text_[at_] != '`') break;
      name += '`';
      ++at_;
    }
    steps_.emplace_back(std::move(name));
    return OkStatus();
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::vector<PathStep> steps_;
};

void AppendName(std::string_view name, std::string* out) {
  if (!name.empty() && name.find_first_of(kSpecial) == std::string_view::npos) {
    *out += name;
    return;
  }
  *out += '`';
  for (const char c : name) out->append(c == '`' ? 2 : 1, c);
  *out += '`';
}

}  // namespace

Result<Path> Path::Parse(std::string_view text) { return PathParser(text).Run(); }

std::string Path::ToString() const {
  std::string text;
  for (const PathStep& step : steps_) {
    if (const auto* index = std::get_if<int64_t>(&step)) {
      text += fmt::format("[{}]", *index);
      continue;
    }
    if (!text.empty()) text += '.';
    AppendName(std::get<std::string>(step), &text);
  }
  return text;
}

const Value& Path::Get(const Value& root) const {
  const Value* value = &root;
  for (const PathStep& step : steps_) {
    if (const auto* index = std::get_if<int64_t>(&step)) {
      value = &(*value)[ResolveIndex(*index, value->size())];
    } else {
      value = &(*value)[std::string_view(std::get<std::string>(step))];
    }
  }
  return *value;
}

}  // namespace sluice::json
