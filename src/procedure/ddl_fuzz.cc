// Any text as a statement about tables, triggers, consumers and procedures over a real catalog, and
// as a stored definition: what is accepted prints and is stored as something that reads as the
// same.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "db/database.h"
#include "json/parse.h"
#include "procedure/trigger/definition.h"
#include "query/engine.h"
#include "query/parse/parser.h"

namespace sluice::procedure {
namespace {

// Made once; statements are planned, not run.
class Rig {
 public:
  Rig() {
    path_ = (std::filesystem::temp_directory_path() / "sluice_ddl_XXXXXX").string();
    CHECK(mkdtemp(path_.data()) != nullptr);
    db::DatabaseOptions options;
    options.durability = db::Durability::kNone;
    auto opened = db::Database::Open(path_, options, clock_);
    CHECK(opened.has_value());
    database_ = std::move(*opened);
    engine_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions{});
    for (const char* statement :
         {"CREATE TABLE t(i int PRIMARY KEY, d double, c cstring(10), b blob, t datetime)",
          "CREATE TABLE u(i int, j int, FOREIGN KEY (i) REFERENCES t(i))"}) {
      const auto run = engine_->Query(statement, {}, {});
      CHECK(run.has_value());
      while ((*run)->Next()) {
      }
      CHECK((*run)->status().ok());
    }
    CHECK(database_->admin().CreateBucket("shop").ok());
  }
  ~Rig() {
    engine_.reset();
    database_.reset();
    std::filesystem::remove_all(path_);
  }

  void Try(std::string_view text) {
    const auto plan = engine_->Prepare(text, {});
    if (!plan) CHECK(!plan.error().id().empty() && !plan.error().message().empty());
    const auto statement = query::ParseStatement(text);
    if (!statement) return;
    const auto* const trigger = std::get_if<query::TriggerStatement>(&statement->body);
    if (trigger == nullptr || trigger->action == query::TriggerStatement::Action::kDrop) return;
    const auto definition = DefinitionOf(*trigger, *database_->catalog(), {});
    if (!definition) return CHECK(!definition.error().id().empty());
    CHECK(!definition->sources.empty() && definition->name.size() <= kMaxTriggerName);
    const auto stored = TriggerDefinitionFromJson(ToJson(*definition));
    CHECK(stored.has_value() && *stored == *definition);
  }

 private:
  SystemClock clock_;
  std::string path_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<query::QueryEngine> engine_;
};

void Run(std::string_view text) {
  static Rig rig;
  rig.Try(text);
  const auto value = json::Parse(text);
  if (!value) return;
  if (const auto definition = TriggerDefinitionFromJson(*value)) {
    const auto again = TriggerDefinitionFromJson(ToJson(*definition));
    CHECK(again.has_value() && *again == *definition);
  }
  if (const auto schema = db::TableSchemaFromJson(*value)) {
    const auto again = db::TableSchemaFromJson(db::ToJson(*schema));
    CHECK(again.has_value() && db::ToJson(*again) == db::ToJson(*schema));
  }
}

}  // namespace
}  // namespace sluice::procedure

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::procedure::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
