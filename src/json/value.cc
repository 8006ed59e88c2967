// Invariants:
// 1. Unused payload bytes are zero, so two short strings are equal when their sixteen bytes are.
// 2. An object's slots are empty up to kLinearFields fields; beyond, they hold every field once.
// 3. A shared thing is changed only by the one Value that holds it (count 1).
// 4. An array or object that nothing was put into has none: its pointer is null.
#include "json/value.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>

#include "base/check.h"
#include "json/compare.h"
#include "json/hash.h"

namespace sluice::json {
namespace internal {

struct Shared {
  std::atomic<uint32_t> count{1};
};

// A string of any length, allocated together with its header.
struct SharedBlob : Shared {
  uint32_t size;

  char* data() { return reinterpret_cast<char*>(this + 1); }
  std::string_view text() { return {data(), size}; }
};

struct SharedDecimal : Shared {
  Decimal value;
};

struct SharedArray : Shared {
  std::vector<Value> items;
};

struct SharedObject : Shared {
  static constexpr size_t kLinearFields = 16;
  static constexpr size_t kNone = SIZE_MAX;

  size_t Find(std::string_view name) const {
    if (slots.empty()) return FindLinear(name);
    for (size_t slot = SlotOf(name);; slot = (slot + 1) & (slots.size() - 1)) {
      if (slots[slot] == 0) return kNone;
      if (fields[slots[slot] - 1].name() == name) return slots[slot] - 1;
    }
  }

  void Add(Field field) {
    fields.push_back(std::move(field));
    if (fields.size() <= kLinearFields) return;
    if (fields.size() * 2 > slots.size()) {
      Reindex();
    } else {
      Index(fields.size() - 1);
    }
  }

  static bool AllDiffer(std::span<const Field> fields) {
    for (size_t i = 1; i < fields.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (fields[i].key.SameBits(fields[j].key)) return false;
        const bool both_long = fields[i].key.IsShared() && fields[j].key.IsShared();
        if (both_long && fields[i].name() == fields[j].name()) return false;
      }
    }
    return true;
  }

  void Remove(size_t at) {
    fields.erase(fields.begin() + static_cast<ptrdiff_t>(at));
    Reindex();
  }

  std::vector<Field> fields;
  std::vector<uint32_t> slots;  // open addressing, a power of two: position + 1 in fields, or 0

 private:
  size_t FindLinear(std::string_view name) const {
    if (name.size() > Value::kPayload) {
      for (size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].name() == name) return i;
      }
      return kNone;
    }
    const Value key(name);
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].key.SameBits(key)) return i;
    }
    return kNone;
  }

  size_t SlotOf(std::string_view name) const { return HashBytes(name) & (slots.size() - 1); }

  void Index(size_t at) {
    size_t slot = SlotOf(fields[at].name());
    while (slots[slot] != 0) slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = static_cast<uint32_t>(at + 1);
  }

  void Reindex() {
    slots.clear();
    if (fields.size() <= kLinearFields) return;
    size_t capacity = 4 * kLinearFields;
    while (capacity < fields.size() * 4) capacity *= 2;
    slots.resize(capacity);
    for (size_t i = 0; i < fields.size(); ++i) Index(i);
  }
};

}  // namespace internal

using internal::Shared;
using internal::SharedArray;
using internal::SharedBlob;
using internal::SharedDecimal;
using internal::SharedObject;

namespace {

const Value kMissingValue;

// At most sixteen bytes, by two copies of a fixed size that may overlap: a call of memcpy for each
// short string is a tenth of the time of parsing.
void CopySmall(unsigned char* to, std::string_view from) {
  const size_t size = from.size();
  const auto ends = [&](auto word) {
    std::memcpy(&word, from.data(), sizeof word);
    decltype(word) last;
    std::memcpy(&last, from.data() + size - sizeof last, sizeof last);
    std::memcpy(to, &word, sizeof word);
    std::memcpy(to + size - sizeof last, &last, sizeof last);
  };
  if (size >= 8) {
    ends(uint64_t{});
  } else if (size >= 4) {
    ends(uint32_t{});
  } else if (size >= 2) {
    ends(uint16_t{});
  } else if (size == 1) {
    *to = static_cast<unsigned char>(from[0]);
  }
}

}  // namespace

std::string_view TypeName(Type type) {
  switch (type) {
    case Type::kMissing:
      return "missing";
    case Type::kNull:
      return "null";
    case Type::kBool:
      return "boolean";
    case Type::kInt:
    case Type::kDouble:
    case Type::kDecimal:
      return "number";
    case Type::kDatetime:
      return "datetime";
    case Type::kInterval:
      return "interval";
    case Type::kString:
      return "string";
    case Type::kArray:
      return "array";
    case Type::kObject:
      return "object";
    case Type::kBytes:
      return "binary";
  }
  return "unknown";
}

void Value::SetInline(Form form, size_t offset, std::string_view text) {
  CopySmall(payload_ + offset, text);
  tag_ = static_cast<uint8_t>(static_cast<uint8_t>(form) | text.size() << 4);
}

Value Value::Blob(Form form, std::string_view first, std::string_view second) {
  const size_t size = first.size() + second.size();
  CHECK(size <= UINT32_MAX);
  SharedBlob* blob = new (::operator new(sizeof(SharedBlob) + size)) SharedBlob;
  blob->size = static_cast<uint32_t>(size);
  if (!first.empty()) std::memcpy(blob->data(), first.data(), first.size());
  if (!second.empty()) std::memcpy(blob->data() + first.size(), second.data(), second.size());
  Value value;
  value.SetScalar(form, blob);
  return value;
}

Value::Value(std::string_view text) {
  Clear(Form::kShortString);
  if (text.size() > kPayload) {
    *this = Blob(Form::kLongString, text, {});
  } else {
    SetInline(Form::kShortString, 0, text);
  }
}

Value::Value(Interval value) {
  SetScalar(Form::kInterval, value.amount);
  payload_[sizeof value.amount] = static_cast<unsigned char>(value.kind);
}

Value::Value(const Decimal& value) {
  auto* decimal = new SharedDecimal;
  decimal->value = value;
  SetScalar(Form::kDecimal, decimal);
}

Value Value::Bytes(std::string_view bytes) { return Blob(Form::kBytes, bytes, {}); }

Value Value::EmptyArray() {
  Value value;
  value.SetScalar(Form::kArray, static_cast<SharedArray*>(nullptr));
  return value;
}

Value Value::EmptyObject() {
  Value value;
  value.SetScalar(Form::kObject, static_cast<SharedObject*>(nullptr));
  return value;
}

Value Value::Array(std::initializer_list<Value> items) { return Array(std::vector<Value>(items)); }

Value Value::Array(std::vector<Value> items) {
  Value value = EmptyArray();
  if (!items.empty()) value.OwnArray()->items = std::move(items);
  return value;
}

Value Value::Object(std::initializer_list<FieldInit> fields) {
  Value value = EmptyObject();
  for (const FieldInit& field : fields) value.Set(field.first, field.second);
  return value;
}

Value Value::ObjectOf(std::span<Field> fields) {
  Value value = EmptyObject();
  if (fields.empty()) return value;
  auto* const object = new SharedObject;
  value.SetScalar(Form::kObject, object);
  if (fields.size() <= SharedObject::kLinearFields && SharedObject::AllDiffer(fields)) {
    object->fields.assign(std::make_move_iterator(fields.begin()),
                          std::make_move_iterator(fields.end()));
    return value;
  }
  object->fields.reserve(fields.size());
  for (Field& field : fields) {
    const size_t at = object->Find(field.name());
    if (at == SharedObject::kNone) {
      object->Add(std::move(field));
    } else {
      object->fields[at].value = std::move(field.value);
    }
  }
  return value;
}

Value Value::Unsigned(uint64_t value) {
  if (value <= INT64_MAX) return Value(static_cast<int64_t>(value));
  return DoubleWithLiteral(static_cast<double>(value), std::to_string(value));
}

Value Value::DoubleWithLiteral(double value, std::string_view literal) {
  if (literal.size() <= kShortLiteral) {
    Value result(value);
    result.SetInline(Form::kShortDouble, sizeof value, literal);
    return result;
  }
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  return Blob(Form::kLongDouble, {bytes, sizeof value}, literal);
}

void Value::Retain() const {
  if (IsShared()) Scalar<Shared*>()->count.fetch_add(1, std::memory_order_relaxed);
}

void Value::Release() {
  // If this is the only holder, no other thread can take a reference.
  std::atomic<uint32_t>& count = Scalar<Shared*>()->count;
  if (count.load(std::memory_order_acquire) != 1 &&
      count.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    return;
  }
  switch (form()) {
    case Form::kDecimal:
      delete Scalar<SharedDecimal*>();
      return;
    case Form::kArray:
    case Form::kObject:
      ReleaseTree(this);
      return;
    default: {
      auto* blob = Scalar<SharedBlob*>();
      blob->~SharedBlob();
      ::operator delete(blob);
    }
  }
}

// Frees a container without holders. Containers inside it whose last holder it was are freed by the
// loop and not by recursion, so that nesting of any depth needs no stack.
void Value::ReleaseTree(Value* root) {
  std::vector<Value> pending;
  const auto keep = [&pending](Value& child) {
    if ((child.is_array() || child.is_object()) && child.size() > 0) {
      pending.push_back(std::move(child));
    }
  };
  const auto free_one = [&keep](const Value& value) {
    if (value.is_array()) {
      auto* array = value.Scalar<SharedArray*>();
      for (Value& item : array->items) keep(item);
      delete array;
    } else {
      auto* object = value.Scalar<SharedObject*>();
      for (Field& field : object->fields) keep(field.value);
      delete object;
    }
  };
  free_one(*root);
  while (!pending.empty()) {
    Value next = std::move(pending.back());
    pending.pop_back();
    if (next.Scalar<Shared*>()->count.fetch_sub(1, std::memory_order_acq_rel) == 1) free_one(next);
    next.Clear(Form::kMissing);
  }
}

bool Value::AsBool() const {
  CHECK(is_bool());
  return form() == Form::kTrue;
}

int64_t Value::AsInt() const {
  CHECK(is_int());
  return Scalar<int64_t>();
}

double Value::AsDouble() const {
  CHECK(is_double());
  if (form() != Form::kLongDouble) return Scalar<double>();
  double value;
  std::memcpy(&value, Scalar<SharedBlob*>()->data(), sizeof value);
  return value;
}

std::string_view Value::BlobText() const { return Scalar<SharedBlob*>()->text(); }

std::string_view Value::LongString() const {
  CHECK(form() == Form::kLongString);
  return BlobText();
}

std::string_view Value::AsBytes() const {
  CHECK(is_bytes());
  return BlobText();
}

Datetime Value::AsDatetime() const {
  CHECK(is_datetime());
  return {Scalar<int64_t>()};
}

Interval Value::AsInterval() const {
  CHECK(is_interval());
  return {static_cast<Interval::Kind>(payload_[sizeof(int64_t)]), Scalar<int64_t>()};
}

const Decimal& Value::AsDecimal() const {
  CHECK(is_decimal());
  return Scalar<SharedDecimal*>()->value;
}

double Value::ToDouble() const {
  if (is_int()) return static_cast<double>(AsInt());
  if (is_decimal()) return NearestDouble(AsDecimal());
  return AsDouble();
}

std::string_view Value::literal() const {
  if (form() == Form::kShortDouble) {
    return {reinterpret_cast<const char*>(payload_) + sizeof(double), inline_size()};
  }
  if (form() == Form::kLongDouble) return BlobText().substr(sizeof(double));
  return {};
}

size_t Value::size() const { return is_array() ? items().size() : fields().size(); }

std::span<const Value> Value::items() const {
  if (!is_array() || Scalar<SharedArray*>() == nullptr) return {};
  return Scalar<SharedArray*>()->items;
}

std::span<const Field> Value::fields() const {
  if (!is_object() || Scalar<SharedObject*>() == nullptr) return {};
  return Scalar<SharedObject*>()->fields;
}

const Value& Value::operator[](size_t index) const {
  return is_array() && index < size() ? items()[index] : kMissingValue;
}

const Value& Value::operator[](std::string_view name) const {
  const Value* found = Find(name);
  return found != nullptr ? *found : kMissingValue;
}

const Value* Value::Find(std::string_view name) const {
  if (!is_object()) return nullptr;
  const auto* object = Scalar<SharedObject*>();
  if (object == nullptr) return nullptr;
  const size_t at = object->Find(name);
  return at == SharedObject::kNone ? nullptr : &object->fields[at].value;
}

SharedArray* Value::OwnArray() {
  CHECK(is_array());
  auto* array = Scalar<SharedArray*>();
  if (array != nullptr && array->count.load(std::memory_order_acquire) == 1) return array;
  Value own;
  own.SetScalar(Form::kArray, new SharedArray);
  if (array != nullptr) own.Scalar<SharedArray*>()->items = array->items;
  Swap(own);
  return Scalar<SharedArray*>();
}

SharedObject* Value::OwnObject() {
  CHECK(is_object());
  constexpr size_t kUsualFields = 4;
  auto* object = Scalar<SharedObject*>();
  if (object != nullptr && object->count.load(std::memory_order_acquire) == 1) return object;
  Value own;
  own.SetScalar(Form::kObject, new SharedObject);
  if (object != nullptr) {
    own.Scalar<SharedObject*>()->fields = object->fields;
    own.Scalar<SharedObject*>()->slots = object->slots;
  } else {
    own.Scalar<SharedObject*>()->fields.reserve(kUsualFields);
  }
  Swap(own);
  return Scalar<SharedObject*>();
}

void Value::Set(std::string_view name, Value value) {
  if (value.is_missing()) {
    Remove(name);
    return;
  }
  SharedObject* object = OwnObject();
  const size_t at = object->Find(name);
  if (at == SharedObject::kNone) {
    object->Add({Value(name), std::move(value)});
  } else {
    object->fields[at].value = std::move(value);
  }
}

bool Value::Remove(std::string_view name) {
  CHECK(is_object());
  if (size() == 0) return false;
  SharedObject* object = OwnObject();
  const size_t at = object->Find(name);
  if (at == SharedObject::kNone) return false;
  object->Remove(at);
  return true;
}

Value* Value::MutableField(std::string_view name) {
  SharedObject* object = OwnObject();
  const size_t at = object->Find(name);
  return at == SharedObject::kNone ? nullptr : &object->fields[at].value;
}

void Value::Append(Value value) { OwnArray()->items.push_back(std::move(value)); }

void Value::Insert(size_t index, Value value) {
  CHECK(index <= size());
  auto& items = OwnArray()->items;
  items.insert(items.begin() + static_cast<ptrdiff_t>(index), std::move(value));
}

void Value::RemoveAt(size_t index) {
  CHECK(index < size());
  auto& items = OwnArray()->items;
  items.erase(items.begin() + static_cast<ptrdiff_t>(index));
}

Value* Value::MutableItem(size_t index) {
  CHECK(index < size());
  return &OwnArray()->items[index];
}

bool Value::operator==(const Value& other) const { return Equal(*this, other); }

uint64_t Value::Hash() const { return HashValue(*this); }

std::vector<const Field*> SortedFields(const Value& object) {
  std::vector<const Field*> sorted;
  sorted.reserve(object.size());
  for (const Field& field : object.fields()) sorted.push_back(&field);
  std::sort(sorted.begin(), sorted.end(),
            [](const Field* a, const Field* b) { return a->name() < b->name(); });
  return sorted;
}

}  // namespace sluice::json
