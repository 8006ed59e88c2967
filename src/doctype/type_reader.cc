// Order: each key is read by itself first, then combinations of keys are checked.
#include "doctype/type_reader.h"

#include <algorithm>

#include "doctype/migration_reader.h"
#include "doctype/node_reader.h"
#include "doctype/tree.h"
#include "json/parse.h"

namespace sluice::doctype {
namespace {

constexpr size_t kMaxNameBytes = 100;
constexpr uint64_t kMinAccessedPrecisionMs = 1000;

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '-' || c == '%' || c == '.';
  });
}

bool IsPropertyName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes &&
         text.find_first_of(".[]`\"\\") == std::string_view::npos;
}

class TypeReader {
 public:
  TypeReader(const std::string& file, const FileReader& files, Problems* problems)
      : files_(files), problems_(problems), reader_(file, problems) {}

  std::optional<Type> Read(const yaml::Node& root) {
    root_ = &root;
    const size_t before = problems_->errors.size();
    reader_.ForEach(
        root, "",
        {"type", "keyspace", "match", "properties", "schema", "unversioned", "schemas", "validate",
         "migrations", "migrate", "revisions", "limits"},
        [this](const yaml::Entry& entry, const std::string& where) { ReadKey(entry, where); });
    if (root.is_map()) CheckTogether();
    if (problems_->errors.size() > before) return std::nullopt;
    return std::move(type_);
  }

 private:
  void ReadKey(const yaml::Entry& entry, const std::string& where) {
    const yaml::Node& node = entry.value;
    if (entry.key == "type") {
      ReadName(node, where);
    } else if (entry.key == "keyspace") {
      ReadKeyspace(node, where);
    } else if (entry.key == "match") {
      ReadMatch(node, where);
    } else if (entry.key == "properties") {
      ReadProperties(node, where);
    } else if (entry.key == "schema") {
      type_.schema = reader_.Version(node, where).value_or("");
    } else if (entry.key == "unversioned") {
      type_.unversioned = reader_.Version(node, where).value_or("");
      type_.unversioned_place = reader_.PlaceOf(node);
    } else if (entry.key == "schemas") {
      ReadSchemas(node, where);
    } else if (entry.key == "validate") {
      const auto choice = reader_.Choice(node, where, {"off", "warn", "enforce", "quarantine"});
      if (choice) type_.validate = static_cast<Validation>(*choice);
    } else if (entry.key == "migrations") {
      type_.migrations = ReadMigrations(node, where, files_, &reader_);
    } else if (entry.key == "migrate") {
      ReadMigrate(node, where);
    } else if (entry.key == "revisions") {
      ReadRevisions(node, where);
    } else {
      ReadLimits(node, where);
    }
  }

  void ReadName(const yaml::Node& node, const std::string& where) {
    const auto text = reader_.Text(node, where);
    if (!text) return;
    type_.name = *text;
    if (!IsName(*text)) {
      reader_.Problem(node, where,
                      fmt::format("expected 1 to {} letters, digits or . _ - %, found '{}'",
                                  kMaxNameBytes, *text));
    }
  }

  void ReadKeyspace(const yaml::Node& node, const std::string& where) {
    const auto text = reader_.Text(node, where);
    if (!text) return;
    std::vector<std::string> parts = {""};
    for (const char c : *text) {
      if (c == '.') {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    if ((parts.size() != 1 && parts.size() != 3) || !std::ranges::all_of(parts, IsName)) {
      return reader_.Problem(
          node, where,
          fmt::format("expected bucket or bucket.scope.collection, found '{}'", *text));
    }
    type_.keyspace = parts.size() == 3 ? *text : *text + "._default._default";
  }

  void ReadMatch(const yaml::Node& node, const std::string& where) {
    match_ = &node;
    reader_.ForEach(node, where, {"key", "property"},
                    [this](const yaml::Entry& entry, const std::string& path) {
                      const auto text = reader_.Text(entry.value, path);
                      if (!text) return;
                      if (entry.key == "property") {
                        match_property_ = *text;
                        match_property_node_ = &entry.value;
                        return;
                      }
                      auto pattern = KeyPattern::Parse(*text);
                      if (!pattern) return reader_.Problem(entry.value, path, pattern.error());
                      type_.key = std::move(*pattern);
                    });
  }

  void ReadProperties(const yaml::Node& node, const std::string& where) {
    reader_.ForEach(node, where,
                    {"type", "schema", "version", "created", "modified", "createdBy", "modifiedBy",
                     "accessed", "geo", "precision", "object", "writable"},
                    [this](const yaml::Entry& entry, const std::string& path) {
                      const yaml::Node& value = entry.value;
                      if (entry.key == "precision") {
                        const auto choice = reader_.Choice(value, path, {"ms", "s"});
                        if (choice) type_.properties.seconds = *choice == 1;
                      } else if (entry.key == "object") {
                        if (const auto text = PropertyName(value, path))
                          type_.properties.object = *text;
                      } else if (entry.key == "writable") {
                        ReadWritable(value, path);
                      } else if (entry.key == "accessed" && value.is_map()) {
                        ReadAccessed(value, path);
                      } else {
                        SetName(*StampOf(entry.key), value, path);
                      }
                    });
  }

  std::optional<std::string> PropertyName(const yaml::Node& node, const std::string& where) {
    const auto text = reader_.Text(node, where);
    if (!text) return std::nullopt;
    if (IsPropertyName(*text)) return text;
    reader_.Problem(node, where,
                    fmt::format("expected a property's name of at most {} bytes without any of "
                                ". [ ] ` \" and the backslash, found '{}'",
                                kMaxNameBytes, *text));
    return std::nullopt;
  }

  void SetName(Stamp stamp, const yaml::Node& node, const std::string& where) {
    const auto text = PropertyName(node, where);
    if (!text) return;
    std::string(&names)[kStamps] = type_.properties.names;
    if (std::find(std::begin(names), std::end(names), *text) != std::end(names)) {
      return reader_.Problem(node, where, fmt::format("'{}' is the name of another one", *text));
    }
    names[static_cast<size_t>(stamp)] = *text;
  }

  void ReadAccessed(const yaml::Node& node, const std::string& where) {
    reader_.ForEach(node, where, {"name", "precision"},
                    [this](const yaml::Entry& entry, const std::string& path) {
                      if (entry.key == "name") return SetName(Stamp::kAccessed, entry.value, path);
                      const auto duration = reader_.DurationMs(entry.value, path);
                      if (!duration) return;
                      if (*duration < kMinAccessedPrecisionMs) {
                        return reader_.Problem(
                            entry.value, path,
                            fmt::format("expected 1s or more, found '{}': a read must not become "
                                        "a write each time",
                                        entry.value.text));
                      }
                      type_.properties.accessed_precision_ms = *duration;
                    });
    if (node.Find("name") == nullptr) reader_.Problem(node, where, "expected a name");
  }

  void ReadWritable(const yaml::Node& node, const std::string& where) {
    if (!node.is_list()) {
      return reader_.Problem(node, where,
                             fmt::format("expected a list, found {}", yaml::KindName(node.kind)));
    }
    for (const yaml::Node& item : node.items) {
      const auto choice = reader_.Choice(
          item, where, {"created", "modified", "createdBy", "modifiedBy", "accessed"});
      constexpr Stamp kWritable[] = {Stamp::kCreated, Stamp::kModified, Stamp::kCreatedBy,
                                     Stamp::kModifiedBy, Stamp::kAccessed};
      if (choice) type_.properties.writable[static_cast<size_t>(kWritable[*choice])] = true;
    }
  }

  void ReadSchemas(const yaml::Node& node, const std::string& where) {
    reader_.ForEach(node, where, {}, [this](const yaml::Entry& entry, const std::string& path) {
      SchemaSource source;
      source.version = entry.key;
      source.place = reader_.PlaceOf(entry.value);
      if (entry.value.is_map() || entry.value.text == "true" || entry.value.text == "false") {
        source.schema = ValueOf(entry.value);
      } else if (!ReadSchemaFile(entry.value, path, &source)) {
        return;
      }
      type_.schemas.push_back(std::move(source));
    });
  }

  bool ReadSchemaFile(const yaml::Node& node, const std::string& where, SchemaSource* source) {
    const auto file = reader_.Text(node, where);
    if (!file) return false;
    const auto text = files_(*file);
    if (!text) {
      reader_.Problem(node, where, text.error());
      return false;
    }
    auto schema = json::Parse(*text);
    if (!schema) {
      const Place& at = schema.error().place();
      problems_->AddError(schema.error().At({*file, at.line, at.column}));
      return false;
    }
    if (!schema->is_object() && !schema->is_bool()) {
      reader_.Problem(node, where, fmt::format("'{}' is not a schema: expected an object", *file));
      return false;
    }
    source->file = *file;
    source->text = *text;
    source->schema = std::move(*schema);
    source->place = {*file, 0, 0};
    return true;
  }

  void ReadMigrate(const yaml::Node& node, const std::string& where) {
    reader_.ForEach(
        node, where, {"read", "write"}, [this](const yaml::Entry& entry, const std::string& path) {
          if (entry.key == "read") {
            const auto choice = reader_.Choice(entry.value, path, {"off", "transient", "persist"});
            if (choice) type_.on_read = static_cast<ReadMigration>(*choice);
          } else {
            const auto choice = reader_.Choice(entry.value, path, {"off", "upgrade"});
            if (choice) type_.on_write = static_cast<WriteMigration>(*choice);
          }
        });
  }

  void ReadRevisions(const yaml::Node& node, const std::string& where) {
    revisions_ = &node;
    type_.revisions.emplace();
    reader_.ForEach(node, where, {"keep", "max_age", "key", "on_delete"},
                    [this](const yaml::Entry& entry, const std::string& path) {
                      Revisions& revisions = *type_.revisions;
                      if (entry.key == "keep") {
                        revisions.keep = reader_.Number(entry.value, path, 1).value_or(0);
                      } else if (entry.key == "max_age") {
                        revisions.max_age_ms = reader_.DurationMs(entry.value, path).value_or(0);
                      } else if (entry.key == "on_delete") {
                        const auto choice = reader_.Choice(entry.value, path, {"keep", "purge"});
                        if (choice) revisions.on_delete = static_cast<Revisions::OnDelete>(*choice);
                      } else if (const auto text = reader_.Text(entry.value, path)) {
                        auto key = RevisionKey::Parse(*text);
                        if (!key) return reader_.Problem(entry.value, path, key.error());
                        revisions.key = std::move(*key);
                      }
                    });
  }

  void ReadLimits(const yaml::Node& node, const std::string& where) {
    reader_.ForEach(node, where, {"bytes", "array", "depth"},
                    [this](const yaml::Entry& entry, const std::string& path) {
                      Limits& limits = type_.limits;
                      if (entry.key == "bytes") {
                        limits.bytes = reader_.SizeBytes(entry.value, path).value_or(0);
                      } else if (entry.key == "depth") {
                        limits.depth = reader_.Number(entry.value, path, 1).value_or(0);
                      } else {
                        ReadArrayLimits(entry.value, path);
                      }
                    });
  }

  void ReadArrayLimits(const yaml::Node& node, const std::string& where) {
    reader_.ForEach(node, where, {}, [this](const yaml::Entry& entry, const std::string& path) {
      const auto parsed = json::Path::Parse(entry.key);
      if (!parsed || parsed->empty()) {
        return reader_.Problem(
            entry.value, path,
            parsed ? Error(Code::kInvalidArgument, "type.invalid", "expected the path of an array")
                   : parsed.error());
      }
      const auto most = reader_.Number(entry.value, path, 0);
      if (most) type_.limits.arrays.push_back({*parsed, *most});
    });
  }

  void Needed(bool there, std::string_view key) {
    if (!there && root_->Find(key) == nullptr) {
      reader_.Problem(*root_, std::string(key), std::string("is missing"));
    }
  }

  bool AnyNames() const {
    return !type_.properties.object.empty() ||
           std::ranges::any_of(type_.properties.names,
                               [](const std::string& name) { return !name.empty(); });
  }

  // "_type", "meta.type": checks the property that match.property names.
  void CheckMatchProperty() {
    if (match_property_.empty()) return;
    Properties& properties = type_.properties;
    type_.by_property = true;
    if (!properties.uses(Stamp::kType)) {
      const size_t dot = match_property_.find('.');
      const bool nested = dot != std::string::npos;
      const std::string object = nested ? match_property_.substr(0, dot) : "";
      const std::string name = nested ? match_property_.substr(dot + 1) : match_property_;
      const auto wrong = [&](const std::string& message) {
        reader_.Problem(*match_property_node_, "match.property", message);
      };
      if (!IsPropertyName(name) || (nested && !IsPropertyName(object))) {
        return wrong(fmt::format(
            "expected a property of the root or of an object in it, found '{}'", match_property_));
      }
      if (properties.object != object && AnyNames()) {
        return wrong("is not in the object that holds the other properties");
      }
      if (std::ranges::find(properties.names, name) != std::end(properties.names)) {
        return wrong(fmt::format("'{}' is the name of another one", name));
      }
      properties.object = object;
      properties.names[0] = name;
    } else if (properties.PathOf(Stamp::kType) != match_property_) {
      reader_.Problem(*match_property_node_, "match.property",
                      fmt::format("is '{}', but properties.type is '{}'", match_property_,
                                  properties.PathOf(Stamp::kType)));
    }
  }

  void CheckTogether() {
    Needed(!type_.name.empty(), "type");
    Needed(!type_.keyspace.empty(), "keyspace");
    Needed(false, "match");
    if (match_ != nullptr && match_->is_map() && match_->entries.empty()) {
      reader_.Problem(*match_, "match", std::string("expected key, property or both"));
    }
    CheckMatchProperty();
    if (type_.revisions && !type_.properties.uses(Stamp::kVersion)) {
      reader_.Problem(*revisions_, "revisions", std::string("need properties.version"));
    }
    const bool versioned = type_.properties.uses(Stamp::kSchema) && !type_.schema.empty();
    if (type_.properties.uses(Stamp::kSchema) && type_.schema.empty()) {
      Needed(false, "schema");
    }
    for (const std::string_view key : {"unversioned", "schemas", "migrations"}) {
      const yaml::Node* node = root_->Find(key);
      if (node != nullptr && !versioned) {
        reader_.Problem(*node, std::string(key),
                        std::string("need properties.schema and the current schema"));
      }
    }
    if (type_.validate != Validation::kOff && type_.schemas.empty()) {
      reader_.Problem(*root_->Find("validate"), "validate",
                      std::string("there are no schemas to validate with"));
    }
  }

  const FileReader& files_;
  Problems* const problems_;
  NodeReader reader_;
  const yaml::Node* root_ = nullptr;
  const yaml::Node* match_ = nullptr;
  const yaml::Node* revisions_ = nullptr;
  const yaml::Node* match_property_node_ = nullptr;
  std::string match_property_;
  Type type_;
};

}  // namespace

std::optional<Type> ReadType(std::string_view text, const std::string& file,
                             const FileReader& files, Problems* problems) {
  const auto root = yaml::Parse(text, file);
  if (!root) {
    problems->AddError(root.error());
    return std::nullopt;
  }
  return TypeReader(file, files, problems).Read(*root);
}

std::optional<Type> ReadTypeJson(const json::Value& value, const std::string& file,
                                 Problems* problems) {
  const FileReader no_files = [](const std::string& path) -> Result<std::string> {
    return Fail(Code::kInvalidArgument, "type.unreadable_file",
                "'{}' is a file: expected its content", path);
  };
  return TypeReader(file, no_files, problems).Read(NodeOf(value));
}

}  // namespace sluice::doctype
