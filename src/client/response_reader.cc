#include "client/response_reader.h"

namespace sluice::client {
namespace {

// A body without a consumer is kept in memory.
constexpr size_t kMaxKeptBody = 512 << 20;
constexpr size_t kReadSize = 64 << 10;

Status Broken(std::string_view why) {
  return Error(Code::kUnavailable, "client.broken", "{}", why);
}

}  // namespace

struct ResponseReader::Callbacks {
  static ResponseReader& Self(http_parser* parser) {
    return *static_cast<ResponseReader*>(parser->data);
  }
  static int OnField(http_parser* parser, const char* at, size_t size) {
    ResponseReader& self = Self(parser);
    if (self.in_value_) self.response_.headers.emplace_back();
    self.in_value_ = false;
    self.response_.headers.back().first.append(at, size);
    return 0;
  }
  static int OnValue(http_parser* parser, const char* at, size_t size) {
    ResponseReader& self = Self(parser);
    self.in_value_ = true;
    self.response_.headers.back().second.append(at, size);
    return 0;
  }
  static int OnHeadComplete(http_parser* parser) {
    ResponseReader& self = Self(parser);
    self.response_.status = static_cast<int>(parser->status_code);
    return self.request_.method == "HEAD" ? 1 : 0;  // 1: no body follows
  }
  static int OnBody(http_parser* parser, const char* at, size_t size) {
    ResponseReader& self = Self(parser);
    self.failure_ = self.OnBody({at, size});
    return self.failure_.ok() ? 0 : -1;
  }
  static int OnComplete(http_parser* parser) {
    ResponseReader& self = Self(parser);
    self.complete_ = true;
    self.keep_alive_ = http_should_keep_alive(parser) != 0;
    http_parser_pause(parser, 1);
    return 0;
  }
  static http_parser_settings Settings() {
    http_parser_settings settings;
    http_parser_settings_init(&settings);
    settings.on_header_field = OnField;
    settings.on_header_value = OnValue;
    settings.on_headers_complete = OnHeadComplete;
    settings.on_body = OnBody;
    settings.on_message_complete = OnComplete;
    return settings;
  }
};

ResponseReader::ResponseReader(const Request& request, Stream* stream, std::string* carry)
    : request_(request), stream_(stream), carry_(carry) {
  http_parser_init(&parser_, HTTP_RESPONSE);
  parser_.data = this;
}

Status ResponseReader::OnBody(std::string_view piece) {
  if (request_.consumer && response_.status >= 200 && response_.status < 300) {
    return request_.consumer(piece);
  }
  if (piece.size() > kMaxKeptBody - response_.body.size()) {
    return Error(Code::kTooLarge, "client.too_large", "the answer has more than {} bytes",
                 kMaxKeptBody);
  }
  response_.body += piece;
  return OkStatus();
}

// An empty `bytes` is the end of the stream.
Status ResponseReader::Parse(std::string_view bytes, size_t* consumed) {
  static const http_parser_settings kSettings = Callbacks::Settings();
  *consumed = http_parser_execute(&parser_, &kSettings, bytes.data(), bytes.size());
  const http_errno error = HTTP_PARSER_ERRNO(&parser_);
  if (!failure_.ok()) return failure_;
  if (error == HPE_OK || error == HPE_PAUSED) return OkStatus();
  return Broken(bytes.empty() ? "the server closed the connection before its answer was complete"
                              : http_errno_description(error));
}

Result<Response> ResponseReader::Read() {
  std::string buffer = std::move(*carry_);
  carry_->clear();
  while (true) {
    if (buffer.empty()) {
      buffer.resize(kReadSize);
      ASSIGN_OR_RETURN(const size_t got, stream_->Read(buffer.data(), buffer.size()));
      buffer.resize(got);
      if (got == 0 && !begun_) return Unexpected(Broken("the server closed the connection"));
      begun_ = true;
    }
    size_t consumed = 0;
    const bool ended = buffer.empty();
    RETURN_IF_ERROR(Parse(buffer, &consumed));
    buffer.erase(0, consumed);
    if (complete_ && informational()) {
      response_ = Response();
      in_value_ = true;
      complete_ = false;
      http_parser_init(&parser_, HTTP_RESPONSE);
      parser_.data = this;
    } else if (complete_) {
      *carry_ = std::move(buffer);
      return std::move(response_);
    } else if (ended) {
      return Unexpected(Broken("the server closed the connection before its answer was complete"));
    }
  }
}

}  // namespace sluice::client
