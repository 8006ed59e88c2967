// Whether a request is written as RFC 9112 has it where http_parser takes more: an LF alone as the
// end of a line, chunks that no CRLF follows. A proxy in front of us that reads such bytes in
// another way sees other requests than we do. Knows no sockets; belongs to one connection.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::http {

class MessageCheck {
 public:
  // The next message begins.
  void Reset() { *this = {}; }

  // message[from, to) are its next bytes: up to where they may be parsed before this is asked
  // again, which is `from` if the next byte is wrong. After a body's end anything may follow.
  size_t Good(const char* message, size_t from, size_t to);

 private:
  enum class State : uint8_t {
    kHead,
    kSize,       // digits of a chunk's size
    kExtension,  // what follows them, up to CR
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerStart,  // of a line after the last chunk; an empty one is the end
    kTrailer,
    kTrailerLf,
    kEndLf,
    kRest,  // not looked at: a body with a length, or what follows the message
  };

  size_t GoodHead(const char* message, size_t to);
  bool Take(char c);
  bool TakeSize(char c);

  State state_ = State::kHead;
  size_t line_ = 0;        // where the head's current line begins
  bool has_line_ = false;  // one that is not empty
  bool chunked_ = false;
  uint64_t size_ = 0;  // of the chunk; in kData what is still to come of it
  int digits_ = 0;
};

}  // namespace sluice::http
