#include "function/trial/trial.h"

#include <algorithm>
#include <initializer_list>
#include <set>

#include "base/base64.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "function/trial/path.h"
#include "json/parse.h"
#include "query/functions/date_format.h"

namespace sluice::function::trial {
namespace {

using json::Value;

constexpr char kDefaultNow[] = "2026-01-01T00:00:00Z";

std::optional<uint64_t> ParseMoment(std::string_view text) {
  const std::optional<query::Moment> moment = query::ParseDate(text, "", {});
  if (!moment || moment->seconds < 0) return std::nullopt;
  return static_cast<uint64_t>(moment->seconds) * 1000 +
         static_cast<uint64_t>(moment->nanos / 1'000'000);
}

// Walks the file and keeps the first thing that is wrong with it.
class Reader {
 public:
  Status status;
  std::set<db::KeyspaceName> keyspaces;

  void ReadTrial(const Value& root, Trial* trial) {
    if (!Known(root, "", {"about", "function", "now", "documents", "http", "steps", "expect"})) {
      return;
    }
    trial->about = Text(root, "", "about", "");
    trial->function = Text(root, "", "function", std::nullopt);
    const std::string now = Text(root, "", "now", kDefaultNow);
    if (const auto moment = ParseMoment(now); moment && *moment <= kLastMs) {
      trial->now_ms = *moment;
    } else {
      Wrong("now", "a moment such as 2026-01-01T00:00:00Z", root["now"]);
    }
    ReadDocuments(root["documents"], &trial->documents);
    Each(root["http"], "http", [&](const Value& item, const std::string& where) {
      trial->http.push_back(ReadExchange(item, where));
    });
    Each(root["steps"], "steps", [&](const Value& item, const std::string& where) {
      trial->steps.push_back(ReadStep(item, where));
    });
    trial->expect = ReadExpectations(root["expect"], "expect");
  }

 private:
  void Fail(const std::string& where, const std::string& what) {
    if (!status.ok()) return;
    status = Error(Code::kInvalidArgument, "trial.invalid", "{}{}{}", where,
                   where.empty() ? "" : ": ", what);
  }
  void Wrong(const std::string& where, std::string_view expected, const Value& got) {
    Fail(where,
         fmt::format("expected {}, got {}", expected, got.is_missing() ? "nothing" : Short(got)));
  }

  // False when it is no object, or has a field of another name.
  bool Known(const Value& object, const std::string& where,
             std::initializer_list<std::string> names) {
    if (!object.is_object()) {
      Wrong(where, "an object", object);
      return false;
    }
    for (const json::Field& field : object.fields()) {
      if (std::ranges::count(names, field.name()) != 0) continue;
      Fail(where, fmt::format("unknown key '{}'{}", field.name(),
                              DidYouMean(field.name(), std::vector<std::string>(names))));
      return false;
    }
    return true;
  }

  // Without a default it must be there.
  std::string Text(const Value& object, const std::string& where, std::string_view name,
                   std::optional<std::string> otherwise) {
    const Value& value = object[name];
    if (value.is_missing() && otherwise) return *otherwise;
    if (value.is_string()) return std::string(value.AsString());
    Wrong(Below(where, name), "a string", value);
    return "";
  }

  uint64_t Duration(const Value& value, const std::string& where) {
    const auto ms = value.is_string() ? ParseDurationMs(value.AsString()) : Result<uint64_t>(0);
    if (value.is_string() && ms && *ms <= kLastMs) return *ms;
    Wrong(where, "a duration such as \"90s\" or \"1h\"", value);
    return 0;
  }

  template <typename Visit>
  void Each(const Value& list, const std::string& where, const Visit& visit) {
    if (list.is_missing()) return;
    if (!list.is_array()) return Wrong(where, "an array", list);
    for (size_t i = 0; i < list.size(); ++i) visit(list[i], Below(where, i));
  }

  db::KeyspaceName Keyspace(std::string_view text, const std::string& where) {
    const auto name = db::KeyspaceName::Parse(text);
    if (!name) {
      Fail(where, name.error().message());
      return {};
    }
    keyspaces.insert(*name);
    return *name;
  }

  std::optional<db::KeyspaceName> In(const Value& step, const std::string& where) {
    const std::string in = Text(step, where, "in", "");
    if (in.empty()) return std::nullopt;
    return Keyspace(in, Below(where, "in"));
  }

  void CheckBinary(const Value& value, const std::string& where) {
    const Value& base64 = value["$base64"];
    if (base64.is_missing()) return;
    if (!base64.is_string() || !FromBase64(base64.AsString())) {
      Wrong(Below(where, "$base64"), "Base64", base64);
    }
  }

  void ReadDocuments(const Value& documents, std::vector<Put>* puts) {
    if (documents.is_missing()) return;
    if (!documents.is_object()) return Wrong("documents", "an object", documents);
    for (const json::Field& keyspace : documents.fields()) {
      const std::string where = Below("documents", keyspace.name());
      const db::KeyspaceName name = Keyspace(keyspace.name(), where);
      if (!keyspace.value.is_object()) return Wrong(where, "documents by key", keyspace.value);
      for (const json::Field& document : keyspace.value.fields()) {
        CheckBinary(document.value, Below(where, document.name()));
        puts->push_back(
            {.keyspace = name, .key = std::string(document.name()), .value = document.value});
      }
    }
  }

  Step ReadStep(const Value& step, const std::string& where) {
    if (!step["put"].is_missing()) return ReadPut(step, where);
    if (!step["delete"].is_missing()) {
      if (!Known(step, where, {"delete", "in"})) return {};
      return Delete{In(step, where), Text(step, where, "delete", std::nullopt)};
    }
    if (!step["advance"].is_missing()) {
      if (!Known(step, where, {"advance"})) return {};
      return Advance{Duration(step["advance"], Below(where, "advance"))};
    }
    if (!step["expect"].is_missing()) {
      if (!Known(step, where, {"expect"})) return {};
      return ReadExpectations(step["expect"], Below(where, "expect"));
    }
    Wrong(where, "a step with put, delete, advance or expect", step);
    return {};
  }

  Put ReadPut(const Value& step, const std::string& where) {
    Put put;
    if (!Known(step, where, {"put", "in", "value", "xattrs", "expiry"})) return put;
    put.keyspace = In(step, where);
    put.key = Text(step, where, "put", std::nullopt);
    put.value = step["value"];
    if (put.value.is_missing()) Wrong(Below(where, "value"), "a document", put.value);
    CheckBinary(put.value, Below(where, "value"));
    put.xattrs = step["xattrs"];
    if (!put.xattrs.is_missing() && !put.xattrs.is_object()) {
      Wrong(Below(where, "xattrs"), "an object", put.xattrs);
    }
    if (!step["expiry"].is_missing()) {
      put.expiry_ms = Duration(step["expiry"], Below(where, "expiry"));
    }
    return put;
  }

  Expectations ReadExpectations(const Value& value, const std::string& where) {
    Expectations expect{.last = where == "expect", .where = where};
    if (value.is_missing() && expect.last) return expect;
    if (!Known(value, where, {"documents", "log", "timers", "failures", "statistics", "refused"})) {
      return expect;
    }
    expect.documents = value["documents"];
    expect.statistics = value["statistics"];
    for (const auto& [name, part] :
         {std::pair("documents", &expect.documents), std::pair("statistics", &expect.statistics)}) {
      CheckTwoLevels(*part, Below(where, name));
    }
    for (const json::Field& field : expect.documents.fields()) {
      expect.keyspaces.push_back(
          Keyspace(field.name(), Below(Below(where, "documents"), field.name())));
    }
    expect.log = Texts(value["log"], Below(where, "log"));
    expect.failures = Texts(value["failures"], Below(where, "failures"));
    expect.timers = value["timers"];
    Each(expect.timers, Below(where, "timers"),
         [&](const Value& timer, const std::string& place) { CheckTimer(timer, place); });
    if (!value["refused"].is_missing()) {
      expect.refused = Text(value, where, "refused", std::nullopt);
      if (!expect.last) Fail(Below(where, "refused"), "only the last 'expect' has it");
    }
    return expect;
  }

  void CheckTwoLevels(const Value& value, const std::string& where) {
    if (value.is_missing()) return;
    if (!value.is_object()) return Wrong(where, "an object", value);
    for (const json::Field& field : value.fields()) {
      if (!field.value.is_object()) Wrong(Below(where, field.name()), "an object", field.value);
    }
  }

  Value Texts(const Value& list, const std::string& where) {
    Each(list, where, [&](const Value& item, const std::string& place) {
      if (!item.is_string()) Wrong(place, "a string", item);
    });
    return list;
  }

  void CheckTimer(const Value& timer, const std::string& where) {
    if (!Known(timer, where, {"callback", "reference", "due", "context"})) return;
    Text(timer, where, "callback", "");
    Text(timer, where, "reference", "");
    if (!timer["due"].is_missing() && !ParseMoment(Text(timer, where, "due", ""))) {
      Wrong(Below(where, "due"), "a moment such as 2026-01-01T00:00:00Z", timer["due"]);
    }
  }

  Exchange ReadExchange(const Value& value, const std::string& where) {
    Exchange exchange;
    if (!Known(value, where, {"request", "response", "error"})) return exchange;
    const Value& request = value["request"];
    const std::string in_request = Below(where, "request");
    if (!Known(request, in_request, {"method", "url", "headers", "body"})) return exchange;
    exchange.method = Text(request, in_request, "method", "GET");
    exchange.url = Text(request, in_request, "url", std::nullopt);
    exchange.headers = request["headers"];
    Headers(exchange.headers, Below(in_request, "headers"));
    exchange.body = request["body"];
    exchange.error = Text(value, where, "error", "");
    const Value& response = value["response"];
    const std::string in_response = Below(where, "response");
    if (response.is_missing() == exchange.error.empty()) {
      Fail(where, "expected either a response or an error");
    }
    if (response.is_missing() || !Known(response, in_response, {"status", "headers", "body"})) {
      return exchange;
    }
    const Value& code = response["status"];
    if (code.is_int() && code.AsInt() >= 100 && code.AsInt() <= 599) {
      exchange.status = static_cast<int>(code.AsInt());
    } else if (!code.is_missing()) {
      Wrong(Below(in_response, "status"), "a number from 100 to 599", code);
    }
    exchange.response_headers = Headers(response["headers"], Below(in_response, "headers"));
    exchange.response_body = response["body"];
    return exchange;
  }

  std::vector<std::pair<std::string, std::string>> Headers(const Value& headers,
                                                           const std::string& where) {
    std::vector<std::pair<std::string, std::string>> list;
    if (headers.is_missing()) return list;
    if (!headers.is_object()) Wrong(where, "an object", headers);
    for (const json::Field& field : headers.fields()) {
      if (!field.value.is_string()) {
        Wrong(Below(where, field.name()), "a string", field.value);
        continue;
      }
      list.emplace_back(field.name(), field.value.AsString());
    }
    return list;
  }
};

}  // namespace

Result<Trial> ParseTrial(std::string_view text) {
  ASSIGN_OR_RETURN(const Value root, json::Parse(text));
  Reader reader;
  Trial trial;
  reader.ReadTrial(root, &trial);
  RETURN_IF_ERROR(reader.status);
  trial.keyspaces.assign(reader.keyspaces.begin(), reader.keyspaces.end());
  return trial;
}

std::string PrintMoment(uint64_t unix_ms) {
  std::string text;
  json::AppendDatetime({static_cast<int64_t>(unix_ms) * 1000}, &text);
  return text;
}

std::optional<uint64_t> MomentOf(const Value& value) {
  return value.is_string() ? ParseMoment(value.AsString()) : std::nullopt;
}

}  // namespace sluice::function::trial
