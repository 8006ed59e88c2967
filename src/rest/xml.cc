#include "rest/xml.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "json/print.h"
#include "rest/repeated_field.h"

namespace sluice::rest {
namespace {

using json::Value;

constexpr int kMaxDepth = 100;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
}

std::string_view TrimmedXml(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

void AppendUtf8(uint32_t code, std::string* out) {
  const auto add = [&](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add(0x80 | (code & 63));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 63));
    add(0x80 | (code & 63));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 63));
    add(0x80 | (code >> 6 & 63));
    add(0x80 | (code & 63));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Value> Parse() {
    if (!IsValidUtf8(text_)) return Unexpected(Wrong("expected UTF-8"));
    RETURN_IF_ERROR(SkipMisc());
    ASSIGN_OR_RETURN(Value root, ParseElement(1, nullptr));
    RETURN_IF_ERROR(SkipMisc());
    if (at_ != text_.size()) return Unexpected(Wrong("expected the end after the root element"));
    return root;
  }

 private:
  Status Wrong(std::string_view what) const {
    const auto line =
        1 + std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(at_), '\n');
    return Error(Code::kInvalidArgument, "flow.bad_body", "the body is not XML: {} (line {})", what,
                 line);
  }

  bool StartsWith(std::string_view prefix) const { return text_.substr(at_).starts_with(prefix); }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }

  Status SkipPast(std::string_view end) {
    const size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) return Wrong(fmt::format("'{}' is missing", end));
    at_ = found + end.size();
    return OkStatus();
  }

  // Blanks, comments and instructions around the root.
  Status SkipMisc() {
    while (true) {
      SkipSpace();
      if (StartsWith("<!--")) {
        RETURN_IF_ERROR(SkipPast("-->"));
      } else if (StartsWith("<?")) {
        RETURN_IF_ERROR(SkipPast("?>"));
      } else if (StartsWith("<!")) {
        return Wrong("document types are not taken");
      } else {
        return OkStatus();
      }
    }
  }

  Result<std::string_view> ParseName() {
    const size_t start = at_;
    while (at_ < text_.size() && IsNameCharacter(text_[at_])) ++at_;
    if (at_ == start) return Unexpected(Wrong("expected a name"));
    return text_.substr(start, at_ - start);
  }

  // Text with its references replaced.
  Status Decode(std::string_view raw, std::string* out) const {
    while (!raw.empty()) {
      const size_t ampersand = raw.find('&');
      *out += raw.substr(0, ampersand);
      if (ampersand == std::string_view::npos) return OkStatus();
      const size_t semicolon = raw.find(';', ampersand);
      if (semicolon == std::string_view::npos) return Wrong("'&' without ';'");
      RETURN_IF_ERROR(DecodeReference(raw.substr(ampersand + 1, semicolon - ampersand - 1), out));
      raw.remove_prefix(semicolon + 1);
    }
    return OkStatus();
  }

  Status DecodeReference(std::string_view name, std::string* out) const {
    constexpr std::pair<std::string_view, char> kNames[] = {
        {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (const auto& [known, character] : kNames) {
      if (name != known) continue;
      out->push_back(character);
      return OkStatus();
    }
    if (name.starts_with('#')) {
      const bool hex = name.starts_with("#x");
      const std::string_view digits = name.substr(hex ? 2 : 1);
      uint32_t code = 0;
      const auto read =
          std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
      const bool surrogate = code >= 0xD800 && code < 0xE000;
      if (read.ec == std::errc() && read.ptr == digits.data() + digits.size() && code > 0 &&
          code <= 0x10FFFF && !surrogate) {
        AppendUtf8(code, out);
        return OkStatus();
      }
    }
    return Wrong(fmt::format("'&{};' is unknown", name));
  }

  // The name goes to `name` unless that is null.
  Result<Value> ParseElement(int depth, std::string* name) {
    if (depth > kMaxDepth)
      return Unexpected(Wrong("there are too many elements inside each other"));
    if (!StartsWith("<")) return Unexpected(Wrong("expected an element"));
    ++at_;
    ASSIGN_OR_RETURN(const std::string_view tag, ParseName());
    if (name != nullptr) *name = tag;
    Value fields = Value::EmptyObject();
    RETURN_IF_ERROR(ParseAttributes(&fields));
    if (StartsWith("/>")) {
      at_ += 2;
      return fields.size() > 0 ? fields : Value("");
    }
    if (!StartsWith(">")) return Unexpected(Wrong("expected '>'"));
    ++at_;
    std::string text;
    RETURN_IF_ERROR(ParseContent(tag, depth, &fields, &text));
    const std::string_view trimmed = TrimmedXml(text);
    if (fields.size() == 0) return Value(trimmed);
    if (!trimmed.empty()) AddRepeated("value", Value(trimmed), &fields);
    return fields;
  }

  Status ParseAttributes(Value* fields) {
    while (true) {
      SkipSpace();
      if (at_ >= text_.size()) return Wrong("the text ends inside an element");
      if (StartsWith(">") || StartsWith("/>")) return OkStatus();
      ASSIGN_OR_RETURN(const std::string_view name, ParseName());
      SkipSpace();
      if (!StartsWith("=")) return Wrong("expected '=' after an attribute");
      ++at_;
      SkipSpace();
      const char quote = at_ < text_.size() ? text_[at_] : '\0';
      if (quote != '"' && quote != '\'') return Wrong("expected a quoted value");
      const size_t start = ++at_;
      RETURN_IF_ERROR(SkipPast(std::string_view(&quote, 1)));
      std::string value;
      RETURN_IF_ERROR(Decode(text_.substr(start, at_ - 1 - start), &value));
      AddRepeated(name, Value(value), fields);
    }
  }

  // Up to and with the end of the element.
  Status ParseContent(std::string_view tag, int depth, Value* fields, std::string* text) {
    while (true) {
      const size_t next = text_.find('<', at_);
      if (next == std::string_view::npos) return Wrong(fmt::format("</{}> is missing", tag));
      RETURN_IF_ERROR(Decode(text_.substr(at_, next - at_), text));
      at_ = next;
      if (StartsWith("</")) {
        at_ += 2;
        ASSIGN_OR_RETURN(const std::string_view name, ParseName());
        SkipSpace();
        if (name != tag || !StartsWith(">")) return Wrong(fmt::format("expected </{}>", tag));
        ++at_;
        return OkStatus();
      }
      if (StartsWith("<!--")) {
        RETURN_IF_ERROR(SkipPast("-->"));
      } else if (StartsWith("<![CDATA[")) {
        const size_t start = at_ + 9;
        RETURN_IF_ERROR(SkipPast("]]>"));
        *text += text_.substr(start, at_ - 3 - start);
      } else if (StartsWith("<?")) {
        RETURN_IF_ERROR(SkipPast("?>"));
      } else {
        std::string name;
        ASSIGN_OR_RETURN(Value value, ParseElement(depth + 1, &name));
        AddRepeated(name, std::move(value), fields);
      }
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
};

// What a field's name is as an element: letters, digits, _, - and . with a letter first.
std::string ElementName(std::string_view name) {
  std::string element;
  for (const char c : name) element += IsNameCharacter(c) && c != ':' ? c : '_';
  const bool starts = !element.empty() && (element[0] == '_' || (element[0] | 32) >= 'a');
  return starts ? element : "_" + element;
}

void Print(const std::string& name, const Value& value, std::string* out) {
  if (value.is_array()) {
    for (const Value& item : value.items()) Print(name, item, out);
    return;
  }
  *out += "<" + name + ">";
  if (value.is_object()) {
    for (const json::Field& field : value.fields())
      Print(ElementName(field.name()), field.value, out);
  } else if (value.is_string()) {
    *out += EscapeMarkup(value.AsString());
  } else if (!value.is_null() && !value.is_missing()) {
    *out += EscapeMarkup(json::ToText(value));
  }
  *out += "</" + name + ">";
}

}  // namespace

Result<Value> ParseXml(std::string_view text) { return Parser(text).Parse(); }

std::string PrintXml(const Value& value) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  if (!value.is_array()) {
    Print("result", value, &out);
    return out;
  }
  out += "<result>";
  for (const Value& item : value.items()) Print("item", item, &out);
  out += "</result>";
  return out;
}

std::string EscapeMarkup(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace sluice::rest
