#include "http/message_check.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "http/request.h"

namespace sluice::http {
namespace {

constexpr int kMostDigits = 16;
constexpr std::string_view kEncoding = "transfer-encoding:";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

size_t MessageCheck::Good(const char* message, size_t from, size_t to) {
  if (state_ == State::kHead) return GoodHead(message, to);
  size_t at = from;
  while (at < to && state_ != State::kRest) {
    if (state_ == State::kData) {
      const uint64_t data = std::min<uint64_t>(size_, to - at);
      at += data;
      size_ -= data;
      if (size_ == 0) state_ = State::kDataCr;
    } else {
      const State before = state_;
      if (!Take(message[at])) {
        state_ = before;  // the next call finds the same wrong byte
        return at;
      }
      ++at;
    }
  }
  return to;
}

// Up to the head's end, or to the first line that ends with LF alone.
size_t MessageCheck::GoodHead(const char* message, size_t to) {
  while (line_ < to) {
    const auto* const end =
        static_cast<const char*>(std::memchr(message + line_, '\n', to - line_));
    if (end == nullptr) return to;
    const auto at = static_cast<size_t>(end - message);
    if (at == line_ || message[at - 1] != '\r') return at;
    const std::string_view line(message + line_, at - 1 - line_);
    line_ = at + 1;
    // The parser refuses all encodings except chunked, once.
    chunked_ = chunked_ || EqualsIgnoreCase(line.substr(0, kEncoding.size()), kEncoding);
    if (line.empty() && has_line_) {
      state_ = chunked_ ? State::kSize : State::kRest;
      return line_;
    }
    has_line_ = has_line_ || !line.empty();  // empty lines before the request are skipped
  }
  return to;
}

bool MessageCheck::Take(char c) {
  const auto expect = [&](char wanted, State next) {
    state_ = next;
    return c == wanted;
  };
  switch (state_) {
    case State::kSize:
      return TakeSize(c);
    case State::kExtension:
      if (c == '\r') state_ = State::kSizeLf;
      return c != '\n';
    case State::kSizeLf:
      return expect('\n', size_ == 0 ? State::kTrailerStart : State::kData);
    case State::kDataCr:
      return expect('\r', State::kDataLf);
    case State::kDataLf:
      digits_ = 0;
      return expect('\n', State::kSize);
    case State::kTrailerStart:
      state_ = c == '\r' ? State::kEndLf : State::kTrailer;
      return c != '\n';
    case State::kTrailer:
      if (c == '\r') state_ = State::kTrailerLf;
      return c != '\n';
    case State::kTrailerLf:
      return expect('\n', State::kTrailerStart);
    case State::kEndLf:
      return expect('\n', State::kRest);
    case State::kHead:
    case State::kData:
    case State::kRest:
      return true;
  }
  return true;
}

bool MessageCheck::TakeSize(char c) {
  if (const int value = HexValue(c); value >= 0) {
    size_ = (digits_ == 0 ? 0 : size_ << 4) | static_cast<uint64_t>(value);
    return ++digits_ <= kMostDigits;
  }
  if (digits_ == 0) return false;
  if (c == '\r') {
    state_ = State::kSizeLf;
    return true;
  }
  state_ = State::kExtension;
  return c == ';' || c == ' ' || c == '\t';
}

}  // namespace sluice::http
