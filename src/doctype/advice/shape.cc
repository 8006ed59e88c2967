#include "doctype/advice/shape.h"

#include <algorithm>

#include <fmt/format.h>

#include "doctype/advice/drafts.h"
#include "doctype/advice/statistics.h"
#include "doctype/schema/format.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

constexpr size_t kMaxChoiceBytes = 32;
constexpr uint64_t kLeastForChoices = 20;

}  // namespace

void Shape::Add(const Value& value, int depth) {
  ++count_;
  document_ = document_ || depth == 0;
  switch (value.type()) {
    case json::Type::kNull:
      ++nulls_;
      return;
    case json::Type::kBool:
      ++booleans_;
      return;
    case json::Type::kInt:
      ++integers_;
      return;
    case json::Type::kString:
      return AddString(value.AsString());
    case json::Type::kObject:
      ++objects_;
      if (depth < kMaxDepth) AddObject(value, depth);
      return;
    case json::Type::kArray:
      ++arrays_;
      if (depth >= kMaxDepth) return;
      if (items_ == nullptr) items_ = std::make_unique<Shape>();
      for (const Value& item : value.items()) items_->Add(item, depth + 1);
      return;
    default:
      ++doubles_;
  }
}

void Shape::AddString(std::string_view text) {
  ++strings_;
  date_times_ += HasFormat(Format::kDateTime, text);
  dates_ += HasFormat(Format::kDate, text);
  uuids_ += HasFormat(Format::kUuid, text);
  emails_ += HasFormat(Format::kEmail, text);
  if (many_texts_) return;
  ++texts_[std::string(text.substr(0, kMaxChoiceBytes + 1))];
  if (texts_.size() <= kMaxChoices && text.size() <= kMaxChoiceBytes) return;
  many_texts_ = true;
  texts_.clear();
}

void Shape::AddObject(const Value& object, int depth) {
  for (const json::Field& field : object.fields()) {
    const auto found = field_numbers_.find(field.name());
    if (found != field_numbers_.end()) {
      fields_[found->second].second->Add(field.value, depth + 1);
    } else if (fields_.size() < kMaxFields) {
      field_numbers_.emplace(field.name(), fields_.size());
      fields_.emplace_back(field.name(), std::make_unique<Shape>());
      fields_.back().second->Add(field.value, depth + 1);
    } else {
      open_ = true;
    }
  }
}

const Shape* Shape::Field(std::string_view name) const {
  const auto found = field_numbers_.find(name);
  return found == field_numbers_.end() ? nullptr : fields_[found->second].second.get();
}

void Shape::Merge(const Shape& other) {
  document_ = document_ || other.document_;
  count_ += other.count_;
  nulls_ += other.nulls_;
  booleans_ += other.booleans_;
  integers_ += other.integers_;
  doubles_ += other.doubles_;
  strings_ += other.strings_;
  arrays_ += other.arrays_;
  objects_ += other.objects_;
  date_times_ += other.date_times_;
  dates_ += other.dates_;
  uuids_ += other.uuids_;
  emails_ += other.emails_;
  for (const auto& [text, count] : other.texts_) texts_[text] += count;
  many_texts_ = many_texts_ || other.many_texts_ || texts_.size() > kMaxChoices;
  if (many_texts_) texts_.clear();
  for (const auto& [name, shape] : other.fields_) {
    const auto found = field_numbers_.find(name);
    if (found != field_numbers_.end()) {
      fields_[found->second].second->Merge(*shape);
    } else if (fields_.size() < kMaxFields) {
      field_numbers_.emplace(name, fields_.size());
      fields_.emplace_back(name, std::make_unique<Shape>());
      fields_.back().second->Merge(*shape);
    } else {
      open_ = true;
    }
  }
  open_ = open_ || other.open_;
  if (other.items_ == nullptr) return;
  if (items_ == nullptr) items_ = std::make_unique<Shape>();
  items_->Merge(*other.items_);
}

uint64_t Shape::Kinds() const {
  uint64_t kinds = 0;
  if (booleans_ > 0) kinds |= 1;
  if (integers_ + doubles_ > 0) kinds |= 2;
  if (strings_ > 0) kinds |= 4;
  if (arrays_ > 0) kinds |= 8;
  if (objects_ > 0) kinds |= 16;
  return kinds;
}

// One kind of values; of objects, fields that most of them have.
bool Shape::OneShape() const {
  uint64_t kinds = 0;
  size_t objects = 0;
  size_t names = 0;
  std::set<std::string_view> all;
  for (const auto& [name, shape] : fields_) {
    kinds |= shape->Kinds();
    if (shape->objects_ == 0 || shape->IsMap()) continue;
    ++objects;
    names += shape->fields_.size();
    for (const auto& field : shape->fields_) all.insert(field.first);
  }
  const bool one_kind = kinds != 0 && (kinds & (kinds - 1)) == 0;
  return one_kind && (objects == 0 || names * 2 >= objects * all.size());
}

bool Shape::IsMap() const {
  if (document_ || fields_.size() <= kMapNames || !OneShape()) return false;
  constexpr uint64_t kInside = 8 | 16;
  if ((fields_.front().second->Kinds() & kInside) != 0) return true;
  uint64_t values = 0;
  size_t identifiers = 0;
  for (const auto& [name, shape] : fields_) {
    values += shape->count();
    identifiers += IsIdentifier(name) ? 1 : 0;
  }
  const bool sparse = values * 2 < objects_ * fields_.size();
  return sparse || open_ || identifiers * 2 < fields_.size();
}

Shape Shape::Values() const {
  Shape values;
  for (const auto& [name, shape] : fields_) values.Merge(*shape);
  return values;
}

std::set<std::string> Shape::MapPaths() const {
  std::set<std::string> paths;
  for (const auto& [name, shape] : fields_) shape->AddMapPaths(FieldBelow("", name), &paths);
  return paths;
}

void Shape::AddMapPaths(const std::string& path, std::set<std::string>* paths) const {
  if (items_ != nullptr) items_->AddMapPaths(path + "[]", paths);
  if (IsMap()) {
    paths->insert(path);
    return Values().AddMapPaths(path + ".*", paths);
  }
  for (const auto& [name, shape] : fields_) shape->AddMapPaths(FieldBelow(path, name), paths);
}

// A few texts that come again and again.
std::vector<std::string> Shape::Choices() const {
  std::vector<std::string> choices;
  if (many_texts_ || strings_ < kLeastForChoices) return choices;
  for (const auto& [text, count] : texts_) {
    if (count < 2) return {};
    choices.push_back(text);
  }
  return choices;
}

std::string_view Shape::FormatName() const {
  if (strings_ == 0) return "";
  if (date_times_ == strings_) return "date-time";
  if (dates_ == strings_) return "date";
  if (uuids_ == strings_) return "uuid";
  return emails_ == strings_ ? "email" : "";
}

Value Shape::ObjectSchema() const {
  Value properties = Value::EmptyObject();
  Value required = Value::EmptyArray();
  for (const auto& [name, shape] : fields_) {
    properties.Set(name, shape->ToSchema());
    if (shape->count() == objects_) required.Append(name);
  }
  Value out = Value::Object({{"properties", properties}});
  if (required.size() > 0) out.Set("required", required);
  return out;
}

Value Shape::ToSchema() const {
  std::vector<Value> types;
  if (nulls_ > 0) types.emplace_back("null");
  if (booleans_ > 0) types.emplace_back("boolean");
  if (doubles_ > 0) types.emplace_back("number");
  if (integers_ > 0 && doubles_ == 0) types.emplace_back("integer");
  if (strings_ > 0) types.emplace_back("string");
  if (arrays_ > 0) types.emplace_back("array");
  if (objects_ > 0) types.emplace_back("object");
  Value out = Value::EmptyObject();
  if (types.size() == 1) out.Set("type", types.front());
  if (types.size() > 1) out.Set("type", Value::Array(types));
  const std::vector<std::string> choices = Choices();
  if (types.size() == 1 && !choices.empty()) {
    Value list = Value::EmptyArray();
    for (const std::string& choice : choices) list.Append(choice);
    out.Set("enum", list);
  } else if (!FormatName().empty()) {
    out.Set("format", FormatName());
  }
  if (items_ != nullptr && items_->count() > 0) out.Set("items", items_->ToSchema());
  if (objects_ > 0 && IsMap()) {
    out.Set("additionalProperties", Values().ToSchema());
  } else if (objects_ > 0 && !open_) {
    const Value object = ObjectSchema();
    for (const json::Field& field : object.fields()) out.Set(field.name(), field.value);
  }
  return out;
}

std::string Shape::ObjectTypeScript(int indent) const {
  if (IsMap()) return fmt::format("Record<string, {}>", Values().ToTypeScript(indent));
  if (open_ || fields_.empty()) return "Record<string, unknown>";
  std::string out = "{\n";
  for (const auto& [name, shape] : fields_) {
    out += fmt::format("{:{}}{}{}: {};\n", "", indent + 2, IsIdentifier(name) ? name : Quoted(name),
                       shape->count() == objects_ ? "" : "?", shape->ToTypeScript(indent + 2));
  }
  return out + fmt::format("{:{}}}}", "", indent);
}

std::string Shape::ToTypeScript(int indent) const {
  std::vector<std::string> types;
  if (booleans_ > 0) types.emplace_back("boolean");
  if (integers_ + doubles_ > 0) types.emplace_back("number");
  if (strings_ > 0) {
    const std::vector<std::string> choices = Choices();
    for (const std::string& choice : choices) types.push_back(Quoted(choice));
    if (choices.empty()) types.emplace_back("string");
  }
  if (arrays_ > 0) {
    const bool known = items_ != nullptr && items_->count() > 0;
    types.push_back(
        fmt::format("Array<{}>", known ? items_->ToTypeScript(indent) : std::string("unknown")));
  }
  if (objects_ > 0) types.push_back(ObjectTypeScript(indent));
  if (nulls_ > 0) types.emplace_back("null");
  return types.empty() ? "unknown" : fmt::format("{}", fmt::join(types, " | "));
}

}  // namespace sluice::doctype
