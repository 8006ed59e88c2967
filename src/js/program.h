// A user's text for runtimes. The first runtime compiles it and keeps the code; later runtimes, on
// any thread, start from that code.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/locked.h"

namespace sluice::js {

struct Source {
  std::string name;  // shown in stacks
  std::string text;
  int first_line = 1;  // the number of the text's first line; below 1 when lines were put before it
  std::string preamble = {};  // a script of its own that runs before it, if there is one
};

class Program {
 public:
  explicit Program(Source source) : source_(std::move(source)) {}

  const Source& source() const { return source_; }
  // V8's compiled code, null at first. It never changes once it is set.
  std::shared_ptr<const std::vector<uint8_t>> code() const { return code_.Copy(); }
  void KeepCode(std::vector<uint8_t> code) const {
    const auto kept = code_.Lock();
    if (*kept == nullptr) *kept = std::make_shared<const std::vector<uint8_t>>(std::move(code));
  }

 private:
  const Source source_;
  mutable Locked<std::shared_ptr<const std::vector<uint8_t>>> code_;
};

}  // namespace sluice::js
