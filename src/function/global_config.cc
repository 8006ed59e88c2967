#include "function/global_config.h"

#include <limits>
#include <vector>

#include <zlib.h>

#include "base/nearest.h"
#include "function/field_reader.h"
#include "function/source/transpile.h"

namespace sluice::function {
namespace {

using json::Value;

Value Defaults() {
  return Value::Object({{"allow_interbucket_recursion", false},
                        {"cursor_limit", 5},
                        {"deployment_mode", "hybrid_mode"},
                        {"disable_curl_binding", false},
                        {"enable_curl", true},
                        {"enable_debugger", false},
                        {"enable_lifecycle_ops_during_rebalance", false},
                        {"force_compress", true},
                        {"function_size", 128 << 10},
                        {"http_request_timeout", 10},
                        {"metakv_max_doc_size", 128 << 10},
                        {"num_nodes_running", -1},
                        {"ram_quota", 256}});
}

Status CheckKnown(const Value& changes) {
  std::vector<std::string> known;
  const Value defaults = Defaults();
  for (const json::Field& field : defaults.fields()) known.emplace_back(field.name());
  for (const json::Field& field : changes.fields()) {
    if (!defaults[field.name()].is_missing()) continue;
    return Error(Code::kInvalidArgument, "function.invalid_config",
                 "there is no configuration '{}'{}", field.name(), DidYouMean(field.name(), known));
  }
  return OkStatus();
}

Status Check(const Value& all, GlobalConfig* config) {
  FieldReader reader(all, "config");
  bool ignored = false;
  bool disable_binding = false;
  uint32_t number = 0;
  std::string mode = "hybrid_mode";
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();
  reader.Flag("allow_interbucket_recursion", &config->allow_recursion);
  reader.Flag("enable_curl", &config->curl);
  reader.Flag("disable_curl_binding", &disable_binding);
  reader.Number("function_size", 1, kMaxCodeBytes, &config->function_bytes);
  reader.Flag("enable_debugger", &config->debugger);
  reader.Flag("enable_lifecycle_ops_during_rebalance", &ignored);
  reader.Flag("force_compress", &ignored);
  reader.Number("ram_quota", 1, kMost, &number);
  reader.Number("cursor_limit", 1, kMost, &number);
  reader.Number("metakv_max_doc_size", 1, kMost, &number);
  reader.Number("http_request_timeout", 1, kMost, &number);
  reader.OneOf("deployment_mode", {"hybrid_mode", "isolate_function", "function_group"}, &mode);
  if (const Value& nodes = all["num_nodes_running"]; nodes != Value(-1)) {
    reader.Number("num_nodes_running", 1, kMost, &number);
  }
  config->curl_bindings = !disable_binding;
  return reader.status();
}

}  // namespace

Value GlobalConfig::Print() const {
  Value all = Defaults();
  for (const json::Field& field : given.fields()) all.Set(field.name(), field.value);
  return all;
}

size_t CodeBytes(std::string_view code) {
  uLongf size = compressBound(code.size());
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size,
               reinterpret_cast<const Bytef*>(code.data()), code.size()) != Z_OK) {
    return code.size();
  }
  return size;
}

Result<GlobalConfig> MergeConfig(const GlobalConfig& before, const Value& changes) {
  if (!changes.is_object()) return Unexpected(InvalidField("config", "an object", changes));
  RETURN_IF_ERROR(CheckKnown(changes));
  GlobalConfig config;
  config.given = before.given;
  for (const json::Field& field : changes.fields()) {
    if (field.value.is_null()) {
      config.given.Remove(field.name());
    } else {
      config.given.Set(field.name(), field.value);
    }
  }
  const Status checked = Check(config.Print(), &config);
  if (checked.ok()) return config;
  return Unexpected(
      Error(Code::kInvalidArgument, "function.invalid_config", "{}", checked.message()));
}

}  // namespace sluice::function
