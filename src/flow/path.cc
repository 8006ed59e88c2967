#include "flow/path.h"

#include <charconv>
#include <utility>

#include "flow/text_form.h"

namespace sluice::flow {
namespace {

const json::Value kMissing;
constexpr std::string_view kModelPrefix = "model.";

std::unexpected<Status> BadPath(std::string_view text, std::string_view why) {
  return Fail(Code::kInvalidArgument, "flow.bad_mapping", "'{}' is not a path: {}", text, why);
}

const json::Value& FindKey(const json::Value& at, std::string_view key, bool any_case) {
  if (const json::Value* exact = at.Find(key)) return *exact;
  if (!any_case) return kMissing;
  for (const json::Field& field : at.fields()) {
    if (EqualsIgnoringCase(field.name(), key)) return field.value;
  }
  return kMissing;
}

// Reads the parts of a path one after the other.
class PathReader {
 public:
  PathReader(std::string_view text, Path::Use use) : text_(text), use_(use) {}

  Result<std::vector<Step>> Read() {
    std::vector<Step> steps;
    bool need_key = text_.empty() || text_.front() != '[';
    while (at_ < text_.size() || need_key) {
      if (steps.size() >= Path::kMaxSteps) {
        return BadPath(text_, fmt::format("it has more than {} parts", Path::kMaxSteps));
      }
      auto step = need_key ? Key() : Bracket();
      if (!step) return Unexpected(step.error());
      steps.push_back(*std::move(step));
      need_key = at_ < text_.size() && text_[at_] == '.';
      if (need_key) ++at_;
      if (!need_key && at_ < text_.size() && text_[at_] != '[') {
        return BadPath(text_, "'.' or '[' must follow ']'");
      }
    }
    return steps;
  }

 private:
  Result<Step> Key() {
    const size_t start = at_;
    bool braces = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '{' && text_.find('}', at_) != text_.npos) {
        braces = true;
        at_ = text_.find('}', at_);
      } else if (c == '.' || c == '[') {
        break;
      } else if (c == ']') {
        return BadPath(text_, "']' without '['");
      }
    }
    Step step;
    step.key = std::string(Trim(text_.substr(start, at_ - start)));
    if (step.key.empty()) return BadPath(text_, "a key is empty");
    if (braces) {
      ASSIGN_OR_RETURN(Template key, Template::Parse(step.key));
      if (!key.constant()) {
        step.kind = Step::Kind::kTextKey;
        step.text = std::make_shared<const Template>(std::move(key));
      }
    }
    return step;
  }

  Result<Step> Bracket() {
    const size_t close = text_.find(']', at_);
    if (close == text_.npos) return BadPath(text_, "']' is missing");
    std::string_view inside = Trim(text_.substr(at_ + 1, close - at_ - 1));
    at_ = close + 1;
    if (inside.size() > 2 && inside.front() == '{' && inside.back() == '}') {
      inside = Trim(inside.substr(1, inside.size() - 2));
    }
    if (inside.find_first_of("[{") != inside.npos) {
      return BadPath(text_, "an index can't have an index or braces in it");
    }
    Step step;
    if (inside.empty()) {
      if (use_ == Path::Use::kRead) return BadPath(text_, "'[]' appends, so it can't be read");
      step.kind = Step::Kind::kAppend;
      return step;
    }
    if (inside.starts_with("model.")) {
      ASSIGN_OR_RETURN(ModelRef ref, ModelRef::Parse(inside));
      step.kind = Step::Kind::kModelIndex;
      step.ref = std::make_shared<const ModelRef>(std::move(ref));
      return step;
    }
    step.kind = Step::Kind::kIndex;
    const auto [end, error] =
        std::from_chars(inside.data(), inside.data() + inside.size(), step.index);
    if (error != std::errc() || end != inside.data() + inside.size()) {
      return BadPath(text_, "an index is a number from 0, a model variable, or nothing to append");
    }
    if (use_ == Path::Use::kWrite && step.index > static_cast<size_t>(Path::kMaxIndex)) {
      return BadPath(text_, fmt::format("the largest index to write is {}", Path::kMaxIndex));
    }
    return step;
  }

  const std::string_view text_;
  const Path::Use use_;
  size_t at_ = 0;
};

// `model.list.ITEM.name`
Result<std::optional<ModelRef::Item>> FindItem(std::string_view text) {
  using Item = ModelRef::Item;
  constexpr std::pair<std::string_view, Item::Kind> kKinds[] = {{".ITEM", Item::Kind::kItem},
                                                                {".INDEX", Item::Kind::kIndex}};
  for (const auto& [word, kind] : kKinds) {
    const size_t at = text.find(word);
    if (at == text.npos || at <= kModelPrefix.size()) continue;
    std::string_view rest = text.substr(at + word.size());
    if (!rest.empty() && rest.front() != '.' && rest.front() != '[') continue;
    Item item{std::string(text.substr(0, at)), kind, {}};
    if (rest.starts_with('.')) rest.remove_prefix(1);
    if (!rest.empty()) {
      ASSIGN_OR_RETURN(item.rest, Path::Parse(rest, Path::Use::kRead));
    }
    return item;
  }
  return std::nullopt;
}

// The number in `[model.n]`, to write to.
Result<size_t> IndexToWrite(const Step& step, const ModelView& view) {
  const json::Value& value = step.ref->Get(view);
  const auto index = WholeNumberOf(value);
  if (!index) {
    return Fail(Code::kInvalidArgument, "flow.bad_index",
                "Cannot set RHS to an index that is not a number - {} is {}", step.ref->text,
                TextOf(value));
  }
  if (*index < 0) {
    return Fail(Code::kInvalidArgument, "flow.bad_index", "Cannot set RHS to negative index - {}",
                step.ref->text);
  }
  if (*index > Path::kMaxIndex) {
    return Fail(Code::kInvalidArgument, "flow.bad_index", "Cannot set RHS to index > {} - {}",
                Path::kMaxIndex, step.ref->text);
  }
  return static_cast<size_t>(*index);
}

// The place of an element or field, which is made if it is missing; unset elements before it become
// null.
json::Value* FieldPlace(json::Value* at, std::string_view key) {
  if (!at->is_object()) *at = json::Value::EmptyObject();
  if (json::Value* found = at->MutableField(key)) return found;
  at->Set(key, nullptr);
  return at->MutableField(key);
}

json::Value* ItemPlace(json::Value* at, size_t index) {
  if (!at->is_array()) *at = json::Value::EmptyArray();
  while (at->size() <= index) at->Append(nullptr);
  return at->MutableItem(index);
}

}  // namespace

Result<Template> Template::Parse(std::string_view text) {
  Template made;
  std::string literal;
  while (!text.empty()) {
    const size_t open = text.find('{');
    const size_t close = open == text.npos ? text.npos : text.find('}', open);
    if (close == text.npos) break;
    const std::string_view name = Trim(text.substr(open + 1, close - open - 1));
    literal.append(text.substr(0, open));
    if (name.starts_with("model.")) {
      ASSIGN_OR_RETURN(ModelRef ref, ModelRef::Parse(name));
      if (!literal.empty()) made.pieces_.push_back({std::exchange(literal, {}), nullptr});
      made.pieces_.push_back({"", std::make_shared<const ModelRef>(std::move(ref))});
      text.remove_prefix(close + 1);
    } else {
      literal += '{';
      text.remove_prefix(open + 1);
    }
  }
  literal.append(text);
  if (!literal.empty() || made.pieces_.empty()) made.pieces_.push_back({literal, nullptr});
  return made;
}

Template Template::Literal(std::string_view text) {
  Template made;
  made.pieces_.push_back({std::string(text), nullptr});
  return made;
}

bool Template::constant() const {
  return pieces_.empty() || (pieces_.size() == 1 && pieces_.front().ref == nullptr);
}

std::string Template::Text(const ModelView& view) const {
  std::string out;
  for (const Piece& piece : pieces_) {
    if (out.size() > kMaxValueBytes) break;
    if (piece.ref == nullptr) {
      out += piece.text;
      continue;
    }
    const json::Value& value = piece.ref->Get(view);
    out += value.is_string() || value.is_number() ? TextOf(value) : "null";
  }
  return out;
}

Result<Path> Path::Parse(std::string_view text, Use use) {
  auto steps = PathReader(text, use).Read();
  if (!steps) return Unexpected(steps.error());
  Path path;
  path.steps_ = *std::move(steps);
  return path;
}

std::string_view Path::first_key() const {
  if (steps_.empty() || steps_.front().kind != Step::Kind::kKey) return {};
  return steps_.front().key;
}

void Path::IgnoreCaseAt(size_t position) {
  if (position < steps_.size()) steps_[position].any_case = true;
}

const json::Value& Path::Get(const json::Value& root, const ModelView& view) const {
  const json::Value* at = &root;
  for (const Step& step : steps_) {
    switch (step.kind) {
      case Step::Kind::kKey:
        at = &FindKey(*at, step.key, step.any_case);
        break;
      case Step::Kind::kTextKey:
        at = &FindKey(*at, step.text->Text(view), step.any_case);
        break;
      case Step::Kind::kIndex:
        at = &(*at)[step.index];
        break;
      case Step::Kind::kModelIndex: {
        const auto index = WholeNumberOf(step.ref->Get(view));
        if (!index || *index < 0) return kMissing;
        at = &(*at)[static_cast<size_t>(*index)];
        break;
      }
      case Step::Kind::kAppend:
        return kMissing;
    }
    if (at->is_missing()) return kMissing;
  }
  return *at;
}

Status Path::Set(json::Value* root, const ModelView& view, json::Value value) const {
  RETURN_IF_ERROR(CheckSize(value, steps_.size()));
  // Removing a missing value does nothing; it must not make maps on its path.
  if (value.is_missing() && Get(*root, view).is_missing()) return OkStatus();
  json::Value* at = root;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const bool last = i + 1 == steps_.size();
    switch (step.kind) {
      case Step::Kind::kKey:
      case Step::Kind::kTextKey: {
        const std::string made =
            step.kind == Step::Kind::kTextKey ? step.text->Text(view) : std::string();
        const std::string_view key = step.kind == Step::Kind::kTextKey ? made : step.key;
        if (last && value.is_missing()) {
          at->Remove(key);
          return OkStatus();
        }
        at = FieldPlace(at, key);
        break;
      }
      case Step::Kind::kIndex:
        at = ItemPlace(at, step.index);
        break;
      case Step::Kind::kAppend:
        at = ItemPlace(at, at->is_array() ? at->size() : 0);
        break;
      case Step::Kind::kModelIndex: {
        ASSIGN_OR_RETURN(const size_t index, IndexToWrite(step, view));
        at = ItemPlace(at, index);
        break;
      }
    }
  }
  *at = value.is_missing() ? json::Value(nullptr) : std::move(value);
  return OkStatus();
}

Result<ModelRef> ModelRef::Parse(std::string_view text, Path::Use use) {
  ModelRef ref;
  ref.text = std::string(Trim(text));
  std::string_view rest = ref.text;
  if (!rest.starts_with(kModelPrefix)) {
    return Fail(Code::kInvalidArgument, "flow.bad_mapping", "'{}' is not a model variable", rest);
  }
  rest.remove_prefix(kModelPrefix.size());
  for (const std::string_view prefix : {"parent.", "root."}) {
    if (rest.starts_with(prefix)) {
      ref.shared = true;
      rest.remove_prefix(prefix.size());
      break;
    }
  }
  if (!ref.shared && (rest == "parent" || rest == "root")) {
    return Fail(Code::kInvalidArgument, "flow.bad_mapping",
                "'{}' can't be used as a whole; name a key in it", ref.text);
  }
  ASSIGN_OR_RETURN(ref.path, Path::Parse(rest, use));
  if (!ref.shared && use == Path::Use::kRead) {
    ASSIGN_OR_RETURN(ref.item, FindItem(ref.text));
  }
  return ref;
}

const json::Value& ModelRef::Get(const ModelView& view) const {
  const json::Value& found = path.Get(shared ? *view.shared : *view.model, view);
  return item && found.is_missing() ? item->Get(view) : found;
}

const json::Value& ModelRef::Item::Get(const ModelView& view) const {
  if (view.item == nullptr || list != view.list) return kMissing;
  return kind == Kind::kIndex ? view.index : rest.Get(*view.item, view);
}

}  // namespace sluice::flow
