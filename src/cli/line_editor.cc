#include "cli/line_editor.h"

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <histedit.h>
#include <unistd.h>

namespace sluice::cli {
namespace {

constexpr int kHistoryLines = 2000;
constexpr size_t kMostShown = 100;  // completions that Tab lists

std::string CommonPrefix(const std::vector<std::string>& words) {
  std::string prefix = words[0];
  for (const std::string& word : words) {
    const auto [end, ignored] = std::ranges::mismatch(prefix, word);
    prefix.erase(end, prefix.end());
  }
  return prefix;
}

// Reads one byte; false at the end, on errors and when interrupted.
bool ReadByte(const std::atomic<bool>& interrupted, unsigned char* byte) {
  while (!interrupted) {
    const ssize_t got = ::read(STDIN_FILENO, byte, 1);
    if (got == 1) return true;
    if (got == 0 || errno != EINTR) return false;
  }
  return false;
}

}  // namespace

struct LineEditor::Impl {
  static Impl& Of(EditLine* line) {
    void* self = nullptr;
    el_get(line, EL_CLIENTDATA, &self);
    return *static_cast<Impl*>(self);
  }
  static char* Prompt(EditLine* line) { return Of(line).prompt.data(); }
  static int OnCharacter(EditLine* line, wchar_t* into) { return Of(line).GetCharacter(into); }
  static unsigned char OnTab(EditLine* line, int) { return Of(line).Complete(); }

  int GetCharacter(wchar_t* into);
  unsigned char Complete();
  void Remember(const std::string& text);
  void CreateHistoryFile();

  std::string history_file;
  Completer completer;
  const std::atomic<bool>* interrupted = nullptr;
  std::string prompt;
  EditLine* editor = nullptr;
  History* history = nullptr;
  HistEvent event{};
};

// libedit's own would wait on after a signal. UTF-8, whatever the locale is.
int LineEditor::Impl::GetCharacter(wchar_t* into) {
  unsigned char byte = 0;
  if (!ReadByte(*interrupted, &byte)) return *interrupted ? -1 : 0;
  const int more = byte < 0xC0 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
  auto character = static_cast<wchar_t>(more == 0 ? byte : byte & (0x3F >> more));
  for (int i = 0; i < more; ++i) {
    if (!ReadByte(*interrupted, &byte)) return *interrupted ? -1 : 0;
    character = static_cast<wchar_t>(character << 6 | (byte & 0x3F));
  }
  *into = character;
  return 1;
}

unsigned char LineEditor::Impl::Complete() {
  const LineInfo* const line = el_line(editor);
  const std::string before(line->buffer, line->cursor);
  const std::vector<std::string> words = completer(before);
  if (words.empty()) return CC_REFRESH_BEEP;
  const std::string common = CommonPrefix(words);
  // The words begin with the typed letters: find how many there are.
  size_t typed = std::min(common.size(), before.size());
  while (!before.ends_with(std::string_view(common).substr(0, typed))) --typed;
  const std::string added = common.substr(typed) + (words.size() == 1 ? " " : "");
  if (!added.empty()) {
    el_insertstr(editor, added.c_str());
    return CC_REFRESH;
  }
  std::fputc('\n', stdout);
  for (size_t i = 0; i < std::min(words.size(), kMostShown); ++i) {
    std::fprintf(stdout, "%s  ", words[i].c_str());
  }
  std::fputs(words.size() > kMostShown ? "...\n" : "\n", stdout);
  return CC_REDISPLAY;
}

void LineEditor::Impl::Remember(const std::string& text) {
  if (text.find_first_not_of(' ') == std::string::npos) return;
  ::history(history, &event, H_ENTER, text.c_str());
  if (!history_file.empty()) ::history(history, &event, H_SAVE, history_file.c_str());
}

// Statements may contain secrets, so only the user may read the file.
void LineEditor::Impl::CreateHistoryFile() {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(history_file).parent_path(), ignored);
  const int fd = ::open(history_file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) {
    history_file.clear();  // then the history is this session's
  } else {
    ::close(fd);
  }
}

LineEditor::LineEditor(std::string history_file, Completer completer,
                       const std::atomic<bool>* interrupted)
    : impl_(std::make_unique<Impl>()) {
  impl_->history_file = std::move(history_file);
  impl_->completer = std::move(completer);
  impl_->interrupted = interrupted;
  std::setlocale(LC_CTYPE, "C.UTF-8");
  impl_->editor = el_init("sluice", stdin, stdout, stderr);
  EditLine* const editor = impl_->editor;
  el_set(editor, EL_CLIENTDATA, impl_.get());
  el_set(editor, EL_PROMPT, &Impl::Prompt);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_SIGNAL, 1);
  impl_->history = history_init();
  history(impl_->history, &impl_->event, H_SETSIZE, kHistoryLines);
  history(impl_->history, &impl_->event, H_SETUNIQUE, 1);
  if (!impl_->history_file.empty()) impl_->CreateHistoryFile();
  if (!impl_->history_file.empty()) {
    history(impl_->history, &impl_->event, H_LOAD, impl_->history_file.c_str());
  }
  el_set(editor, EL_HIST, history, impl_->history);
  el_set(editor, EL_ADDFN, "sluice-complete", "Complete the word", &Impl::OnTab);
  el_set(editor, EL_BIND, "^I", "sluice-complete", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(editor, nullptr);  // the user's own ~/.editrc
  el_set(editor, EL_GETCFN, &Impl::OnCharacter);
}

LineEditor::~LineEditor() {
  el_end(impl_->editor);
  history_end(impl_->history);
}

LineEditor::Outcome LineEditor::Read(const std::string& prompt, std::string* line) {
  impl_->prompt = prompt;
  int length = 0;
  const char* const text = el_gets(impl_->editor, &length);
  if (*impl_->interrupted) {
    el_reset(impl_->editor);
    std::fputs("^C\n", stdout);
    return Outcome::kInterrupted;
  }
  if (text == nullptr || length <= 0) return Outcome::kEnd;
  line->assign(text, static_cast<size_t>(length));
  line->erase(line->find_last_not_of("\r\n") + 1);
  impl_->Remember(*line);
  return Outcome::kLine;
}

}  // namespace sluice::cli
