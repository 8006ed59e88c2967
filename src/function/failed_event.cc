// The text is a JSON object. Its `operation` is that of the change, or "timer".
// A change: keyspace, key, cas (as text), sequence, and unless it is a deletion datatype and
// expiry_ms; "data": "left_out" when its data were too large or unreadable. Data: strings body,
// xattrs, previous. A timer: callback, reference. Data: its context.
#include "function/failed_event.h"

#include <charconv>

#include "base/base64.h"
#include "base/bytes.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::function {
namespace {

using json::Value;

constexpr std::string_view kTimerOperation = "timer";
constexpr std::string_view kLeftOut = "left_out";
constexpr db::Operation kOperations[] = {db::Operation::kInsert, db::Operation::kUpdate,
                                         db::Operation::kDelete, db::Operation::kExpire};

struct Data {
  std::string_view body;
  std::string_view xattrs;
  std::string_view previous;
};

Status Corrupt() {
  return Error(Code::kCorruption, "failure.corrupt", "a stored failure is malformed");
}

std::string Encode(const Data& data) {
  std::string payload;
  for (const std::string_view part : {data.body, data.xattrs, data.previous}) {
    AppendString(&payload, part);
  }
  return payload;
}

Result<Data> Decode(std::string_view payload) {
  Data data;
  ByteReader reader(payload);
  for (std::string_view* part : {&data.body, &data.xattrs, &data.previous}) *part = reader.String();
  if (!reader.ok() || !reader.AtEnd()) return Unexpected(Corrupt());
  return data;
}

// A member of an event's text.
std::string TextOf(const Value& text, std::string_view name) {
  const Value& value = text[name];
  return value.is_string() ? std::string(value.AsString()) : "";
}
uint64_t NumberOf(const Value& text, std::string_view name) {
  const Value& value = text[name];
  return value.is_int() ? static_cast<uint64_t>(value.AsInt()) : 0;
}
bool IsTimer(const Value& text) { return TextOf(text, "operation") == kTimerOperation; }
bool IsLeftOut(const Value& text) { return TextOf(text, "data") == kLeftOut; }

Result<db::Operation> OperationOf(const Value& text) {
  for (const db::Operation operation : kOperations) {
    if (TextOf(text, "operation") == db::OperationName(operation)) return operation;
  }
  return Unexpected(Corrupt());
}

// Of an event whose data were left out: the document as it is now.
Status ReadDocument(const db::Database& database, Event* event) {
  ASSIGN_OR_RETURN(std::optional<db::Document> document, database.Get(event->keyspace, event->key));
  if (!document) {
    return Error(Code::kNotFound, "failure.document_gone",
                 "the document '{}' was not kept with the event, and it no longer exists",
                 event->key);
  }
  event->body = std::move(document->body);
  event->xattrs = std::move(document->xattrs);
  event->datatype = document->datatype;
  event->cas = document->cas;
  event->sequence = document->sequence;
  event->expiry_ms = document->expiry_ms;
  return OkStatus();
}

Result<Event> ChangeOf(const db::Database& database, const Value& text, std::string_view payload) {
  Event event;
  ASSIGN_OR_RETURN(event.operation, OperationOf(text));
  ASSIGN_OR_RETURN(const db::KeyspaceName name, db::KeyspaceName::Parse(TextOf(text, "keyspace")));
  ASSIGN_OR_RETURN(event.keyspace, database.Resolve(name));
  event.key = TextOf(text, "key");
  if (IsLeftOut(text)) {
    RETURN_IF_ERROR(ReadDocument(database, &event));
    return event;
  }
  const std::string cas = TextOf(text, "cas");
  std::from_chars(cas.data(), cas.data() + cas.size(), event.cas);
  event.sequence = NumberOf(text, "sequence");
  event.expiry_ms = NumberOf(text, "expiry_ms");
  if (TextOf(text, "datatype") == "binary") event.datatype = db::Datatype::kBinary;
  ASSIGN_OR_RETURN(const Data data, Decode(payload));
  event.body = data.body;
  event.xattrs = data.xattrs;
  event.previous = data.previous;
  return event;
}

Status BadEdit(std::string_view expected) {
  return Error(Code::kInvalidArgument, "failure.bad_edit", "expected {}", expected);
}

}  // namespace

FailedEvent KeptEvent(const Event& event, const db::KeyspaceName& keyspace) {
  Value text = Value::Object({{"operation", db::OperationName(event.operation)},
                              {"keyspace", keyspace.ToString()},
                              {"key", event.key},
                              {"cas", std::to_string(event.cas)},
                              {"sequence", Value::Unsigned(event.sequence)}});
  FailedEvent kept;
  if (HasDocument(event.operation)) {
    text.Set("datatype", event.datatype == db::Datatype::kJson ? "json" : "binary");
    text.Set("expiry_ms", Value::Unsigned(event.expiry_ms));
    const Data data{event.body, event.xattrs, event.previous};
    if (data.body.size() + data.xattrs.size() + data.previous.size() > kMaxKeptEventBytes ||
        !event.unreadable.empty()) {
      text.Set("data", kLeftOut);
    } else {
      kept.payload = Encode(data);
    }
  } else {
    kept.payload = Encode({});
  }
  kept.text = json::ToText(text);
  return kept;
}

FailedEvent KeptEvent(const timer::Timer& timer) {
  const Value text = Value::Object({{"operation", kTimerOperation},
                                    {"callback", timer.callback},
                                    {"reference", timer.reference}});
  return {json::ToText(text), timer.context};
}

Result<EventAgain> AgainOf(const db::Database& database, const failure::Failure& failure,
                           std::string_view payload) {
  ASSIGN_OR_RETURN(const Value text, json::Parse(failure.event));
  if (IsTimer(text)) {
    timer::Timer timer;
    timer.callback = TextOf(text, "callback");
    timer.reference = TextOf(text, "reference");
    timer.context = payload;
    return timer;
  }
  return ChangeOf(database, text, payload);
}

Value PrintEvent(const failure::Failure& failure) {
  const Result<Value> text = json::Parse(failure.event);
  return text ? *text : Value::EmptyObject();
}

Result<Value> PrintEvent(const failure::Failure& failure, std::string_view payload) {
  Value view = PrintEvent(failure);
  const auto set_json = [&](std::string_view name, std::string_view text) {
    if (text.empty()) return;
    if (Result<Value> value = json::Parse(text)) view.Set(name, std::move(*value));
  };
  if (IsTimer(view)) {
    set_json("context", payload);
    return view;
  }
  ASSIGN_OR_RETURN(const db::Operation operation, OperationOf(view));
  if (!HasDocument(operation) || IsLeftOut(view)) return view;
  ASSIGN_OR_RETURN(const Data data, Decode(payload));
  if (TextOf(view, "datatype") == "binary") {
    view.Set("document_base64", ToBase64(data.body));
  } else {
    set_json("document", data.body);
  }
  set_json("xattrs", data.xattrs);
  set_json("previous", data.previous);
  return view;
}

Status EditEvent(const Value& changes, failure::Failure* failure, std::string* payload) {
  Value text = PrintEvent(*failure);
  if (IsTimer(text)) {
    const Value& context = changes["context"];
    if (changes.size() != 1 || context.is_missing()) return BadEdit("{\"context\": …} of a timer");
    *payload = json::ToText(context);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const db::Operation operation, OperationOf(text));
  if (!HasDocument(operation)) return BadEdit("an event with a document; this is a deletion");
  const Value& document = changes["document"];
  if (changes.size() != 1 || document.is_missing()) return BadEdit("{\"document\": …}");
  Data data;
  const std::string before = *payload;
  if (!IsLeftOut(text)) {
    ASSIGN_OR_RETURN(data, Decode(before));
  }
  const std::string body = json::ToText(document);
  data.body = body;
  *payload = Encode(data);
  text.Set("datatype", "json");
  text.Remove("data");
  failure->event = json::ToText(text);
  return OkStatus();
}

}  // namespace sluice::function
