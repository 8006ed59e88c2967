// Dot-bracket paths, compiled: `user.names[2].first`, `list[]` (append), `list[model.n]`,
// `rates.{model.currency}`. Reading never fails, it finds or misses; writing makes the maps and
// lists on its way. Both classes are immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace sluice::flow {

struct ModelRef;

// The models that `model.` names refer to while a mapping runs.
struct ModelView {
  const json::Value* model = nullptr;   // of the flow instance
  const json::Value* shared = nullptr;  // model.parent and model.root: of the whole run
  // In a branch of a fork over a list: that list's name, and the branch's element and number.
  std::string_view list = {};
  const json::Value* item = nullptr;
  json::Value index = {};
};

// Text with `{model.x}` in it: strings and numbers are put in, everything else as "null". Braces
// that name no model variable stay as they are.
class Template {
 public:
  struct Piece {
    std::string text;
    std::shared_ptr<const ModelRef> ref;  // instead of the text, if any
  };

  static Result<Template> Parse(std::string_view text);
  static Template Literal(std::string_view text);

  bool constant() const;
  // Ends soon after kMaxValueBytes, which no value may have.
  std::string Text(const ModelView& view) const;
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;
};

struct Step {
  enum class Kind : uint8_t { kKey, kTextKey, kIndex, kAppend, kModelIndex };

  Kind kind = Kind::kKey;
  bool any_case = false;  // of a key that is read
  std::string key;
  size_t index = 0;
  std::shared_ptr<const Template> text;  // kTextKey
  std::shared_ptr<const ModelRef> ref;   // kModelIndex
};

class Path {
 public:
  static constexpr size_t kMaxSteps = 64;
  static constexpr int64_t kMaxIndex = 999;  // the last position that a mapping may write in a list

  enum class Use : uint8_t { kRead, kWrite };

  // `text` may start with a bracket. Errors: flow.bad_mapping.
  static Result<Path> Parse(std::string_view text, Use use);

  bool empty() const { return steps_.empty(); }
  size_t size() const { return steps_.size(); }
  const std::vector<Step>& steps() const { return steps_; }
  // The key that the path starts with; empty when it starts with an index or a template.
  std::string_view first_key() const;
  // Makes the key at `position` match whatever its case.
  void IgnoreCaseAt(size_t position);

  // The value at the path; missing if the root has none.
  const json::Value& Get(const json::Value& root, const ModelView& view) const;
  // A missing value removes the target; in a list the element becomes null. Errors, as aborts of a
  // flow: flow.bad_index, flow.too_deep, flow.too_large.
  Status Set(json::Value* root, const ModelView& view, json::Value value) const;

 private:
  std::vector<Step> steps_;
};

// A variable of the model: `model.a.b`, or of the run's shared part `model.parent.a`,
// `model.root.a`.
struct ModelRef {
  std::string text;  // as written
  bool shared = false;
  Path path;

  // `model.list.ITEM.name`, `model.list.INDEX`: of the branch of a fork over `model.list`, unless
  // the model has something at that path.
  struct Item {
    enum class Kind : uint8_t { kItem, kIndex };
    std::string list;  // model.list
    Kind kind = Kind::kItem;
    Path rest;

    const json::Value& Get(const ModelView& view) const;
  };
  std::optional<Item> item;

  // Errors: flow.bad_mapping, when it is no model variable.
  static Result<ModelRef> Parse(std::string_view text, Path::Use use = Path::Use::kRead);
  const json::Value& Get(const ModelView& view) const;
};

}  // namespace sluice::flow
