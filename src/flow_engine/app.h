// An app as flows need it: compiled flows, routes with their functions, REST endpoints. Immutable
// but for the routes' instances; runs hold on to the one that they began with.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "flow/plan.h"
#include "flow/problem.h"
#include "flow/settings.h"
#include "flow_engine/app_options.h"
#include "flow_engine/bundle.h"
#include "flow_engine/rest_config.h"
#include "flow_engine/route.h"
#include "flow_engine/stream.h"
#include "function/handler.h"
#include "procedure/manager.h"
#include "query/engine.h"

namespace sluice::flow_engine {

// What functions of apps may use.
struct Services {
  function::Services function;
  query::QueryEngine& queries;
  const procedure::Manager& procedures;
  // Where `file()` of flows may read and write; absolute paths.
  std::vector<std::string> directories = {};
  uint64_t max_stream_bytes = 0;  // of a relay's answer, if it is more than kMaxHttpAnswerBytes
};

struct App {
  Bundle bundle;
  std::string version;  // newer ones sort after older ones; empty when it was never stored
  std::shared_ptr<const flow::FlowSet> flows;
  std::map<std::string, std::shared_ptr<Route>, std::less<>> routes;
  RestConfig rest;
  AppOptions options;
  // What sluice.yaml gives to functions, and where; and those that it says there are to be.
  std::vector<std::pair<db::KeyspaceName, Place>> keyspaces;
  std::set<db::KeyspaceName> declared;
  std::unique_ptr<const BundleFiles> files;

  Route* FindRoute(std::string_view name) const;
};

// What to think of a keyspace that is named and not there. Who only checks an app does not make
// those that its sluice.yaml declares, nor the tables of its sql/. An app that was stored had all
// of them then; what was dropped since must not keep the rest of it from running.
enum class Missing : uint8_t { kIsWrong, kMayBeDeclared, kWasDropped };

// All that is wrong goes to `problems`; null when there is an error among it. A statement whose
// keyspace may be declared is a warning, and its route can't run. Of a stored app every statement
// that can't be planned is a warning, and is planned when it is called.
std::shared_ptr<const App> MakeApp(const Services& services, Bundle bundle, std::string version,
                                   Missing missing, flow::Problems* problems);

// Keyspaces of functions that are not there: errors route.no_keyspace; warnings where tables may be
// declared, or they were dropped. Not part of MakeApp: calls look for them.
void CheckKeyspaces(const App& app, const Services& services, Missing missing,
                    flow::Problems* problems);

}  // namespace sluice::flow_engine
