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

// The parts of the server that functions of apps use.
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
  // The keyspaces that sluice.yaml gives to functions, with their places in that file.
  std::vector<std::pair<db::KeyspaceName, Place>> keyspaces;
  std::set<db::KeyspaceName> declared;  // the keyspaces that sluice.yaml creates
  std::unique_ptr<const BundleFiles> files;

  Route* FindRoute(std::string_view name) const;
};

// How to treat a keyspace that the app names and the database does not have.
enum class Missing : uint8_t {
  kIsWrong,        // an error
  kMayBeDeclared,  // a check makes neither the keyspaces of sluice.yaml nor the tables of sql/
  kWasDropped,     // the stored app had it; the rest of the app must run without it
};

// Adds all problems to `problems`; null when there is an error among them. With kMayBeDeclared, a
// statement that needs a missing keyspace gives a warning, and its route can't run. With
// kWasDropped, each statement that can't be planned gives a warning, and is planned when it is
// called.
std::shared_ptr<const App> MakeApp(const Services& services, Bundle bundle, std::string version,
                                   Missing missing, flow::Problems* problems);

// Adds the missing keyspaces of functions to `problems`: errors route.no_keyspace, or warnings
// where they may be declared or were dropped. MakeApp does not need this: calls look for their
// keyspaces.
void CheckKeyspaces(const App& app, const Services& services, Missing missing,
                    flow::Problems* problems);

}  // namespace sluice::flow_engine
