// Documents with types against plain ones in the same database: durable writes with stamps, with a
// schema, with revisions; reads that migrate; mass migration against rewriting the same documents.
// Reads as clients have them are in type_read_bench.py. With --full a million documents are
// migrated.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <semaphore>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "bench/measure.h"
#include "db/database.h"
#include "doctype_db/mass_migration.h"
#include "doctype_db/policy_compiler.h"

namespace sluice::bench {
namespace {

constexpr double kSeconds = 0.7;
constexpr uint64_t kDocuments = 10'000;
constexpr size_t kInFlight = 64;

// What the process has in memory.
double ResidentMb() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

std::string Key(uint64_t n) { return fmt::format("user:{}", n); }

// About 1 KB, in the form of the given version.
std::string Body(uint64_t n, const std::string& version) {
  std::string text;
  while (text.size() < 800) text += "river gate lock water level open ";
  return fmt::format(
      R"({{"_schema":"{}","userId":{},"name":"Joe Smith","email":"joe.smith@mail.net",)"
      R"("{}":"1234567890","address":{{"street":"1 Main Street","city":"Boston"}},"text":"{}"}})",
      version, n, version == "1.0" ? "phone" : "mobile", text);
}

constexpr std::string_view kStamps =
    R"("properties":{"type":"_type","schema":"_schema","version":"_ver","created":"_created",)"
    R"("modified":"_modified","modifiedBy":"_modifiedBy"},"schema":"2.0")";
constexpr std::string_view kSchema =
    R"(,"validate":"enforce","schemas":{"2.0":{"type":"object",)"
    R"("required":["userId","name","mobile","address"],"properties":{"userId":{"type":"integer"},)"
    R"("name":{"type":"string","minLength":1},"email":{"type":"string","pattern":"@"},)"
    R"("mobile":{"type":"string","pattern":"^[0-9]{10}$"},"address":{"type":"object",)"
    R"("properties":{"street":{"type":"string"},"city":{"type":"string"}}}}}})";
constexpr std::string_view kRevisions = R"(,"revisions":{"keep":10})";
constexpr std::string_view kSteps =
    R"(,"migrations":[{"from":"1.0","to":"2.0","steps":[{"rename":{"phone":"mobile"}}]}])";
constexpr std::string_view kCode =
    R"(,"migrations":[{"file":"m.js","code":"module.exports = {'1.0 -> 2.0'(doc) )"
    R"({ const {phone, ...rest} = doc; return {...rest, _schema: '2.0', mobile: phone}; }};"}])";

class Typed {
 public:
  explicit Typed(const std::string& directory) {
    db::DatabaseOptions options;
    options.policy_compiler = std::make_shared<doctype_db::PolicyCompiler>(clock_);
    auto opened = db::Database::Open(directory, options, clock_);
    CHECK(opened);
    database_ = std::move(*opened);
    plain_ = Make("plain", "", "2.0");
  }

  // A bucket with documents, then with a type that the text tells more of.
  db::KeyspaceId Make(const std::string& bucket, std::string_view type,
                      const std::string& version) {
    CHECK(database_->admin().CreateBucket(bucket).ok());
    const db::KeyspaceId keyspace = *database_->Resolve({.bucket = bucket});
    Load(keyspace, version);
    if (type.empty()) return keyspace;
    const std::string text = fmt::format(
        R"({{"type":"{0}","keyspace":"{0}","match":{{"key":"user:{{userId}}"}},{1}{2}}})", bucket,
        kStamps, type);
    const Status set = database_->admin().PutType({.bucket = bucket}, {bucket, text});
    CHECK(set.ok());
    return keyspace;
  }
  void Load(db::KeyspaceId keyspace, const std::string& version, uint64_t documents = kDocuments) {
    for (uint64_t n = 0; n < documents;) {
      db::Commit commit;
      for (; n < documents && commit.writes.size() < kDocuments; ++n) {
        commit.writes.push_back(db::PutWrite(keyspace, Key(n), {.body = Body(n, version)}));
      }
      CHECK(database_->Apply(std::move(commit)).status.ok());
    }
  }

  // Durable commits of one random document each.
  size_t Write(db::KeyspaceId keyspace, std::mt19937_64& random) {
    constexpr size_t kCount = kInFlight * 16;
    std::counting_semaphore<> free(kInFlight);
    for (size_t i = 0; i < kCount; ++i) {
      free.acquire();
      const uint64_t n = random() % kDocuments;
      db::Commit commit;
      commit.actor = "bench";
      commit.writes.push_back(db::PutWrite(keyspace, Key(n), {.body = Body(n, "2.0")}));
      database_->Submit(std::move(commit), [&free](const db::CommitResult& result) {
        CHECK(result.status.ok());
        free.release();
      });
    }
    for (size_t i = 0; i < kInFlight; ++i) free.acquire();
    return kCount;
  }
  void Writes(const std::string& name, db::KeyspaceId keyspace, const std::string& goal) {
    std::mt19937_64 ours(1);
    std::mt19937_64 theirs(1);
    Report(
        "durable writes " + name,
        Compare(
            kSeconds, [&] { return Write(keyspace, ours); }, [&] { return Write(plain_, theirs); }),
        "writes/s", "without a type", goal);
  }

  size_t Read(db::KeyspaceId keyspace, std::mt19937_64& random) {
    constexpr size_t kCount = 500;
    db::PinnedDocument document;
    for (size_t i = 0; i < kCount; ++i) {
      const auto found = database_->Get(keyspace, Key(random() % kDocuments), &document);
      CHECK(found && *found && document->body.find("mobile") != std::string_view::npos);
    }
    return kCount;
  }
  void Reads(const std::string& name, db::KeyspaceId keyspace, const std::string& goal) {
    std::mt19937_64 ours(1);
    std::mt19937_64 theirs(1);
    Report(
        "reads that " + name,
        Compare(
            kSeconds, [&] { return Read(keyspace, ours); }, [&] { return Read(plain_, theirs); }),
        "reads/s", "of documents as stored", goal);
  }

  // Documents per second that a mass migration brings to 2.0.
  double MigrationRate(const std::string& type, db::KeyspaceId keyspace) {
    CHECK(database_->admin().DropType(type).ok());
    Load(keyspace, "1.0");
    const std::string text = fmt::format(
        R"({{"type":"{0}","keyspace":"{0}","match":{{"key":"user:{{userId}}"}},{1}{2}}})", type,
        kStamps, kCode);
    CHECK(database_->admin().PutType({.bucket = type}, {type, text}).ok());
    doctype_db::MassMigration migration(*database_);
    CHECK(migration.Start().ok());
    const double start = Seconds();
    CHECK(migration.Begin(type, {}));
    while (migration.Find(type)->state == doctype_db::MigrationJob::State::kRunning) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const double seconds = Seconds() - start;
    CHECK(migration.Find(type)->migrated == kDocuments);
    return kDocuments / seconds;
  }
  void Migrations(const std::string& type, db::KeyspaceId keyspace) {
    std::vector<double> ours;
    std::vector<double> theirs;
    std::vector<double> ratios;
    for (int round = 0; round < 3; ++round) {
      std::mt19937_64 random(1);
      theirs.push_back(Rate(kSeconds, [&] { return Write(plain_, random); }));
      ours.push_back(MigrationRate(type, keyspace));
      ratios.push_back(ours.back() / theirs.back());
    }
    Report("mass migration", {Median(ours), Median(theirs), Median(ratios)}, "documents/s",
           "plain rewrites", "0.5");
  }

  // All of many documents: the memory must not grow with their number. What RocksDB keeps of what
  // it writes comes and goes, so that the highest of the first and last third are compared.
  void ManyMigrations(uint64_t documents) {
    CHECK(database_->admin().CreateBucket("many").ok());
    const db::KeyspaceId keyspace = *database_->Resolve({.bucket = "many"});
    Load(keyspace, "1.0", documents);
    const std::string text = fmt::format(
        R"({{"type":"many","keyspace":"many","match":{{"key":"user:{{userId}}"}},{}{}}})", kStamps,
        kSteps);
    CHECK(database_->admin().PutType({.bucket = "many"}, {"many", text}).ok());
    std::mt19937_64 random(1);
    const double plain = Rate(5 * kSeconds, [&] { return Write(plain_, random); });
    doctype_db::MassMigration migration(*database_);
    CHECK(migration.Start().ok());
    const double before = ResidentMb();
    double first = 0;
    double last = 0;
    const double start = Seconds();
    CHECK(migration.Begin("many", {}));
    while (true) {
      const doctype_db::MigrationJob job = *migration.Find("many");
      if (job.state != doctype_db::MigrationJob::State::kRunning) break;
      if (job.documents < documents / 3) first = std::max(first, ResidentMb());
      if (job.documents > documents / 3 * 2) last = std::max(last, ResidentMb());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const double rate = static_cast<double>(documents) / (Seconds() - start);
    CHECK(migration.Find("many")->migrated == documents);
    Report(fmt::format("mass migration of {} documents", documents), {rate, plain, rate / plain},
           "documents/s", "plain rewrites", "0.5");
    ReportValue("its memory before", before, "MB");
    ReportValue("its memory, last third over first third", last / first, "ratio", "<= 1.25");
  }

 private:
  SystemClock clock_;
  std::unique_ptr<db::Database> database_;
  db::KeyspaceId plain_ = 0;
};

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
  const bool full = argc > 1 && std::string_view(argv[1]) == "--full";
  const std::string directory =
      (std::filesystem::current_path() / "build" / "type-bench-data").string();
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  {
    using namespace sluice::bench;
    Typed typed(directory);
    typed.Writes("with stamps", typed.Make("stamped", " ", "2.0"), "0.8");
    typed.Writes("with stamps and a schema", typed.Make("checked", kSchema, "2.0"), "0.6");
    typed.Writes("with stamps and revisions", typed.Make("revised", kRevisions, "2.0"), "0.45");
    typed.Reads("migrate by declared steps", typed.Make("old", kSteps, "1.0"), "");
    const auto scripted = typed.Make("older", kCode, "1.0");
    typed.Reads("migrate in JavaScript", scripted, "");
    typed.Migrations("older", scripted);
    typed.ManyMigrations(full ? 1'000'000 : 50'000);
  }
  std::filesystem::remove_all(directory);
  return 0;
}
