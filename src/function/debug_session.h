// A function's debugger as its client sees it. One client may connect and speak the DevTools
// protocol. V8 answers most messages; this class answers requests for the handler's text with the
// text that the author wrote.
//
// Any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/locked.h"
#include "function/definition.h"
#include "function/source/transpile.h"
#include "js/inspector.h"
#include "js/program.h"

namespace sluice::function {

// A handler's code for a debugged runtime. The lines before the handler's first line are a script
// of their own, so that no line has a number below 1, where V8 can't pause.
std::shared_ptr<const js::Program> ProgramForDebugger(const Definition& definition,
                                                      const PreparedSource& source);

class DebugSession : public std::enable_shared_from_this<DebugSession> {
 public:
  explicit DebugSession(const Definition& definition);

  const std::shared_ptr<js::Inspector>& inspector() const { return inspector_; }
  bool over() const { return inspector_->state().closed; }

  // See js::Inspector.
  uint64_t Connect(js::Inspector::Client client);
  bool Receive(uint64_t client, std::string message);
  void Disconnect(uint64_t client) { inspector_->Disconnect(client); }

 private:
  // The answer to a message, in V8's place; empty if V8 has to answer it.
  std::string AnswerTo(std::string_view message) const;
  void NoteScript(std::string_view message);

  const std::string url_;   // of the handler's script
  const std::string text_;  // of the handler and its footers, as they were written
  const std::shared_ptr<js::Inspector> inspector_;

  using Send = std::function<void(std::string message)>;
  Locked<std::string> script_;  // the id that V8 gave to the handler's script
  Locked<Send> send_;           // to the client
};

}  // namespace sluice::function
