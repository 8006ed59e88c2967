// Value: one JSON value, or one of the further types that tables have. The project's only value
// type: documents, query rows, script arguments and index keys all pass through it.
//
// Sixteen bytes. Numbers, times and strings of up to 15 bytes are inside; longer strings, arrays
// and objects are shared between copies by an atomic count and copied when one of the copies is
// changed, so a copy costs at most one increment. Strings are UTF-8: check bytes of unknown origin
// before you make a Value of them. The maker bounds the nesting (Parse stops at kMaxDepth, and
// other makers must), because comparing, hashing and printing recurse.
//
// Thread: a Value belongs to one thread; copies of it may be in different threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "json/decimal.h"
#include "json/temporal.h"

namespace sluice::json {

// Deepest nesting of arrays and objects in a document.
inline constexpr int kMaxDepth = 128;

// In the order in which the types collate; int, double and decimal are numbers and compare as such.
enum class Type : uint8_t {
  kMissing,
  kNull,
  kBool,
  kInt,
  kDouble,
  kDecimal,
  kDatetime,
  kInterval,
  kString,
  kArray,
  kObject,
  kBytes,
};

// "missing", "null", "boolean", "number", "datetime", "interval", "string", "array", "object",
// "binary": as SQL++ names types.
std::string_view TypeName(Type type);

struct Field;
namespace internal {
struct SharedBlob;
struct SharedDecimal;
struct SharedArray;
struct SharedObject;
}  // namespace internal

class Value {
 public:
  using FieldInit = std::pair<std::string_view, Value>;

  Value() { Clear(Form::kMissing); }
  Value(std::nullptr_t) { Clear(Form::kNull); }
  template <typename T>
  requires std::is_same_v<T, bool> Value(T value) { Clear(value ? Form::kTrue : Form::kFalse); }
  template <typename T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool> &&
           (std::is_signed_v<T> || sizeof(T) < 8)) Value(T value) {
    SetScalar(Form::kInt, static_cast<int64_t>(value));
  }
  Value(double value) { SetScalar(Form::kDouble, value); }
  Value(std::string_view text);
  Value(const char* text) : Value(std::string_view(text)) {}
  Value(const std::string& text) : Value(std::string_view(text)) {}
  Value(Datetime value) { SetScalar(Form::kDatetime, value.us); }
  Value(Interval value);
  Value(const Decimal& value);

  static Value Bytes(std::string_view bytes);
  static Value EmptyArray();
  static Value EmptyObject();
  static Value Array(std::initializer_list<Value> items);
  static Value Array(std::vector<Value> items);
  static Value Object(std::initializer_list<FieldInit> fields);
  // Takes the fields; of those with the same name the last one's value, in the first one's place.
  static Value ObjectOf(std::span<Field> fields);
  // Exact up to INT64_MAX; beyond, a double that prints all its digits.
  static Value Unsigned(uint64_t value);
  // A double that prints as `literal`, which is a JSON number with that value.
  static Value DoubleWithLiteral(double value, std::string_view literal);

  Value(const Value& other) : Value(Raw{}, other) { Retain(); }
  Value(Value&& other) noexcept : Value(Raw{}, other) { other.Clear(Form::kMissing); }
  Value& operator=(const Value& other) {
    Value copy(other);
    Swap(copy);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~Value() {
    if (IsShared()) Release();
  }
  void Swap(Value& other) noexcept {
    Value mine(Raw{}, *this);
    std::memcpy(static_cast<void*>(this), &other, sizeof *this);
    std::memcpy(static_cast<void*>(&other), &mine, sizeof mine);
    mine.tag_ = 0;  // it owned nothing
  }

  Type type() const { return kTypes[static_cast<size_t>(form())]; }
  bool is_missing() const { return form() == Form::kMissing; }
  bool is_null() const { return form() == Form::kNull; }
  bool is_bool() const { return form() == Form::kTrue || form() == Form::kFalse; }
  bool is_int() const { return form() == Form::kInt; }
  bool is_double() const { return type() == Type::kDouble; }
  bool is_decimal() const { return form() == Form::kDecimal; }
  bool is_number() const { return is_int() || is_double() || is_decimal(); }
  bool is_string() const { return form() == Form::kShortString || form() == Form::kLongString; }
  bool is_bytes() const { return form() == Form::kBytes; }
  bool is_datetime() const { return form() == Form::kDatetime; }
  bool is_interval() const { return form() == Form::kInterval; }
  bool is_array() const { return form() == Form::kArray; }
  bool is_object() const { return form() == Form::kObject; }

  // Each requires the type of its name. A view lives as long as this Value stays unchanged and in
  // place: short strings are inside it.
  bool AsBool() const;
  int64_t AsInt() const;
  double AsDouble() const;
  std::string_view AsString() const {
    if (form() != Form::kShortString) return LongString();
    return {reinterpret_cast<const char*>(payload_), inline_size()};
  }
  std::string_view AsBytes() const;
  Datetime AsDatetime() const;
  Interval AsInterval() const;
  const Decimal& AsDecimal() const;
  // Any number, rounded to a double. Requires is_number().
  double ToDouble() const;
  // How a double was written, when that is known; else empty.
  std::string_view literal() const;

  // Arrays and objects: elements or fields in order. Others have none.
  size_t size() const;
  std::span<const Value> items() const;
  std::span<const Field> fields() const;
  // An element or a field; missing if it does not exist, or if this is not an array or object.
  const Value& operator[](size_t index) const;
  const Value& operator[](std::string_view name) const;
  const Value& operator[](const char* name) const { return (*this)[std::string_view(name)]; }
  template <typename T>
  requires std::is_integral_v<T>
  const Value& operator[](T index) const { return (*this)[static_cast<size_t>(index)]; }
  const Value* Find(std::string_view name) const;  // nullptr when there is none

  // Objects (required). Set replaces in place or adds at the end; a missing value removes the
  // field, so an object never holds one.
  void Set(std::string_view name, Value value);
  bool Remove(std::string_view name);
  Value* MutableField(std::string_view name);  // nullptr when there is none
  // Arrays (required). Positions must exist; Insert may name the end.
  void Append(Value value);
  void Insert(size_t index, Value value);
  void RemoveAt(size_t index);
  Value* MutableItem(size_t index);

  // Equality of the total order in compare.h: 1 equals 1.0, fields may be in any order.
  bool operator==(const Value& other) const;
  // Equal values hash alike. Differs between processes: never store it.
  uint64_t Hash() const;

 private:
  // The low four bits of the tag. From kLongDouble on, the payload points to something shared; of
  // an array or object without contents it may be null.
  enum class Form : uint8_t {
    kMissing,
    kNull,
    kFalse,
    kTrue,
    kInt,
    kDouble,
    kShortDouble,  // a double and up to seven bytes of literal
    kDatetime,
    kInterval,
    kShortString,
    kLongDouble,  // a SharedBlob: the double's eight bytes, then its literal
    kLongString,
    kBytes,
    kDecimal,
    kArray,
    kObject,
  };
  static constexpr Type kTypes[16] = {
      Type::kMissing, Type::kNull,     Type::kBool,     Type::kBool,   Type::kInt,    Type::kDouble,
      Type::kDouble,  Type::kDatetime, Type::kInterval, Type::kString, Type::kDouble, Type::kString,
      Type::kBytes,   Type::kDecimal,  Type::kArray,    Type::kObject,
  };
  static constexpr size_t kPayload = 15;
  static constexpr size_t kShortLiteral = kPayload - sizeof(double);
  struct Raw {};

  Value(Raw, const Value& other) noexcept { std::memcpy(this, &other, sizeof *this); }

  Form form() const { return static_cast<Form>(tag_ & 15); }
  size_t inline_size() const { return tag_ >> 4; }
  bool IsShared() const { return form() >= Form::kLongDouble && Scalar<void*>() != nullptr; }
  void Clear(Form form) {
    std::memset(payload_, 0, kPayload);
    tag_ = static_cast<uint8_t>(form);
  }
  template <typename T>
  void SetScalar(Form form, T value) {
    Clear(form);
    std::memcpy(payload_, &value, sizeof value);
  }
  template <typename T>
  T Scalar() const {
    T value;
    std::memcpy(&value, payload_, sizeof value);
    return value;
  }
  void SetInline(Form form, size_t offset, std::string_view text);
  static Value Blob(Form form, std::string_view first, std::string_view second);
  bool SameBits(const Value& other) const { return std::memcmp(this, &other, sizeof *this) == 0; }
  void Retain() const;
  void Release();
  static void ReleaseTree(Value* root);
  std::string_view LongString() const;
  std::string_view BlobText() const;
  internal::SharedArray* OwnArray();
  internal::SharedObject* OwnObject();

  friend struct internal::SharedObject;

  alignas(8) unsigned char payload_[kPayload];
  uint8_t tag_;
};
static_assert(sizeof(Value) == 16);

struct Field {
  Value key;  // a string
  Value value;

  std::string_view name() const { return key.AsString(); }
};

// The fields of an object in the byte order of their names.
std::vector<const Field*> SortedFields(const Value& object);

}  // namespace sluice::json
