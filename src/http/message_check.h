// Checks the parts of RFC 9112 about which http_parser is too lenient: a line must not end with an
// LF alone, and a CRLF must follow each chunk. A proxy in front of the server may read such bytes
// in another way, and then sees other requests than the server. Knows no sockets; belongs to one
// connection.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::http {

class MessageCheck {
 public:
  // The next message begins.
  void Reset() { *this = {}; }

  // message[from, to) are its next bytes. Returns the offset up to which they may be parsed before
  // the next call; `from` if the next byte is wrong. Anything may follow a body's end.
  size_t Good(const char* message, size_t from, size_t to);

 private:
  enum class State : uint8_t {
    kHead,
    kSize,       // digits of a chunk's size
    kExtension,  // the bytes after the digits, up to CR
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
  bool has_line_ = false;  // the head has a line that is not empty
  bool chunked_ = false;
  uint64_t size_ = 0;  // of the chunk; in kData what is still to come of it
  int digits_ = 0;
};

}  // namespace sluice::http
