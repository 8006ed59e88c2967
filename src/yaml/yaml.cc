// The only file that includes yaml-cpp, and so the only one that catches its exceptions. The tree
// is built from parser events: depth and size are checked before anything is kept.
#include "yaml/yaml.h"

#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/file.h"
#include "base/utf8.h"
#include "yaml/explain.h"

namespace sluice::yaml {
namespace {

// Thrown through yaml-cpp's parser by the handler, caught in Parse.
struct Refused {
  Status status;
};

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view file, const Limits& limits) : file_(file), limits_(limits) {}

  Node TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(has_document_, true)) {
      Refuse(mark, "expected one document, found a second one ('---')");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Complete(NewNode(mark, Node::Kind::kNull), anchor, mark);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!IsValidUtf8(value)) Refuse(mark, "text must be UTF-8");
    Node node = NewNode(mark, Node::Kind::kScalar);
    node.text = value;
    node.quoted = tag != "?";
    Complete(std::move(node), anchor, mark);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) Refuse(mark, "an alias must not stand inside its own anchor");
    CountNodes(mark, found->second.size);
    if (open_.size() + found->second.depth > limits_.max_depth) RefuseDepth(mark);
    Complete(found->second.node, YAML::NullAnchor, mark);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, Node::Kind::kList, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, Node::Kind::kMap, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct OpenNode {
    Node node;
    YAML::anchor_t anchor;
    std::optional<Entry> key;  // a map's entry whose value comes next
  };
  struct Anchored {
    Node node;
    size_t size;   // nodes in it
    size_t depth;  // levels of lists and maps in it
  };

  [[noreturn]] void Refuse(const YAML::Mark& mark, const std::string& message) const {
    throw Refused{Error(Code::kInvalidArgument, "yaml.invalid", "{}", message)
                      .At({file_, Line(mark), Column(mark)})};
  }
  [[noreturn]] void RefuseDepth(const YAML::Mark& mark) const {
    Refuse(mark, fmt::format("lists and maps are nested more than {} deep", limits_.max_depth));
  }

  static uint32_t Line(const YAML::Mark& mark) { return static_cast<uint32_t>(mark.line + 1); }
  static uint32_t Column(const YAML::Mark& mark) { return static_cast<uint32_t>(mark.column + 1); }

  void CountNodes(const YAML::Mark& mark, size_t count) {
    nodes_ += count;
    if (nodes_ > limits_.max_nodes) {
      Refuse(mark, fmt::format("more than {} values", limits_.max_nodes));
    }
  }

  Node NewNode(const YAML::Mark& mark, Node::Kind kind) {
    CountNodes(mark, 1);
    Node node;
    node.kind = kind;
    node.line = Line(mark);
    node.column = Column(mark);
    return node;
  }

  void Open(const YAML::Mark& mark, Node::Kind kind, YAML::anchor_t anchor) {
    if (open_.size() >= limits_.max_depth) RefuseDepth(mark);
    if (!open_.empty() && open_.back().node.is_map() && !open_.back().key) {
      Refuse(mark, "a key must be a plain value, not a list or a map");
    }
    open_.push_back({NewNode(mark, kind), anchor, std::nullopt});
  }

  void Close() {
    OpenNode done = std::move(open_.back());
    open_.pop_back();
    Complete(std::move(done.node), done.anchor, YAML::Mark::null_mark());
  }

  static size_t CountOf(const Node& node) {
    size_t count = 1;
    for (const Node& item : node.items) count += CountOf(item);
    for (const Entry& entry : node.entries) count += CountOf(entry.value);
    return count;
  }
  static size_t DepthOf(const Node& node) {
    size_t below = 0;
    for (const Node& item : node.items) below = std::max(below, DepthOf(item));
    for (const Entry& entry : node.entries) below = std::max(below, DepthOf(entry.value));
    return below + (node.is_list() || node.is_map() ? 1 : 0);
  }

  // Puts a finished node where it belongs: into the list, as the map's next key or value, or at the
  // root.
  void Complete(Node node, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (anchor != YAML::NullAnchor) {
      anchors_[anchor] = Anchored{node, CountOf(node), DepthOf(node)};
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    OpenNode& parent = open_.back();
    if (parent.node.is_list()) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.key) {
      parent.key->value = std::move(node);
      parent.node.entries.push_back(*std::exchange(parent.key, std::nullopt));
    } else {
      SetKey(&parent, std::move(node), mark);
    }
  }

  void SetKey(OpenNode* map, Node node, const YAML::Mark& mark) {
    if (!node.is_scalar()) Refuse(mark, "a key must be a plain value");
    if (const Node* earlier = map->node.Find(node.text)) {
      Refuse(mark, fmt::format("key '{}' stands twice in this map (first near line {})", node.text,
                               earlier->line));
    }
    map->key = Entry{std::move(node.text), node.line, node.column, {}};
  }

  const std::string file_;
  const Limits& limits_;
  Node root_;
  std::vector<OpenNode> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  size_t nodes_ = 0;
  bool has_document_ = false;
};

}  // namespace

const Node* Node::Find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string_view KindName(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::kNull:
      return "nothing";
    case Node::Kind::kScalar:
      return "a value";
    case Node::Kind::kList:
      return "a list";
    case Node::Kind::kMap:
      return "a map";
  }
  return "";
}

Result<Node> Parse(std::string_view text, std::string_view file, const Limits& limits) {
  if (text.size() > limits.max_bytes) {
    return Unexpected(Error(Code::kTooLarge, "yaml.too_large",
                            "expected at most {} bytes of YAML, found {}", limits.max_bytes,
                            text.size())
                          .At({std::string(file), 0, 0}));
  }
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder(file, limits);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.TakeRoot();
  } catch (const Refused& refused) {
    return Unexpected(refused.status);
  } catch (const YAML::Exception& exception) {
    const bool known = !exception.mark.is_null();
    return Unexpected(
        Explain(text, exception.msg,
                {std::string(file), known ? static_cast<uint32_t>(exception.mark.line + 1) : 0,
                 known ? static_cast<uint32_t>(exception.mark.column + 1) : 0}));
  }
}

Result<Node> ParseFile(const std::string& path, const Limits& limits) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, limits.max_bytes));
  return Parse(text, path, limits);
}

}  // namespace sluice::yaml
