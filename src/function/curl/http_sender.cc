#include "function/curl/http_sender.h"

#include <algorithm>
#include <cctype>

namespace sluice::function {

std::string MediaType(std::string_view content_type) {
  std::string_view text = content_type.substr(0, content_type.find(';'));
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  std::string type(text);
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
  return type;
}

}  // namespace sluice::function
