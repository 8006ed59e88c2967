#include "cli/wait_note.h"

#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/mutex.h"

namespace sluice::cli {
namespace {

using ::testing::StartsWith;

// A stream whose reader can wait for a line. It has no buffer of its own, so that it sees each
// character that is written.
class LineWaiter : public std::streambuf {
 public:
  void WaitForLine() {
    const MutexLock lock(mutex_);
    written_.Wait(lock, [&]() REQUIRES(mutex_) { return text_.contains('\n'); });
  }
  std::string str() {
    const MutexLock lock(mutex_);
    return text_;
  }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    Append({text, static_cast<size_t>(size)});
    return size;
  }
  int overflow(int c) override {
    const char character = static_cast<char>(c);
    Append({&character, 1});
    return c;
  }

 private:
  void Append(std::string_view text) {
    {
      const MutexLock lock(mutex_);
      text_ += text;
    }
    written_.NotifyAll();
  }

  Mutex mutex_;
  CondVar written_;
  std::string text_ GUARDED_BY(mutex_);
};

TEST(WaitNoteTest, SaysWhatTakesLong) {
  std::ostringstream data;
  LineWaiter written;
  FakeClock clock;
  std::ostream notes(&written);
  Output output(data, notes);
  {
    const WaitNote note(&output, "building the index", clock);
    clock.AdvanceMs(2000);
    written.WaitForLine();
  }
  EXPECT_THAT(written.str(), StartsWith("building the index, 2 s so far"));
}

TEST(WaitNoteTest, SaysNothingOfWhatIsQuick) {
  std::ostringstream data;
  std::ostringstream notes;
  Output output(data, notes);
  const FakeClock clock;
  { const WaitNote note(&output, "building the index", clock); }
  EXPECT_EQ(notes.str(), "");
}

}  // namespace
}  // namespace sluice::cli
