#include "cli/secret.h"

#include <istream>

#include <termios.h>
#include <unistd.h>

#include "base/file.h"

namespace sluice::cli {
namespace {

constexpr size_t kMaxSecretBytes = 4096;

// Typed characters are not shown while this lives.
class NoEcho {
 public:
  NoEcho() {
    tcgetattr(STDIN_FILENO, &before_);
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  ~NoEcho() { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_); }
  NoEcho(const NoEcho&) = delete;
  NoEcho& operator=(const NoEcho&) = delete;

 private:
  termios before_;
};

std::string AskUnseen(std::string_view question, Context& context) {
  context.output.notes() << question << std::flush;
  std::string answer;
  {
    const NoEcho silent;
    std::getline(context.in, answer);
  }
  context.output.notes() << '\n';
  return answer;
}

std::string UpToLineEnd(std::string text) {
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  return text;
}

}  // namespace

Result<std::string> ReadSecret(const std::string& file) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(file, kMaxSecretBytes));
  return UpToLineEnd(std::move(text));
}

Result<std::string> ReadNewPassword(const std::string& file, Context& context) {
  if (file == "-") {
    std::string line;
    std::getline(context.in, line);
    return UpToLineEnd(std::move(line));
  }
  if (!file.empty()) {
    return ReadSecret(file);
  }
  if (!isatty(STDIN_FILENO)) {
    return Unexpected(
        UsageError("give the new password with --new-password-file FILE (- for standard input)"));
  }
  std::string password = AskUnseen("New password: ", context);
  if (AskUnseen("Again: ", context) != password) {
    return Unexpected(UsageError("the two passwords are not the same"));
  }
  return password;
}

}  // namespace sluice::cli
