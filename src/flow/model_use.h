// Finds the variables of the model that a flow reads and writes, by their first key, for warnings
// about variables that it never reads or never sets.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/status.h"
#include "flow/expression.h"
#include "flow/path.h"

namespace sluice::flow {

struct ModelUse {
  std::set<std::string> read;
  std::map<std::string, Place> written;  // and where first
  std::map<std::string, Place> read_at;  // where first
  bool reads_any = false;                // by a key that is only known at run time
  bool writes_any = false;

  void Read(const Expression& expression, const Place& place);
  void Read(const ModelRef& ref, const Place& place);
  void Read(const Template& text, const Place& place);
  void Read(const Conversion& conversion, const Place& place);
  // The variables in brackets and braces of a path.
  void ReadIn(const Path& path, const Place& place);
  void Write(const Path& path, const Place& place);

 private:
  void ReadKey(const Path& path, const Place& place);
};

}  // namespace sluice::flow
