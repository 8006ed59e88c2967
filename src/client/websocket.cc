// Frames as in RFC 6455, section 5: two bytes with flags, opcode and length, a longer length if
// need be, a mask on the way to the server, the payload.
#include "client/websocket.h"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <openssl/evp.h>
#include <poll.h>

#include "base/base64.h"
#include "base/random.h"
#include "client/response_reader.h"
#include "client/socket.h"

namespace sluice::client {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxHead = 64 << 10;
constexpr size_t kMaxMessage = 256 << 20;
constexpr size_t kReadBytes = 64 << 10;
constexpr int kLookMs = 100;
// Sluice pings after 30 s.
constexpr auto kLongestSilence = std::chrono::minutes(2);

std::string AcceptOf(const std::string& key) {
  const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha1(), nullptr);
  return ToBase64({reinterpret_cast<const char*>(digest), size});
}

Status BrokenSocket(std::string_view what) {
  return Error(Code::kUnavailable, "client.broken", "the WebSocket broke: {}", what);
}

// Reads the answer's head; `rest` gets the bytes after it.
Result<std::string> ReadHead(Stream* stream, std::string* rest) {
  std::string text;
  char buffer[4096];
  while (true) {
    const size_t end = text.find("\r\n\r\n");
    if (end != std::string::npos) {
      *rest = text.substr(end + 4);
      text.resize(end + 4);
      return text;
    }
    if (text.size() > kMaxHead) return Unexpected(BrokenSocket("the server's answer has no end"));
    ASSIGN_OR_RETURN(const size_t got, stream->Read(buffer, sizeof(buffer)));
    if (got == 0) return Unexpected(BrokenSocket("the server closed the connection"));
    text.append(buffer, got);
  }
}

}  // namespace

Result<std::unique_ptr<WebSocket>> WebSocket::Open(std::unique_ptr<Stream> stream,
                                                   const std::string& host, const Request& request,
                                                   Response* refusal) {
  const std::string key = ToBase64(SecureRandomBytes(16));
  std::string text = fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {}\r\n",
      request.path, host, key);
  for (const auto& [name, value] : request.headers) text += fmt::format("{}: {}\r\n", name, value);
  RETURN_IF_ERROR(stream->Write(text + "\r\n"));
  std::string rest;
  ASSIGN_OR_RETURN(const std::string head, ReadHead(stream.get(), &rest));
  if (!head.starts_with("HTTP/1.1 101")) {
    std::string carry = head + rest;
    ASSIGN_OR_RETURN(*refusal, ResponseReader(request, stream.get(), &carry).Read());
    return Fail(Code::kUnavailable, "client.refused", "the server answered {}: no WebSocket",
                refusal->status);
  }
  if (head.find(AcceptOf(key)) == std::string::npos) {
    return Unexpected(BrokenSocket("the server's answer belongs to another request"));
  }
  return std::unique_ptr<WebSocket>(new WebSocket(std::move(stream), std::move(rest)));
}

WebSocket::~WebSocket() {
  if (!closed_) static_cast<void>(SendFrame(kClose, "\x03\xe8"));
}

Status WebSocket::Send(std::string_view text) { return SendFrame(kText, text); }

Status WebSocket::SendFrame(Opcode opcode, std::string_view payload) {
  std::string frame;
  frame.reserve(payload.size() + 14);
  frame.push_back(static_cast<char>(0x80 | opcode));
  const auto append = [&](int bytes) {
    for (int i = bytes - 1; i >= 0; --i) {
      frame.push_back(static_cast<char>(payload.size() >> (8 * i) & 0xFF));
    }
  };
  if (payload.size() < 126) {
    frame.push_back(static_cast<char>(0x80 | payload.size()));
  } else if (payload.size() < 65'536) {
    frame.push_back(static_cast<char>(0x80 | 126));
    append(2);
  } else {
    frame.push_back(static_cast<char>(0x80 | 127));
    append(8);
  }
  const std::string mask = SecureRandomBytes(4);
  frame += mask;
  for (size_t i = 0; i < payload.size(); ++i) {
    frame.push_back(static_cast<char>(payload[i] ^ mask[i % 4]));
  }
  return stream_->Write(frame);
}

Result<std::string> WebSocket::Take(size_t size) {
  while (buffer_.size() - taken_ < size) {
    if (taken_ > 0) buffer_.erase(0, std::exchange(taken_, 0));
    const size_t before = buffer_.size();
    buffer_.resize(before + std::max(kReadBytes, std::min(size, kMaxMessage)));
    const Result<size_t> got = stream_->Read(buffer_.data() + before, buffer_.size() - before);
    buffer_.resize(before + (got ? *got : 0));
    if (!got) return Unexpected(got.error());
    if (*got == 0) return Unexpected(BrokenSocket("the server closed the connection"));
  }
  std::string taken = buffer_.substr(taken_, size);
  taken_ += size;
  return taken;
}

Result<WebSocket::Frame> WebSocket::ReadFrame() {
  ASSIGN_OR_RETURN(const std::string head, Take(2));
  const auto byte = [](char c) { return static_cast<uint64_t>(static_cast<unsigned char>(c)); };
  Frame frame{
      .last = (head[0] & 0x80) != 0, .opcode = static_cast<uint8_t>(head[0] & 0x0F), .payload = {}};
  uint64_t size = byte(head[1]) & 0x7F;
  if (size >= 126) {
    ASSIGN_OR_RETURN(const std::string longer, Take(size == 126 ? 2 : 8));
    size = 0;
    for (const char c : longer) size = size << 8 | byte(c);
  }
  if ((byte(head[1]) & 0x80) != 0)
    return Unexpected(BrokenSocket("the server's frames are masked"));
  if (size > kMaxMessage) {
    return Fail(Code::kTooLarge, "client.too_large", "a message of {} bytes", size);
  }
  ASSIGN_OR_RETURN(frame.payload, Take(size));
  return frame;
}

Status WebSocket::HandleControl(const Frame& frame) {
  if (frame.opcode == kPing) return SendFrame(kPong, frame.payload);
  if (frame.opcode == kPong) return OkStatus();
  if (frame.opcode != kClose) return BrokenSocket("an unknown frame");
  if (!std::exchange(closed_, true)) static_cast<void>(SendFrame(kClose, frame.payload));
  const std::string reason = frame.payload.size() > 2 ? frame.payload.substr(2) : "";
  return Error(Code::kUnavailable, "client.closed", "the server closed the WebSocket{}{}",
               reason.empty() ? "" : ": ", reason);
}

// Waits until bytes arrive.
Status WebSocket::Await(const Patience& patience) {
  const auto start = Clock::now();
  while (taken_ == buffer_.size() && !stream_->HasPending()) {
    if (patience.interrupted != nullptr && *patience.interrupted) {
      return Error(Code::kCancelled, "client.interrupted", "interrupted");
    }
    const auto waited = Clock::now() - start;
    const bool over =
        patience.timeout_ms != 0 && waited >= std::chrono::milliseconds(patience.timeout_ms);
    if (over || waited >= kLongestSilence) return IoError(EAGAIN);
    pollfd socket{.fd = stream_->fd(), .events = POLLIN, .revents = 0};
    if (::poll(&socket, 1, kLookMs) > 0) break;
  }
  return OkStatus();
}

Result<std::string> WebSocket::Read(const Patience& patience) {
  std::string message;
  const auto deadline = Clock::now() + std::chrono::milliseconds(patience.timeout_ms);
  while (true) {
    Patience left = patience;
    if (patience.timeout_ms != 0) {
      // A ping does not restart the timeout.
      const auto rest = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      left.timeout_ms = static_cast<uint64_t>(std::max<int64_t>(rest.count(), 1));
    }
    RETURN_IF_ERROR(Await(left));
    ASSIGN_OR_RETURN(Frame frame, ReadFrame());
    if (frame.opcode != kText && frame.opcode != kContinuation) {
      RETURN_IF_ERROR(HandleControl(frame));
      continue;
    }
    if (message.size() + frame.payload.size() > kMaxMessage) {
      return Fail(Code::kTooLarge, "client.too_large", "a message of more than {} bytes",
                  kMaxMessage);
    }
    message = message.empty() ? std::move(frame.payload) : message + frame.payload;
    if (frame.last) return message;
  }
}

bool WebSocket::Alive() {
  while (!closed_) {
    pollfd socket{.fd = stream_->fd(), .events = POLLIN, .revents = 0};
    const bool waits = taken_ != buffer_.size() || stream_->HasPending();
    if (!waits && ::poll(&socket, 1, 0) <= 0) return true;
    const Result<Frame> frame = ReadFrame();
    if (!frame || !HandleControl(*frame).ok()) return false;
  }
  return false;
}

}  // namespace sluice::client
