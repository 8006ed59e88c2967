// Reads one answer from a stream. Internal to client.
#pragma once

#include <string>
#include <string_view>

#include <http_parser.h>

#include "base/status.h"
#include "client/client.h"
#include "client/stream.h"

namespace sluice::client {

class ResponseReader {
 public:
  // `carry` holds bytes that the previous answer's read brought, and takes this one's. All outlive
  // the reader.
  ResponseReader(const Request& request, Stream* stream, std::string* carry);

  // Reads heads with status 1xx away, then one whole answer.
  Result<Response> Read();

  bool keep_alive() const { return keep_alive_; }
  // Whether anything of an answer has come.
  bool begun() const { return begun_; }

 private:
  struct Callbacks;
  Status Parse(std::string_view bytes, size_t* consumed);
  Status OnBody(std::string_view piece);
  bool informational() const { return parser_.status_code >= 100 && parser_.status_code < 200; }

  const Request& request_;
  Stream* const stream_;
  std::string* const carry_;
  http_parser parser_;
  Response response_;
  bool in_value_ = true;
  bool complete_ = false;
  bool keep_alive_ = false;
  bool begun_ = false;
  Status failure_;  // of the consumer, or of a limit
};

}  // namespace sluice::client
