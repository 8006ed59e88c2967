#include "cli/wait_note.h"

#include <sstream>
#include <streambuf>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

using ::testing::StartsWith;

// Lets one wait until a line has been written.
class LineWaiter : public std::stringbuf {
 public:
  void WaitForLine() {
    std::unique_lock lock(mutex_);
    written_.wait(lock, [&] { return str().find('\n') != std::string::npos; });
  }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const std::lock_guard lock(mutex_);
    const std::streamsize done = std::stringbuf::xsputn(text, size);
    written_.notify_all();
    return done;
  }
  int overflow(int c) override {
    const std::lock_guard lock(mutex_);
    const int done = std::stringbuf::overflow(c);
    written_.notify_all();
    return done;
  }

 private:
  std::recursive_mutex mutex_;  // xsputn calls overflow
  std::condition_variable_any written_;
};

TEST(WaitNoteTest, SaysWhatTakesLong) {
  std::ostringstream data;
  LineWaiter written;
  std::ostream notes(&written);
  Output output(data, notes);
  {
    const WaitNote note(&output, "building the index", std::chrono::milliseconds(1),
                        std::chrono::hours(1));
    written.WaitForLine();
  }
  EXPECT_THAT(written.str(), StartsWith("building the index, 0 s so far"));
}

TEST(WaitNoteTest, SaysNothingOfWhatIsQuick) {
  std::ostringstream data;
  std::ostringstream notes;
  Output output(data, notes);
  { const WaitNote note(&output, "building the index", std::chrono::hours(1)); }
  EXPECT_EQ(notes.str(), "");
}

}  // namespace
}  // namespace sluice::cli
