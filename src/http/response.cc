#include "http/response.h"

#include <algorithm>
#include <charconv>

#include "base/log.h"
#include "http/error_body.h"
#include "http/request.h"

namespace sluice::http {
namespace {

constexpr size_t kMaxKeptAnswer = 64 << 10;
constexpr std::string_view kRetryAfterSeconds = "1";

void AppendNumber(std::string* out, uint64_t value) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  out->append(digits, static_cast<size_t>(end - digits));
}

// The syntax of header names in RFC 9110.
bool IsToken(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const auto is_part = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != kMarks.npos;
  };
  return !name.empty() && std::ranges::all_of(name, is_part);
}

void AppendStatusLine(std::string* out, int status) {
  if (status == 200) {
    out->append("HTTP/1.1 200 OK\r\n");
    return;
  }
  out->append("HTTP/1.1 ");
  AppendNumber(out, static_cast<uint64_t>(status));
  out->push_back(' ');
  out->append(ReasonPhrase(status));
  out->append("\r\n");
}

// Whether the header lines contain this header; `name` is in lower case.
bool HasHeader(std::string_view lines, std::string_view name) {
  while (!lines.empty()) {
    if (EqualsIgnoreCase(lines.substr(0, lines.find(':')), name)) return true;
    lines.remove_prefix(lines.find("\r\n") + 2);
  }
  return false;
}

}  // namespace

void Response::Reset(StreamSink* sink, std::string_view request_id) {
  status_ = 200;
  aborted_ = false;
  knows_head_length_ = false;
  content_type_.clear();
  headers_.clear();
  body_.clear();
  if (body_.capacity() > kMaxKeptAnswer) body_ = std::string();
  request_id_ = request_id;
  error_answer_ = nullptr;
  sink_ = sink;
}

void Response::Body(int status, std::string_view content_type, std::string bytes) {
  status_ = status;
  content_type_ = content_type;
  body_ = std::move(bytes);
}

void Response::Text(int status, std::string text) {
  Body(status, "text/plain; charset=utf-8", std::move(text));
}

void Response::NoContent(int status) {
  status_ = status;
  content_type_.clear();
  body_.clear();
}

void Response::LogFailure(const Status& error) const {
  log::Error("request failed",
             {{"id", error.id()}, {"error", error.message()}, {"request_id", request_id_}});
}

void Response::Abort(const Status& error) {
  LogFailure(error);
  aborted_ = true;
}

void Response::Error(const Status& error) { Error(HttpStatusOf(error), error); }

void Response::Error(int http_status, const Status& error) {
  // Errors of the server itself are also logged, with the names of files.
  if (http_status >= 500 && http_status != 503) LogFailure(error);
  if (error_answer_ != nullptr) {
    error_answer_(*this, http_status, error);
  } else {
    Json(http_status, ErrorBody(error, request_id_));
  }
  if (error.code() == Code::kOverloaded) AddHeader("Retry-After", kRetryAfterSeconds);
}

void Response::AddHeader(std::string_view name, std::string_view value) {
  if (!IsToken(name)) return;  // it would change the meaning of the rest of the answer
  headers_.append(name);
  headers_.append(": ");
  const size_t start = headers_.size();
  headers_.append(value);
  for (size_t i = start; i < headers_.size(); ++i) {
    if (headers_[i] == '\r' || headers_[i] == '\n' || headers_[i] == '\0') headers_[i] = ' ';
  }
  headers_.append("\r\n");
}

void Response::AppendHead(const HeadContext& context, std::string* out) const {
  AppendStatusLine(out, status_);
  out->append("Date: ");
  out->append(context.date);
  out->append("\r\nX-Request-Id: ");
  out->append(request_id_);
  if (!content_type_.empty()) {
    out->append("\r\nContent-Type: ");
    out->append(content_type_);
  }
  // Not no-referrer, with which the forms of our own pages would have the origin "null".
  if (!HasHeader(headers_, "x-content-type-options")) {
    out->append("\r\nX-Content-Type-Options: nosniff");
  }
  if (!HasHeader(headers_, "referrer-policy")) out->append("\r\nReferrer-Policy: same-origin");
  if (context.close) {
    out->append("\r\nConnection: close");
  } else if (context.keep_alive_1_0) {
    out->append("\r\nConnection: keep-alive");
  }
  if (context.framing == Framing::kChunked) {
    out->append("\r\nTransfer-Encoding: chunked");
  } else if (context.framing == Framing::kLength && !bodiless() &&
             (!knows_head_length_ || head_length_)) {
    out->append("\r\nContent-Length: ");
    AppendNumber(out, knows_head_length_ ? *head_length_ : body_.size());
  }
  out->append("\r\n");
  out->append(headers_);
  out->append("\r\n");
}

}  // namespace sluice::http
