#include "rest/document_http.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/base64.h"
#include "json/print.h"
#include "rest/expiry.h"
#include "rest/http_types.h"

namespace sluice::rest {
namespace {

void AppendNumber(uint64_t value, std::string* out) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out->append(digits, static_cast<size_t>(end - digits));
}

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// "123" with its quotes; a weak tag (W/"123") compares like a strong one here.
std::optional<db::Cas> ParseEntityTag(std::string_view tag) {
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  if (tag.size() < 3 || tag.front() != '"' || tag.back() != '"') return std::nullopt;
  tag = tag.substr(1, tag.size() - 2);
  db::Cas cas = 0;
  const auto [end, error] = std::from_chars(tag.data(), tag.data() + tag.size(), cas);
  if (error != std::errc() || end != tag.data() + tag.size()) return std::nullopt;
  return cas;
}

std::unexpected<Status> BadPrecondition(std::string_view header, std::string_view expected,
                                        std::string_view found) {
  return Fail(Code::kInvalidArgument, "http.bad_precondition", "{}: expected {}, found '{}'",
              header, expected, found);
}

}  // namespace

Result<Target> TargetOf(const Context& context, const Request& request) {
  const bool reads = request.method() == Method::kGet || request.method() == Method::kHead;
  return service::ResolveTarget(context.database, request.Param("keyspace"), request.Param("key"),
                                reads ? service::Access::kRead : service::Access::kWrite);
}

void AddEntityTag(Response& response, db::Cas cas) {
  char tag[24] = {'"'};
  char* end = std::to_chars(tag + 1, tag + sizeof tag - 1, cas).ptr;
  *end++ = '"';
  response.AddHeader("ETag", {tag, static_cast<size_t>(end - tag)});
}

bool HasEntityTag(std::string_view list, db::Cas cas) {
  if (Trim(list) == "*") return true;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (ParseEntityTag(Trim(list.substr(0, comma))) == cas) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

Result<db::Precondition> PreconditionOf(const Request& request) {
  const auto match = request.FindHeader("If-Match");
  const auto none_match = request.FindHeader("If-None-Match");
  if (match && none_match) {
    return BadPrecondition("If-Match", "no If-None-Match beside it", *match);
  }
  if (none_match) {
    if (Trim(*none_match) != "*") return BadPrecondition("If-None-Match", "*", *none_match);
    return db::Precondition::Absent();
  }
  if (!match) return db::Precondition::None();
  if (Trim(*match) == "*") return db::Precondition::Present();
  const auto cas = ParseEntityTag(Trim(*match));
  if (!cas || *cas == 0)
    return BadPrecondition("If-Match", "* or one ETag such as \"123\"", *match);
  return db::Precondition::CasIs(*cas);
}

Result<uint64_t> ExpiryOf(const Context& context, const Request& request) {
  auto text = request.Query("expiry");
  if (!text) text = request.FindHeader("X-Sluice-Expiry");
  if (!text) return 0;
  return ParseExpiry(*text, context.clock.WallMs());
}

void AppendOnOneLine(std::string_view json, std::string* out) {
  const size_t start = out->size();
  out->append(json);
  for (size_t at = out->find_first_of("\r\n", start); at != std::string::npos;
       at = out->find_first_of("\r\n", at + 1)) {
    (*out)[at] = ' ';
  }
}

void AppendValueMember(const db::DocumentView& document, std::string* out) {
  if (document.datatype == db::Datatype::kJson) {
    out->append(R"(,"value":)");
    AppendOnOneLine(document.body, out);
    return;
  }
  out->append(R"(,"base64":")");
  AppendBase64(document.body, out);
  out->push_back('"');
}

void AppendErrorMember(const Status& error, std::string* out) {
  out->append(R"(,"error":)");
  AppendError(error, out);
}

void AppendUnreadableRow(std::string_view key, const Status& error, std::string* out) {
  out->append(R"({"key":)");
  json::AppendQuoted(key, out);
  AppendErrorMember(error, out);
  out->push_back('}');
}

void AppendDocumentRow(std::string_view key, const db::DocumentView& document, RowValues values,
                       std::string* out) {
  out->append(R"({"key":)");
  json::AppendQuoted(key, out);
  out->append(R"(,"cas":")");
  AppendNumber(document.cas, out);
  out->push_back('"');
  if (document.expiry_ms != 0) {
    out->append(R"(,"expiry":)");
    AppendNumber(document.expiry_ms, out);
  }
  if (values == RowValues::kInclude) {
    if (document.flags != 0) {
      out->append(R"(,"flags":)");
      AppendNumber(document.flags, out);
    }
    if (!document.xattrs.empty()) {
      out->append(R"(,"xattrs":)");
      AppendOnOneLine(document.xattrs, out);
    }
    AppendValueMember(document, out);
  }
  out->push_back('}');
}

std::string ActorOf(const Request& request) {
  return request.principal() == nullptr ? "" : std::string(request.principal()->name());
}

service::Caller CallerOf(Request& request) { return {request.exchange(), ActorOf(request)}; }

Content WrittenContent() {
  return {.description = "the new version",
          .schema = R"({"type":"object","properties":{"cas":{"type":"string"},)"
                    R"("sequence":{"type":"integer"}}})"};
}

void SetViolation(const db::WriteResult& written, json::Value* view) {
  if (!written.diverted_to.empty()) view->Set("quarantined", written.diverted_to);
  if (written.violation.ok()) return;
  json::Value violation = json::Value::Object(
      {{"id", written.violation.id()}, {"message", written.violation.message()}});
  if (const auto found = written.violation.fields().find("violations");
      found != written.violation.fields().end()) {
    if (auto list = json::Parse(found->second)) violation.Set("violations", std::move(*list));
  }
  view->Set("violation", std::move(violation));
}

void AppendViolation(const db::WriteResult& written, std::string* out) {
  if (written.diverted_to.empty() && written.violation.ok()) return;
  json::Value members = json::Value::EmptyObject();
  SetViolation(written, &members);
  const std::string text = json::ToText(members);
  out->push_back(',');
  out->append(text, 1, text.size() - 2);
}

void AnswerWrite(Response& response, const db::CommitResult& result, Outcome outcome) {
  const db::WriteResult& written = result.writes.front();
  const db::Cas cas = written.cas;
  std::string body = R"({"cas":")";
  AppendNumber(cas, &body);
  body.append(R"(","sequence":)");
  AppendNumber(result.sequence, &body);
  AppendViolation(written, &body);
  body.append("}\n");
  if (!written.diverted_to.empty()) return response.Json(202, std::move(body));
  AddEntityTag(response, cas);
  response.Json(outcome == Outcome::kCreated ? 201 : 200, std::move(body));
}

void AnswerFailedWrite(const Context& context, const Request& request, Response& response,
                       const Status& error, const Target& target, db::Precondition condition) {
  const bool about_document = error.id() == "document.cas_mismatch" ||
                              error.id() == "document.exists" || error.id() == "document.not_found";
  const bool asked = request.FindHeader("If-Match") || request.FindHeader("If-None-Match");
  const bool failed_condition = about_document && asked;
  if (!failed_condition) return response.Error(error);
  if (condition.kind != db::Precondition::Kind::kPresent) {
    db::PinnedDocument present;
    const Result<bool> found =
        context.database.read_forms().GetStored(target.keyspace, target.key, &present);
    if (found && *found) AddEntityTag(response, present->cas);
  }
  response.Error(412, error);
}

}  // namespace sluice::rest
