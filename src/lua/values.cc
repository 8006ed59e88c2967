#include "lua/values.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "lua/state.h"

namespace sluice::lua {
namespace {

constexpr int kStackPerLevel = 6;
constexpr uint64_t kMaxConvertedBytes = 64 << 20;
constexpr uint64_t kBytesPerItem = 32;

// The keys of the columns in the metatable of a row, and of the metatable of the last row.
const char kColumnsKey = 0;
const char kLastRowKey = 0;

enum class Leaves : uint8_t { kPlain, kAnnotated };

Value Annotated(std::string_view type, Value value) {
  return Value::Object({{"type", Value(type)}, {"value", std::move(value)}});
}

class Reader {
 public:
  explicit Reader(lua_State* lua, Leaves leaves = Leaves::kPlain) : lua_(lua), leaves_(leaves) {}

  Result<Value> Read(int index, int depth) {
    const int type = lua_type(lua_, index);
    if (leaves_ == Leaves::kPlain || type == LUA_TTABLE) return ReadPlain(index, depth);
    if (const Typed* typed = TestTyped(lua_, index)) {
      const auto data_type = typed->value.is_null() ? typed->null_type : DataTypeOf(typed->value);
      const std::string_view name = data_type ? NameOf(*data_type) : "null";
      if (typed->value.is_null()) return Value::Object({{"type", Value(name)}});
      Value leaf = Annotated(name, typed->value);
      leaf.Set("text", Value(typed->Text()));
      return leaf;
    }
    ASSIGN_OR_RETURN(Value value, ReadPlain(index, depth));
    const bool whole = lua_isinteger(lua_, index) != 0;
    return Annotated(whole ? "int" : luaL_typename(lua_, index), std::move(value));
  }

 private:
  Result<Value> ReadPlain(int index, int depth) {
    switch (lua_type(lua_, index)) {
      case LUA_TNONE:
      case LUA_TNIL:
        return Value();
      case LUA_TBOOLEAN:
        return Value(lua_toboolean(lua_, index) != 0);
      case LUA_TNUMBER:
        if (lua_isinteger(lua_, index)) return Value(int64_t{lua_tointeger(lua_, index)});
        return Value(double{lua_tonumber(lua_, index)});
      case LUA_TSTRING:
        return String(index);
      case LUA_TTABLE:
        return Table(lua_absindex(lua_, index), depth + 1);
      case LUA_TUSERDATA:
        if (const Typed* typed = TestTyped(lua_, index)) return typed->value;
        break;
      default:
        break;
    }
    return Fail(Code::kInvalidArgument, "lua.argument", "a {} is not a value of the database",
                luaL_typename(lua_, index));
  }

  Result<Value> String(int index) {
    size_t length = 0;
    const char* const text = lua_tolstring(lua_, index, &length);
    RETURN_IF_ERROR(Count(length));
    const std::string_view view(text, length);
    return IsValidUtf8(view) ? Value(view) : Value::Bytes(view);
  }

  Status Count(uint64_t bytes) {
    bytes_ += bytes + kBytesPerItem;
    if (bytes_ > kMaxConvertedBytes) {
      return Error(Code::kTooLarge, "lua.argument", "the table is too large: the most is {} bytes",
                   kMaxConvertedBytes);
    }
    State::Of(lua_).Charge(lua_, 1);
    return OkStatus();
  }

  Result<Value> Table(int index, int depth) {
    if (depth > json::kMaxDepth) {
      return Fail(Code::kInvalidArgument, "lua.argument",
                  "the table is nested more than {} levels deep, or holds itself", json::kMaxDepth);
    }
    luaL_checkstack(lua_, kStackPerLevel, "table");
    if (PushColumns(index)) return Row(index, depth);
    const auto length = static_cast<lua_Integer>(lua_rawlen(lua_, index));
    if (length > 0 && IsSequence(index, length)) return Array(index, length, depth);
    Value object = Value::EmptyObject();
    lua_pushnil(lua_);
    while (lua_next(lua_, index) != 0) {
      const Status added = Field(&object, depth);
      lua_pop(lua_, 1);
      if (!added.ok()) {
        lua_pop(lua_, 1);
        return Unexpected(added);
      }
    }
    return Sorted(object);
  }

  // Leaves the columns of a row on the stack; nothing of another table.
  bool PushColumns(int index) {
    if (lua_getmetatable(lua_, index) == 0) return false;
    const bool is_row = lua_rawgetp(lua_, -1, &kColumnsKey) == LUA_TTABLE;
    if (is_row) {
      lua_remove(lua_, -2);
    } else {
      lua_pop(lua_, 2);
    }
    return is_row;
  }

  // Fields that were added to a row come after its columns, which are on the stack.
  Result<Value> Row(int index, int depth) {
    Value object = Value::EmptyObject();
    const auto count = static_cast<lua_Integer>(lua_rawlen(lua_, -1));
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(lua_, -1, i);
      lua_pushvalue(lua_, -1);
      lua_rawget(lua_, index);
      const Status added = lua_isnil(lua_, -1) ? OkStatus() : Field(&object, depth);
      lua_pop(lua_, 2);
      if (!added.ok()) {
        lua_pop(lua_, 1);
        return Unexpected(added);
      }
    }
    lua_pop(lua_, 1);
    Value others = Value::EmptyObject();
    lua_pushnil(lua_);
    while (lua_next(lua_, index) != 0) {
      const bool known = lua_type(lua_, -2) == LUA_TSTRING &&
                         !object[std::string_view(lua_tostring(lua_, -2))].is_missing();
      const Status added = known ? OkStatus() : Field(&others, depth);
      lua_pop(lua_, 1);
      if (!added.ok()) {
        lua_pop(lua_, 1);
        return Unexpected(added);
      }
    }
    for (const json::Field* field : json::SortedFields(others)) {
      object.Set(field->name(), field->value);
    }
    return object;
  }

  // A table of Lua has an order that differs from run to run.
  static Value Sorted(const Value& object) {
    std::vector<json::Field> fields;
    for (const json::Field* field : json::SortedFields(object)) fields.push_back(*field);
    return Value::ObjectOf(fields);
  }

  bool IsSequence(int index, lua_Integer length) {
    lua_Integer count = 0;
    lua_pushnil(lua_);
    while (lua_next(lua_, index) != 0) {
      lua_pop(lua_, 1);
      if (++count > length) {
        lua_pop(lua_, 1);
        return false;
      }
    }
    State::Of(lua_).Charge(lua_, static_cast<uint64_t>(count));
    return count == length;
  }

  Result<Value> Array(int index, lua_Integer length, int depth) {
    std::vector<Value> items;
    for (lua_Integer i = 1; i <= length; ++i) {
      lua_rawgeti(lua_, index, i);
      auto item = Read(-1, depth);
      lua_pop(lua_, 1);
      if (!item) return item;
      RETURN_IF_ERROR(Count(0));
      items.push_back(std::move(*item));
    }
    return Value::Array(std::move(items));
  }

  // Key and value are on the stack, and stay there.
  Status Field(Value* object, int depth) {
    ASSIGN_OR_RETURN(Value value, Read(-1, depth));
    std::string name;
    if (lua_type(lua_, -2) == LUA_TSTRING) {
      size_t length = 0;
      const char* const text = lua_tolstring(lua_, -2, &length);
      name.assign(text, length);
    } else if (lua_isinteger(lua_, -2)) {
      name = std::to_string(lua_tointeger(lua_, -2));
    } else {
      return Error(Code::kInvalidArgument, "lua.argument", "a {} can't be the name of a field",
                   luaL_typename(lua_, -2));
    }
    if (!IsValidUtf8(name)) {
      return Error(Code::kInvalidArgument, "lua.argument", "the name of a field is not UTF-8");
    }
    RETURN_IF_ERROR(Count(name.size()));
    object->Set(name, std::move(value));
    return OkStatus();
  }

  lua_State* const lua_;
  const Leaves leaves_;
  uint64_t bytes_ = 0;
};

// row[1]: upvalue 1 has the columns. Any other missing name is nil.
int ColumnAt(lua_State* lua) {
  int is_whole = 0;
  const lua_Integer at = lua_tointegerx(lua, 2, &is_whole);
  if (is_whole == 0 || lua_type(lua, 2) != LUA_TNUMBER) return 0;
  if (lua_rawgeti(lua, lua_upvalueindex(1), at) == LUA_TNIL) return 1;
  lua_rawget(lua, 1);
  return 1;
}

// Leaves the metatable of rows with these columns on the stack. Rows of one result share it.
void PushRowMetatable(lua_State* lua, const Value& row) {
  State& state = State::Of(lua);
  std::vector<std::string>& last = state.last_columns;
  const auto fields = row.fields();
  const bool same =
      std::ranges::equal(fields, last, {}, [](const json::Field& field) { return field.name(); });
  if (same && lua_rawgetp(lua, LUA_REGISTRYINDEX, &kLastRowKey) == LUA_TTABLE) return;
  lua_createtable(lua, 0, 3);
  lua_createtable(lua, static_cast<int>(row.size()), 0);
  last.clear();
  for (const json::Field& field : fields) {
    last.emplace_back(field.name());
    lua_pushlstring(lua, field.name().data(), field.name().size());
    lua_rawseti(lua, -2, static_cast<lua_Integer>(last.size()));
  }
  lua_pushvalue(lua, -1);
  lua_rawsetp(lua, -3, &kColumnsKey);
  lua_pushcclosure(lua, ColumnAt, 1);
  lua_setfield(lua, -2, "__index");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pushvalue(lua, -1);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &kLastRowKey);
}

void PushTable(lua_State* lua, const Value& value) {
  luaL_checkstack(lua, kStackPerLevel, "value");
  const auto size = static_cast<int>(value.size());
  if (value.is_array()) {
    lua_createtable(lua, size, 0);
    lua_Integer at = 0;
    for (const Value& item : value.items()) {
      PushValue(lua, item);
      lua_rawseti(lua, -2, ++at);
    }
    return;
  }
  lua_createtable(lua, 0, size);
  for (const json::Field& field : value.fields()) {
    lua_pushlstring(lua, field.name().data(), field.name().size());
    PushValue(lua, field.value);
    lua_rawset(lua, -3);
  }
}

}  // namespace

void PushValue(lua_State* lua, const Value& value) {
  switch (value.type()) {
    case json::Type::kMissing:
      return lua_pushnil(lua);
    case json::Type::kNull:
      return PushNull(lua, std::nullopt);
    case json::Type::kBool:
      return lua_pushboolean(lua, value.AsBool() ? 1 : 0);
    case json::Type::kInt:
      return lua_pushinteger(lua, value.AsInt());
    case json::Type::kDouble:
      return lua_pushnumber(lua, value.AsDouble());
    case json::Type::kString:
      lua_pushlstring(lua, value.AsString().data(), value.AsString().size());
      return;
    case json::Type::kArray:
    case json::Type::kObject:
      return PushTable(lua, value);
    default:
      return PushTyped(lua, value);
  }
}

void PushRow(lua_State* lua, const Value& row) {
  if (!row.is_object()) return PushValue(lua, row);
  PushTable(lua, row);
  PushRowMetatable(lua, row);
  lua_setmetatable(lua, -2);
}

Result<Value> ToValue(lua_State* lua, int index) { return Reader(lua).Read(index, 0); }
Result<Value> ToAnnotated(lua_State* lua, int index) {
  return Reader(lua, Leaves::kAnnotated).Read(index, 0);
}

void RaiseText(lua_State* lua, std::string_view message) {
  luaL_where(lua, 1);
  lua_pushlstring(lua, message.data(), message.size());
  lua_concat(lua, 2);
  lua_error(lua);
  std::abort();  // lua_error does not return, though its declaration can't say so
}

}  // namespace sluice::lua
