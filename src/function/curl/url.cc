#include "function/curl/url.h"

#include <memory>
#include <optional>

#include <curl/curl.h>

namespace sluice::function {
namespace {

// Encodes the bytes that can't stand in a URL.
std::string Cleaned(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

// Dots and separators as a server may see them once it has decoded them.
std::string Decoded(std::string_view path) {
  std::string out;
  for (size_t i = 0; i < path.size(); ++i) {
    std::string_view rest = path.substr(i, 3);
    const auto is = [&](std::string_view code) {
      return rest.size() == 3 && rest[0] == '%' && rest[1] == code[0] && (rest[2] | 32) == code[1];
    };
    if (is("2e")) {
      out += '.';
    } else if (is("2f") || is("5c")) {
      out += '/';
    } else {
      out += path[i] == '\\' ? '/' : path[i];
      continue;
    }
    i += 2;
  }
  return out;
}

// Whether dot segments lead above where the path starts.
bool Leaves(std::string_view path) {
  const std::string text = Decoded(path.substr(0, path.find_first_of("?#")));
  int depth = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('/', at), text.size());
    const std::string_view segment = std::string_view(text).substr(at, end - at);
    if (segment == "..") {
      if (--depth < 0) return true;
    } else if (!segment.empty() && segment != ".") {
      ++depth;
    }
    at = end + 1;
  }
  return false;
}

struct Parts {
  std::string origin;  // scheme, user, host, port
  std::string path;
};

std::optional<Parts> Split(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), &curl_url_cleanup);
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return std::nullopt;
  Parts parts;
  const auto part = [&](CURLUPart which) {
    char* text = nullptr;
    if (curl_url_get(parsed.get(), which, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) {
      return std::string();
    }
    std::string copy(text);
    curl_free(text);
    return copy;
  };
  for (const CURLUPart which :
       {CURLUPART_SCHEME, CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_HOST, CURLUPART_PORT}) {
    parts.origin += part(which) + "\n";
  }
  parts.path = part(CURLUPART_PATH);
  return parts;
}

bool IsBelow(const Parts& url, const Parts& binding) {
  if (url.origin != binding.origin || !url.path.starts_with(binding.path)) return false;
  return url.path.size() == binding.path.size() || binding.path.ends_with('/') ||
         url.path[binding.path.size()] == '/';
}

std::string Joined(std::string base, std::string_view path) {
  if (path.empty()) return base;
  if (base.find('?') != std::string::npos) return base.append(path);  // goes on in the query
  if (base.ends_with('/') && path.starts_with('/')) path.remove_prefix(1);
  if (!base.ends_with('/') && !path.starts_with('/')) base += '/';
  return base.append(path);
}

}  // namespace

std::string RequestUrl(std::string_view binding, std::string_view path, std::string_view query) {
  const std::string base = Cleaned(binding.substr(0, binding.find('#')));
  const auto base_parts = Split(base);
  if (!base_parts) return "";
  std::string url = base;
  if (!Leaves(path)) {
    std::string below = Joined(base, Cleaned(path.substr(0, path.find('#'))));
    const auto parts = Split(below);
    if (!parts) return "";
    if (IsBelow(*parts, *base_parts)) url = std::move(below);
  }
  if (query.empty()) return url;
  const bool more = url.find('?') != std::string::npos;
  if (!more) url += '?';
  if (more && !url.ends_with('?') && !url.ends_with('&')) url += '&';
  return url.append(Cleaned(query));
}

}  // namespace sluice::function
