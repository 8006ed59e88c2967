// Walks a YAML file of an app and collects its errors, each with its place.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/status.h"
#include "yaml/yaml.h"

namespace sluice::cli {

class YamlVisitor {
 public:
  using Visitor = std::function<void(const yaml::Entry&)>;

  // Both outlive it.
  YamlVisitor(const std::string& file, std::vector<Status>* problems)
      : file_(file), problems_(problems) {}

  const std::string& file() const { return file_; }
  void AddProblem(uint32_t line, uint32_t column, const std::string& message);
  // Visits a map's entries. When names are given, others are problems; else keys are users' names.
  void ForEach(const yaml::Node& node, const std::string& what,
               std::initializer_list<std::string> known, const Visitor& visit);
  void ReadBool(const yaml::Entry& entry, bool* value);
  // A scalar; a problem and empty when it is none.
  std::string ReadText(const yaml::Entry& entry);

 private:
  const std::string& file_;
  std::vector<Status>* const problems_;
};

}  // namespace sluice::cli
