// The natives of library/buckets.js.
#include <algorithm>

#include "function/document_cache.h"
#include "function/handler.h"
#include "function/place.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::function {
namespace {

db::Document DocumentOf(script::Call& call, size_t payload) {
  db::Document document;
  const bool bytes = call.kind(payload) == script::Kind::kBytes;
  document.datatype = bytes ? db::Datatype::kBinary : db::Datatype::kJson;
  document.body = bytes ? std::string(call.Bytes(payload)) : call.String(payload);
  return document;
}

// Of a Document or a view of one.
template <typename Document>
void ReturnDocument(script::Call& call, const Document& document) {
  const bool json = document.datatype == db::Datatype::kJson;
  const std::string cas = std::to_string(document.cas);
  call.ReturnList({json ? script::Argument(script::Json{document.body})
                        : script::Argument(script::Bytes{document.body}),
                   std::string_view(cas), static_cast<double>(document.expiry_ms / 1000),
                   std::string_view(json ? "json" : "binary")});
}

// The names by which handlers of Couchbase know the errors, and where they are counted.
struct KvError {
  std::string_view id;
  std::string_view name;
  Count Statistics::*count;
};
constexpr KvError kKvErrors[] = {
    {"bucket.not_found", "LCB_ERR_BUCKET_NOT_FOUND", &Statistics::no_bucket},
    {"collection.not_found", "LCB_ERR_COLLECTION_NOT_FOUND", &Statistics::no_collection},
    {"document.invalid_key", "LCB_ERR_INVALID_ARGUMENT", &Statistics::invalid_keys},
    {"document.too_large", "LCB_ERR_VALUE_TOO_LARGE", &Statistics::values_too_large},
    {"json.too_large", "LCB_ERR_VALUE_TOO_LARGE", &Statistics::values_too_large},
    {"scope.not_found", "LCB_ERR_SCOPE_NOT_FOUND", &Statistics::no_scope}};

}  // namespace

void Handler::ThrowKv(script::Call& call, const Status& status) {
  ++statistics_->kv_exceptions;
  const KvError* const known = std::ranges::find(kKvErrors, status.id(), &KvError::id);
  const bool is_known = known != std::end(kKvErrors);
  if (is_known) ++(statistics_->*known->count);
  call.Throw(
      "KVError", status.message(),
      json::ToText(json::Value::Object({{"code", 0},
                                        {"name", is_known ? std::string(known->name) : status.id()},
                                        {"desc", status.message()}})));
}

void Handler::AnswerStored(script::Call& call, const Result<db::Cas>& stored) {
  if (stored) return ReturnStamp(call, OkStatus(), *stored);
  if (!IsSoft(stored.error())) return ThrowKv(call, stored.error());
  if (IsMismatch(stored.error())) ++statistics_->cas_mismatches;
  ReturnStamp(call, stored.error(), 0);
}

std::vector<script::Native> Handler::BucketNatives() {
  return {
      {"get", [this](script::Call& call) { Get(call); }},
      {"set", [this](script::Call& call) { Set(call); }},
      {"remove", [this](script::Call& call) { Remove(call); }},
      {"fetch", [this](script::Call& call) { Fetch(call); }},
      {"store", [this](script::Call& call) { Store(call); }},
      {"erase", [this](script::Call& call) { Erase(call); }},
      {"touch", [this](script::Call& call) { Touch(call); }},
      {"count", [this](script::Call& call) { Count(call); }},
  };
}

std::optional<db::KeyspaceId> Handler::KeyspaceOf(script::Call& call, size_t binding,
                                                  std::optional<size_t> names) {
  // The library asks for its own bindings; a debugger's client can call with anything.
  if (binding >= definition_->buckets.size()) {
    call.Throw("EventingError", "there is no such binding");
    return std::nullopt;
  }
  const BucketBinding& bound = definition_->buckets[binding];
  if (!bound.wildcard() && keyspaces_[binding]) return keyspaces_[binding];
  db::KeyspaceName name = bound.keyspace;
  if (bound.wildcard() && names) {
    name.scope = call.String(*names);
    name.collection = call.String(*names + 1);
  }
  const Result<db::KeyspaceId> keyspace = services_.database.Resolve(name);
  if (!keyspace) {
    ThrowKv(call, keyspace.error());
    return std::nullopt;
  }
  if (!bound.wildcard()) keyspaces_[binding] = *keyspace;
  return *keyspace;
}

DocumentCache& Handler::Cache() {
  if (cache_ == nullptr) {
    const Settings& settings = definition_->settings;
    cache_ = std::make_unique<DocumentCache>(settings.cache_bytes, settings.cache_age_ms);
  }
  return *cache_;
}

bool Handler::MayWrite(script::Call& call, db::KeyspaceId keyspace, size_t key) {
  const auto binding = static_cast<size_t>(call.Number(key - kKey + kBinding));
  if (!definition_->buckets[binding].writes_documents()) {
    call.Throw("EventingError", "Writing to source bucket is forbidden");
    return false;
  }
  if (cache_ != nullptr) cache_->Erase(keyspace, call.String(key));
  const bool more = !transaction_->Wrote(keyspace, call.String(key));
  const Status written = CheckWritten(more ? 1 : 0);
  if (!written.ok()) call.Throw("EventingError", written.message());
  return written.ok();
}

Status Handler::CheckWritten(size_t more) const {
  const InvocationLimits& limits = services_.limits;
  if (transaction_->writes() - writes_before_ + more > limits.documents) {
    return Error(Code::kTooLarge, "function.too_many_writes",
                 "an invocation may write at most {} documents (functions.max_documents)",
                 limits.documents);
  }
  if (transaction_->bytes() - bytes_before_ <= limits.bytes) return OkStatus();
  return Error(Code::kTooLarge, "function.too_many_writes",
               "an invocation may write at most {} bytes (functions.max_document_bytes)",
               limits.bytes);
}

// Text from JSON.stringify is JSON, but may be nested more deeply than a document may be.
bool Handler::MayStore(script::Call& call, const db::Document& document) {
  if (document.datatype != db::Datatype::kJson) return true;
  const Status valid = json::Validate(document.body);
  if (!valid.ok()) ThrowKv(call, valid);
  return valid.ok();
}

// binding, key, whether the library throws when there is no document.
void Handler::Get(script::Call& call) {
  const auto keyspace = KeyspaceOf(call, static_cast<size_t>(call.Number(0)));
  if (!keyspace) return;
  db::PinnedDocument document;
  const Result<bool> found = transaction_->Get(*keyspace, call.String(1), &document);
  if (!found) return ThrowKv(call, found.error());
  if (!*found) {
    if (call.Boolean(2)) {
      ++statistics_->kv_exceptions;
      ++statistics_->missing_keys;
    }
    return;
  }
  if (document->datatype == db::Datatype::kJson) return call.ReturnJson(document->body);
  call.ReturnBytes(document->body);
}

void Handler::Set(script::Call& call) {
  const auto keyspace = KeyspaceOf(call, static_cast<size_t>(call.Number(0)));
  if (!keyspace || !MayWrite(call, *keyspace, kKey)) return;
  db::Document document = DocumentOf(call, 2);
  if (!MayStore(call, document)) return;
  const Result<db::Cas> stored = transaction_->Put(*keyspace, call.String(1), std::move(document),
                                                   {.keep_xattrs = true, .unstamped = true});
  if (!stored) ThrowKv(call, stored.error());
}

void Handler::Remove(script::Call& call) {
  const auto keyspace = KeyspaceOf(call, static_cast<size_t>(call.Number(0)));
  if (!keyspace || !MayWrite(call, *keyspace, kKey)) return;
  const Status removed = transaction_->Delete(*keyspace, call.String(1));
  if (!removed.ok() && !IsSoft(removed)) return ThrowKv(call, removed);
  call.Return(removed.ok());
}

// place, whether the cache may answer.
void Handler::Fetch(script::Call& call) {
  const auto keyspace = KeyspaceOf(call, static_cast<size_t>(call.Number(kBinding)), kNames);
  if (!keyspace) return;
  const std::string key = call.String(kKey);
  // The cache takes no document that is not committed yet, because its write may be undone.
  const bool cached = call.Boolean(kAfterPlace) && !transaction_->Wrote(*keyspace, key);
  const uint64_t now_ns = services_.clock.MonotonicNs();
  if (cached) {
    const db::Document* known = Cache().Find(*keyspace, key, now_ns);
    if (known != nullptr) return ReturnDocument(call, *known);
    ++statistics_->cache_misses;
  }
  db::PinnedDocument document;
  const Result<bool> found = transaction_->Get(*keyspace, key, &document);
  if (!found) return ThrowKv(call, found.error());
  if (!*found) return;
  if (cached && !Cache().Put(*keyspace, key, document->Copy(), now_ns)) {
    ++statistics_->cache_overflows;
  }
  ReturnDocument(call, document.view());
}

// operation, place, payload, cas, expiry in seconds, self recursion.
void Handler::Store(script::Call& call) {
  const std::string operation = call.String(0);
  const size_t place = 1;
  const auto keyspace =
      KeyspaceOf(call, static_cast<size_t>(call.Number(place + kBinding)), place + kNames);
  if (!keyspace || !MayWrite(call, *keyspace, place + kKey)) return;
  const size_t rest = place + kAfterPlace;
  db::Document document = DocumentOf(call, rest);
  if (!MayStore(call, document)) return;
  document.expiry_ms = static_cast<uint64_t>(call.Number(rest + 2)) * 1000;
  db::TransactionWriteOptions options;
  options.anonymous = call.Boolean(rest + 3);
  options.keep_xattrs = true;
  const std::string key = call.String(place + kKey);
  if (operation == "insert") {
    return AnswerStored(call, transaction_->Insert(*keyspace, key, std::move(document), options));
  }
  if (operation == "upsert") {
    return AnswerStored(call, transaction_->Put(*keyspace, key, std::move(document), options));
  }
  const std::string cas = call.String(rest + 1);
  if (!cas.empty()) {
    const std::optional<db::Cas> expected = CasOf(cas);
    if (!expected) return call.Throw("TypeError", "cas should be the string that a read returned");
    options.cas = *expected;
  }
  AnswerStored(call, transaction_->Replace(*keyspace, key, std::move(document), options));
}

void Handler::Erase(script::Call& call) {
  const auto keyspace = KeyspaceOf(call, static_cast<size_t>(call.Number(kBinding)), kNames);
  if (!keyspace || !MayWrite(call, *keyspace, kKey)) return;
  const std::string text = call.String(kAfterPlace);
  const std::optional<db::Cas> cas = text.empty() ? db::Cas{0} : CasOf(text);
  if (!cas) return call.Throw("TypeError", "cas should be the string that a read returned");
  const Status erased = transaction_->Delete(*keyspace, call.String(kKey), *cas);
  if (!erased.ok() && !IsSoft(erased)) return ThrowKv(call, erased);
  if (IsMismatch(erased)) ++statistics_->cas_mismatches;
  call.Return(std::string_view(erased.ok() ? "" : erased.id()));
}

void Handler::Touch(script::Call& call) {
  const auto keyspace = KeyspaceOf(call, static_cast<size_t>(call.Number(kBinding)), kNames);
  if (!keyspace || !MayWrite(call, *keyspace, kKey)) return;
  AnswerStored(call, transaction_->Touch(*keyspace, call.String(kKey),
                                         static_cast<uint64_t>(call.Number(kAfterPlace)) * 1000));
}

// A counter is a document {"count": n}; it is made when it is not there.
void Handler::Count(script::Call& call) {
  const auto keyspace = KeyspaceOf(call, static_cast<size_t>(call.Number(kBinding)), kNames);
  if (!keyspace || !MayWrite(call, *keyspace, kKey)) return;
  const std::string key = call.String(kKey);
  db::PinnedDocument present;
  const Result<bool> found = transaction_->Get(*keyspace, key, &present);
  if (!found) return ThrowKv(call, found.error());
  json::Value body = json::Value::Object({{"count", 0}});
  db::Document document;
  if (*found) {
    document = present->Copy();
    Result<json::Value> parsed = json::Parse(document.body);
    if (!parsed || !(*parsed)["count"].is_int()) {
      return ReturnStamp(
          call,
          Error(Code::kInvalidArgument, "document.not_counter", "the document is not a counter"),
          0);
    }
    body = std::move(*parsed);
  }
  const int64_t value = body["count"].AsInt() + static_cast<int64_t>(call.Number(kAfterPlace));
  body.Set("count", value);
  document.body = json::ToText(body);
  const Result<db::Cas> stored = transaction_->Put(*keyspace, key, std::move(document));
  if (!stored) return ThrowKv(call, stored.error());
  const std::string stamp = std::to_string(*stored);
  call.ReturnList({std::string_view(""), std::string_view(stamp), static_cast<double>(value)});
}

}  // namespace sluice::function
