#include "http/request_parser.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace sluice::http {
namespace {

constexpr size_t kMaxRequestIdSize = 64;
// A body's memory grows as it arrives: a large Content-Length alone must not reserve anything
// large.
constexpr size_t kMaxBodyReserve = 256 << 10;
// A body buffer larger than this is freed after its request.
constexpr size_t kMaxKeptBody = 64 << 10;

Method MethodOf(unsigned method) {
  switch (method) {
    case HTTP_GET:
      return Method::kGet;
    case HTTP_HEAD:
      return Method::kHead;
    case HTTP_POST:
      return Method::kPost;
    case HTTP_PUT:
      return Method::kPut;
    case HTTP_PATCH:
      return Method::kPatch;
    case HTTP_DELETE:
      return Method::kDelete;
    case HTTP_OPTIONS:
      return Method::kOptions;
    default:
      return Method::kOther;
  }
}

bool IsSaneId(std::string_view id) {
  if (id.empty() || id.size() > kMaxRequestIdSize) return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':';
  });
}

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Status BadTarget(std::string_view why) {
  return Error(Code::kInvalidArgument, "http.bad_target", "the request's target {}", why);
}

}  // namespace

void RequestIds::Next(std::string* out) {
  // splitmix64: consecutive states give unrelated, never repeating values.
  uint64_t mixed = (state_ += 0x9e3779b97f4a7c15);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  mixed ^= mixed >> 31;
  out->resize(16);
  for (char& c : *out) {
    c = "0123456789abcdef"[mixed & 15];
    mixed >>= 4;
  }
}

struct RequestParser::Callbacks {
  static RequestParser& Self(http_parser* parser) {
    return *static_cast<RequestParser*>(parser->data);
  }
  static int OnUrl(http_parser* parser, const char* at, size_t size) {
    RequestParser& self = Self(parser);
    return self.Extend(&self.target_, at, size);
  }
  static int OnField(http_parser* parser, const char* at, size_t size) {
    RequestParser& self = Self(parser);
    if (self.state_ != State::kHead) return 0;  // a trailer: allowed, not used
    if (self.in_value_) {
      self.in_value_ = false;
      if (self.headers_.size() == self.limits_.max_headers) {
        return self.Refuse(431, Error(Code::kTooLarge, "http.header_too_large",
                                      "more than {} headers", self.limits_.max_headers));
      }
      self.headers_.emplace_back();
    }
    return self.Extend(&self.headers_.back().name, at, size);
  }
  static int OnValue(http_parser* parser, const char* at, size_t size) {
    RequestParser& self = Self(parser);
    if (self.state_ != State::kHead) return 0;
    self.in_value_ = true;
    return self.Extend(&self.headers_.back().value, at, size);
  }
  static int OnHeadComplete(http_parser* parser) { return Self(parser).OnHeadComplete(); }
  static int OnBody(http_parser* parser, const char* at, size_t size) {
    return Self(parser).AddBody({at, size});
  }
  static int OnComplete(http_parser* parser) {
    Self(parser).state_ = State::kComplete;
    http_parser_pause(parser, 1);  // the next message waits for its turn
    return 0;
  }
  static http_parser_settings Settings() {
    http_parser_settings settings;
    http_parser_settings_init(&settings);
    settings.on_url = OnUrl;
    settings.on_header_field = OnField;
    settings.on_header_value = OnValue;
    settings.on_headers_complete = OnHeadComplete;
    settings.on_body = OnBody;
    settings.on_message_complete = OnComplete;
    return settings;
  }
};

RequestParser::RequestParser(const RequestLimits& limits, Request* request,
                             const std::string* remote, net::Exchange* exchange)
    : limits_(limits), request_(request) {
  request->remote_ = remote;
  request->exchange_ = exchange;
  CHECK(limits.max_head_bytes <= RequestLimits::kMostHeadBytes);
  Reset();
}

void RequestParser::Reset() {
  http_parser_init(&parser_, HTTP_REQUEST);
  parser_.data = this;
  state_ = State::kHead;
  target_ = {};
  headers_.clear();
  in_value_ = true;
  retained_ = 0;
  spool_above_.reset();
  expects_continue_ = keep_alive_ = wants_websocket_ = false;
  Unfinish();
  request_->principal_.reset();  // what the filter found by the head is there with the body, too
  request_->spooled_.reset();
  request_->body_.clear();
  if (request_->body_.capacity() > kMaxKeptBody) request_->body_ = std::string();
}

void RequestParser::Unfinish() {
  Request& request = *request_;
  request.target_ = request.path_ = {};
  request.params_.clear();
  request.query_.clear();
  request.headers_.clear();
}

size_t RequestParser::Feed(const char* message, size_t from, size_t size) {
  message_ = message;
  size_t consumed = from;
  if (state_ == State::kHead) {
    Execute(message, from, std::min(size, limits_.max_head_bytes), &consumed);
    if (state_ == State::kHead && consumed >= limits_.max_head_bytes) {
      Refuse(431,
             Error(Code::kTooLarge, "http.header_too_large",
                   "request line and headers have more than {} bytes", limits_.max_head_bytes));
    }
  }
  if (state_ == State::kBody && consumed < size) Execute(message, consumed, size, &consumed);
  return consumed;
}

void RequestParser::Execute(const char* message, size_t from, size_t to, size_t* consumed) {
  static const http_parser_settings kSettings = Callbacks::Settings();
  *consumed = from + http_parser_execute(&parser_, &kSettings, message + from, to - from);
  if (state_ == State::kComplete || state_ == State::kFailed) return;
  const http_errno error = HTTP_PARSER_ERRNO(&parser_);
  if (error == HPE_OK) return;
  if (error == HPE_UNEXPECTED_CONTENT_LENGTH || error == HPE_INVALID_TRANSFER_ENCODING) {
    Refuse(400,
           Error(Code::kInvalidArgument, "http.bad_framing", "{}", http_errno_description(error)));
  } else {
    Refuse(400, Error(Code::kInvalidArgument, "http.malformed", "not an HTTP request: {}",
                      http_errno_description(error)));
  }
}

int RequestParser::Extend(Span* span, const char* at, size_t size) {
  const auto offset = static_cast<uint32_t>(at - message_);
  if (span->size == 0) {
    span->offset = offset;
  } else if (span->offset + span->size != offset) {
    // Only a value that goes on in the next line comes in pieces that do not touch.
    return Refuse(400, Error(Code::kInvalidArgument, "http.malformed",
                             "a header that is folded over several lines is not accepted"));
  }
  span->size += static_cast<uint32_t>(size);
  retained_ = offset + size;
  return 0;
}

int RequestParser::OnHeadComplete() {
  if (!CheckHead()) return -1;
  state_ = State::kBody;
  keep_alive_ = http_should_keep_alive(&parser_) != 0;
  request_->method_ = MethodOf(parser_.method);
  request_->is_http_1_1_ = parser_.http_minor == 1;
  return 0;
}

bool RequestParser::CheckHead() {
  if (parser_.http_major != 1 || parser_.http_minor > 1) {
    Refuse(505, Error(Code::kUnsupported, "http.version", "HTTP/{}.{} is not spoken here",
                      parser_.http_major, parser_.http_minor));
    return false;
  }
  int hosts = 0, lengths = 0, encodings = 0;
  std::string_view encoding;
  for (const HeaderSpan& header : headers_) {
    const std::string_view name = Text(header.name);
    const std::string_view value = TrimRight(Text(header.value));
    if (name.find(' ') != std::string_view::npos) {
      Refuse(400, Error(Code::kInvalidArgument, "http.malformed", "a space in a header's name"));
      return false;
    }
    if (EqualsIgnoreCase(name, "host")) {
      ++hosts;
    } else if (EqualsIgnoreCase(name, "content-length")) {
      ++lengths;
    } else if (EqualsIgnoreCase(name, "transfer-encoding")) {
      ++encodings;
      encoding = value;
    } else if (EqualsIgnoreCase(name, "upgrade")) {
      wants_websocket_ = parser_.upgrade && EqualsIgnoreCase(value, "websocket");
    } else if (EqualsIgnoreCase(name, "expect") && parser_.http_minor == 1) {
      if (!EqualsIgnoreCase(value, "100-continue")) {
        Refuse(417, Error(Code::kUnsupported, "http.expectation",
                          "only 'Expect: 100-continue' is understood"));
        return false;
      }
      expects_continue_ = true;
    }
  }
  if (hosts > 1 || (hosts == 0 && parser_.http_minor == 1)) {
    Refuse(400, Error(Code::kInvalidArgument, "http.malformed",
                      "expected one Host header, found {}", hosts));
    return false;
  }
  return CheckFraming(lengths, encodings, encoding) && CheckBodySize();
}

bool RequestParser::CheckFraming(int lengths, int encodings, std::string_view encoding) {
  if (lengths > 1 || (lengths > 0 && encodings > 0)) {
    Refuse(400, Error(Code::kInvalidArgument, "http.bad_framing",
                      "expected one Content-Length or Transfer-Encoding, found {}",
                      lengths + encodings));
    return false;
  }
  if (encodings == 0) return true;
  if (encodings > 1 || parser_.http_minor == 0) {
    Refuse(400, Error(Code::kInvalidArgument, "http.bad_framing",
                      "expected one Transfer-Encoding in an HTTP/1.1 request"));
    return false;
  }
  if (!EqualsIgnoreCase(encoding, "chunked")) {
    Refuse(501, Error(Code::kUnsupported, "http.transfer_encoding",
                      "the only transfer encoding understood is chunked"));
    return false;
  }
  return true;
}

// Where bodies may go to disk, the route decides the limit.
bool RequestParser::CheckBodySize() {
  declared_ = parser_.content_length;
  if (declared_ == UINT64_MAX) return true;  // none given
  if (limits_.max_spooled_bytes == 0 && IsBodyTooLarge()) {
    Refuse(413, BodyTooLarge());
    return false;
  }
  request_->body_.reserve(std::min<size_t>(declared_, kMaxBodyReserve));
  return true;
}

void RequestParser::AllowSpool(size_t above) {
  if (limits_.max_spooled_bytes > above) spool_above_ = above;
}

Status RequestParser::SpoolWhole(size_t above) {
  AllowSpool(above);
  std::string& body = request_->body_;
  if (!spool_above_ || body.size() <= *spool_above_) return OkStatus();
  ASSIGN_OR_RETURN(request_->spooled_, DiskFile::MakeUnnamed(limits_.spool_directory));
  return request_->spooled_->Append(std::exchange(body, {}));
}

uint64_t RequestParser::MostBody() const {
  return spool_above_ ? limits_.max_spooled_bytes : limits_.max_body_bytes;
}

bool RequestParser::IsBodyTooLarge() const {
  return declared_ != UINT64_MAX && declared_ > MostBody();
}

Status RequestParser::BodyTooLarge() const {
  const char* const setting = spool_above_ ? "flows.max_stream" : "http.max_body";
  if (!IsBodyTooLarge()) {
    return Error(Code::kTooLarge, "http.body_too_large", "the body has more than {} bytes ({})",
                 MostBody(), setting);
  }
  return Error(Code::kTooLarge, "http.body_too_large",
               "the body has {} bytes, at most {} are accepted ({})", declared_, MostBody(),
               setting);
}

int RequestParser::AddBody(std::string_view bytes) {
  std::string& body = request_->body_;
  if (request_->spooled_ != nullptr) return Spool(bytes);
  if (spool_above_ && body.size() + bytes.size() > *spool_above_) {
    auto file = DiskFile::MakeUnnamed(limits_.spool_directory);
    if (!file) return Refuse(500, file.error());
    request_->spooled_ = std::move(*file);
    const std::string begun = std::exchange(body, {});
    const int refused = Spool(begun);
    return refused != 0 ? refused : Spool(bytes);
  }
  if (bytes.size() > limits_.max_body_bytes - std::min(body.size(), limits_.max_body_bytes)) {
    return Refuse(413, BodyTooLarge());
  }
  body.append(bytes);
  return 0;
}

int RequestParser::Spool(std::string_view bytes) {
  if (request_->spooled_->size() + bytes.size() > limits_.max_spooled_bytes) {
    return Refuse(413, BodyTooLarge());
  }
  const Status written = request_->spooled_->Append(bytes);
  return written.ok() ? 0 : Refuse(500, written);
}

int RequestParser::Refuse(int http_status, Status error) {
  state_ = State::kFailed;
  keep_alive_ = false;
  error_status_ = http_status;
  error_ = std::move(error);
  return -1;
}

void RequestParser::FinishRefused(uint64_t arrival_ns, RequestIds* ids) {
  request_->arrival_ns_ = arrival_ns;
  ids->Next(&request_->id_);
}

Status RequestParser::Finish(const char* message, uint64_t arrival_ns, RequestIds* ids) {
  message_ = message;
  Request& request = *request_;
  request.arrival_ns_ = arrival_ns;
  std::string_view id;
  for (const HeaderSpan& header : headers_) {
    const Header& added =
        request.headers_.emplace_back(Text(header.name), TrimRight(Text(header.value)));
    if (EqualsIgnoreCase(added.name, "x-request-id")) id = added.value;
  }
  if (IsSaneId(id)) {
    request.id_ = id;
  } else {
    ids->Next(&request.id_);
  }
  return SetTarget(Text(target_));
}

Status RequestParser::SetTarget(std::string_view target) {
  Request& request = *request_;
  request.target_ = request.path_ = target;
  if (target == "*" && request.method_ == Method::kOptions) return OkStatus();
  if (!target.starts_with('/')) {
    const size_t scheme = target.find("://");
    if (scheme == std::string_view::npos) return BadTarget("must begin with '/'");
    const size_t slash = target.find('/', scheme + 3);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  target = target.substr(0, target.find('#'));
  const size_t question = target.find('?');
  request.target_ = target;
  request.path_ = target.substr(0, question);
  if (question == std::string_view::npos) return OkStatus();
  auto query = ParseQuery(target.substr(question + 1));
  if (!query) return BadTarget("has a malformed percent escape in its query");
  request.query_ = std::move(*query);
  return OkStatus();
}

}  // namespace sluice::http
