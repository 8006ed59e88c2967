#include "rest/multipart.h"

#include "rest/http_types.h"

namespace sluice::rest {
namespace {

Status Wrong(std::string_view what) {
  return Error(Code::kInvalidArgument, "flow.bad_body", "the body is not multipart/form-data: {}",
               what);
}

std::string_view TrimmedHeader(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// The value of `; name=value` or `; name="value"`; empty without it.
std::string HeaderParameter(std::string_view header, std::string_view name) {
  for (size_t at = header.find(';'); at != std::string_view::npos;) {
    const size_t equals = header.find('=', at);
    if (equals == std::string_view::npos) return "";
    const std::string_view key = TrimmedHeader(header.substr(at + 1, equals - at - 1));
    std::string value;
    size_t end = equals + 1;
    if (end < header.size() && header[end] == '"') {
      for (++end; end < header.size() && header[end] != '"'; ++end) {
        if (header[end] == '\\' && end + 1 < header.size() &&
            (header[end + 1] == '"' || header[end + 1] == '\\')) {
          ++end;
        }
        value += header[end];
      }
      at = header.find(';', end);
    } else {
      at = header.find(';', end);
      value = TrimmedHeader(header.substr(end, at == std::string_view::npos ? at : at - end));
    }
    if (EqualsIgnoreCase(key, name)) return value;
  }
  return "";
}

Result<Part> ParsePart(std::string_view text) {
  Part part;
  size_t end = text.find("\r\n\r\n");
  std::string_view head = text.substr(0, end);
  if (text.starts_with("\r\n")) {
    head = {};
    end = 0;
  }
  if (end == std::string_view::npos) return Unexpected(Wrong("a part has no empty line"));
  part.body = text.substr(end + (head.empty() ? 2 : 4));
  while (!head.empty()) {
    const size_t line_end = head.find("\r\n");
    const std::string_view line = head.substr(0, line_end);
    head.remove_prefix(line_end == std::string_view::npos ? head.size() : line_end + 2);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return Unexpected(Wrong("a part has a malformed header"));
    const std::string_view value = TrimmedHeader(line.substr(colon + 1));
    if (EqualsIgnoreCase(line.substr(0, colon), "content-disposition")) {
      part.name = HeaderParameter(value, "name");
      part.filename = HeaderParameter(value, "filename");
    } else if (EqualsIgnoreCase(line.substr(0, colon), "content-type")) {
      part.content_type = value;
    }
  }
  if (part.name.empty()) return Unexpected(Wrong("a part has no name"));
  return part;
}

}  // namespace

Result<std::vector<Part>> ParseMultipart(std::string_view content_type, std::string_view body) {
  const std::string boundary = HeaderParameter(content_type, "boundary");
  if (boundary.empty() || boundary.size() > 70) {
    return Unexpected(Wrong("the content type has no boundary"));
  }
  const std::string first = "--" + boundary;
  const std::string separator = "\r\n" + first;
  if (!body.starts_with(first)) return Unexpected(Wrong("it does not start with the boundary"));
  std::vector<Part> parts;
  body.remove_prefix(first.size());
  while (!body.starts_with("--")) {
    if (!body.starts_with("\r\n")) return Unexpected(Wrong("a boundary has no line end"));
    body.remove_prefix(2);
    // A part without headers and body: the boundary follows at once.
    const size_t end = body.find(separator);
    if (end == std::string_view::npos) return Unexpected(Wrong("the last boundary is missing"));
    if (parts.size() == kMaxParts) return Unexpected(Wrong("it has too many parts"));
    ASSIGN_OR_RETURN(Part part, ParsePart(body.substr(0, end)));
    parts.push_back(std::move(part));
    body.remove_prefix(end + separator.size());
  }
  return parts;
}

}  // namespace sluice::rest
