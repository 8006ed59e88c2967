// Compiles a schema to nodes. Each keyword has a line in one table (compile.cc) and a method that
// reads its value; a keyword that is not in the table is reported.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "doctype/schema/nodes.h"
#include "json/value.h"

namespace sluice::doctype {

class Schema::Compiler {
 public:
  Compiler(const json::Value& schema, const std::string& file, std::string_view text,
           Problems* problems)
      : schema_(schema), file_(file), text_(text), problems_(problems) {}

  // Null if there are errors.
  std::unique_ptr<const Nodes> Run();

 private:
  using Id = Nodes::Id;
  using Node = Nodes::Node;
  enum class Draft : uint8_t { k7, k2019, k2020 };
  // A keyword and the method that reads its value into the node of the schema at `at`.
  struct Keyword;
  struct At {
    const json::Value& schema;  // the object that has the keyword
    const std::string& pointer;
    const json::Value& value;  // of the keyword
    std::string place;         // its pointer
    Id id;
  };
  using Reader = void (Compiler::*)(const At&);
  static const std::map<std::string_view, Reader, std::less<>>& Keywords();

  Node& NodeAt(const At& at) { return nodes_->all[at.id]; }
  void ReadDraft();
  // The node of the schema at a pointer, made at the first call. Nested schemas wait in `pending_`,
  // so that no schema, however deep, makes this recurse.
  Id Refer(const json::Value& schema, const std::string& pointer);
  void ReadNode(Id id);
  void CollectAnchors(const json::Value& schema, const std::string& pointer, int depth);
  void CheckLoops();

  void AddProblem(std::string_view id, const std::string& pointer, const std::string& message);
  void AddWarning(std::string_view id, const std::string& pointer, const std::string& message);
  Status Located(std::string_view id, const std::string& pointer, const std::string& message);

  // Values of keywords; false with a problem if they are of another kind.
  bool Expect(const At& at, bool fits, std::string_view expected);
  std::optional<uint64_t> Count(const At& at);
  std::vector<std::string> Names(const At& at, const json::Value& list, const std::string& place);
  std::shared_ptr<const RE2> Pattern(std::string_view text, const std::string& place);
  Id Sub(const At& at);
  std::vector<Id> SubList(const At& at);

  void Annotation(const At&) {}
  void Refused(const At& at);
  void Type(const At& at);
  void Enum(const At& at);
  void Const(const At& at);
  void NumberLimit(const At& at);
  void CountLimit(const At& at);
  void PatternKeyword(const At& at);
  void FormatKeyword(const At& at);
  void Items(const At& at);
  void PrefixItems(const At& at);
  void AdditionalItems(const At& at);
  void UniqueItems(const At& at);
  void Properties(const At& at);
  void PatternProperties(const At& at);
  void Required(const At& at);
  void Dependencies(const At& at);
  void DependentRequired(const At& at);
  void DependentSchemas(const At& at);
  void Schemas(const At& at);  // allOf, anyOf, oneOf
  void OneSchema(const At& at);
  void Ref(const At& at);
  void Definitions(const At& at);

  const json::Value& schema_;
  const std::string& file_;
  const std::string_view text_;
  Problems* const problems_;
  Draft draft_ = Draft::k2020;
  std::string own_id_;
  std::unique_ptr<Nodes> nodes_ = std::make_unique<Nodes>();
  std::map<std::string, Id> by_pointer_;
  std::map<std::string, std::string> anchors_;  // to pointers
  std::vector<std::pair<Id, const json::Value*>> pending_;
};

// "/a~1b/0" with one more step.
std::string PointerBelow(const std::string& pointer, std::string_view step);
// The value at a pointer; null if it does not exist.
const json::Value* ValueAt(const json::Value& root, std::string_view pointer);
// The place of a pointer's value in `text`; an empty place if it is not found.
Place PlaceAt(std::string_view text, const std::string& file, std::string_view pointer);

}  // namespace sluice::doctype
