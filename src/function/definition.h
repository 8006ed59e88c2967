// A function as its owner declares it: code, source, bindings, settings. The JSON form is that of
// Couchbase Eventing, so that what was exported there can be imported here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/types.h"
#include "function/source/transpile.h"
#include "json/value.h"

namespace sluice::function {

struct BucketBinding {
  std::string alias;
  db::KeyspaceName keyspace;  // scope and collection may be "*"
  bool writable = true;

  bool wildcard() const { return keyspace.scope == "*" || keyspace.collection == "*"; }
};

struct UrlBinding {
  std::string alias;
  std::string hostname;  // http:// or https://, and what all requests begin with
  std::string auth_type = "no-auth";
  std::string username;
  std::string password;
  std::string bearer_key;
  bool allow_cookies = false;
  bool validate_certificate = true;
};

enum class Boundary : uint8_t { kEverything, kFromNow };

struct Settings {
  bool deployed = false;    // deployment_status
  bool processing = false;  // processing_status; deployed and not processing is paused
  Boundary boundary = Boundary::kEverything;
  uint32_t worker_count = 1;
  uint32_t execution_timeout_s = 60;
  uint32_t on_deploy_timeout_s = 60;
  uint32_t timer_context_bytes = 1024;
  std::string language = "7.2.0";
  std::string consistency = "none";
  std::vector<std::string> handler_headers = {"'use strict';"};
  std::vector<std::string> handler_footers;
  bool previous = false;  // ours: meta.previous
  json::Value others;     // an object: what we keep and show but do not act on
};

struct Definition {
  std::string name;
  std::string code;
  std::string scope_bucket = "*";  // function_scope
  std::string scope_scope = "*";
  db::KeyspaceName source;
  db::KeyspaceName metadata;
  std::vector<BucketBinding> buckets;
  std::vector<UrlBinding> urls;
  std::vector<ConstantBinding> constants;
  Settings settings;
  uint64_t uuid = 0;        // handleruuid: new with each deploy
  std::string instance_id;  // function_instance_id
};

// `where` in messages is the field's place in the JSON: depcfg.buckets[0].alias.
Result<Definition> ParseDefinition(const json::Value& value);
json::Value PrintDefinition(const Definition& definition);

}  // namespace sluice::function
