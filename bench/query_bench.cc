// SQL++ inside one process against SQLite with its JSON functions: the same 200 thousand documents
// of about 500 bytes, the same indexes, the same answers.
//
// SQLite gets what makes it fast: a file of 8 KB pages that fits into its page cache (as large as
// ours) and is mapped into memory, no journal and no syncing, documents as text in a WITHOUT ROWID
// table (the key leads to the document without a second lookup, and a scan costs the same), an
// index on the extracted expression, ANALYZE, statements prepared once. Both sides use one
// connection, one statement at a time. Scans are measured as the server runs them, with a thread
// per core, which is what their goals are for, and with one thread, as SQLite has.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sqlite3.h>

#include "base/check.h"
#include "base/clock.h"
#include "bench/measure.h"
#include "db/database.h"
#include "query/engine.h"

namespace sluice::bench {
namespace {

using query::Value;

constexpr uint64_t kDocuments = 200'000;
constexpr uint64_t kTeams = 2'000;
constexpr uint64_t kLoadBatch = 1000;
constexpr uint64_t kCacheBytes = 1ull << 30;
constexpr uint64_t kScoreStep = 7;  // scores are n * kScoreStep for n in [0, kDocuments), shuffled
constexpr double kSeconds = 0.4;

std::string Padded(uint64_t n, size_t digits) {
  std::string text(digits, '0');
  for (size_t at = digits; n > 0 && at > 0; n /= 10) text[--at] = static_cast<char>('0' + n % 10);
  return text;
}
std::string UserKey(uint64_t n) { return "user::" + Padded(n, 8); }
std::string TeamKey(uint64_t n) { return "team::" + Padded(n, 5); }

constexpr const char* kWords[] = {"river", "gate", "lock", "water", "level", "open",
                                  "canal", "weir", "pump", "mill",  "basin", "dam",
                                  "ferry", "quay", "reed", "spill", "tide",  "wharf"};

// About 500 bytes, fields of all types, some nested, in the order an application would have.
std::string UserBody(uint64_t n) {
  std::mt19937_64 random(n);
  const auto number = [&](uint64_t below) { return std::to_string(random() % below); };
  const auto word = [&] { return std::string(kWords[random() % std::size(kWords)]); };
  // 104729 is a prime that does not divide kDocuments, so every score occurs once.
  const uint64_t score = n * 104'729 % kDocuments * kScoreStep;
  std::string body = R"({"type":"user","id":)" + std::to_string(n);
  body += R"(,"name":")" + word() + " " + word() + R"(","email":")" + word() + number(100'000) +
          R"(@example.org","age":)" + std::to_string(18 + random() % 63);
  body += R"(,"active":)" + std::string(random() % 4 != 0 ? "true" : "false");
  body += R"(,"address":{"street":")" + word() + " " + number(200) + R"(","city":"city)" +
          number(100) + R"(","zip":")" + Padded(random() % 100'000, 5) + R"(","geo":[)" +
          number(90) + "." + number(1000) + ",-" + number(180) + "." + number(1000) + "]}";
  body += R"(,"score":)" + std::to_string(score) + R"(,"team":")" + TeamKey(random() % kTeams) +
          R"(","tags":[)";
  for (uint64_t tag = 0, tags = 2 + random() % 3; tag < tags; ++tag) {
    body += (tag > 0 ? ",\"" : "\"") + word() + "\"";
  }
  body += R"(],"amount":)" + number(1'000'000) + R"(,"joined":"20)" + Padded(random() % 25, 2) +
          "-" + Padded(1 + random() % 12, 2) + "-" + Padded(1 + random() % 28, 2) +
          R"(T10:00:00Z","about":")";
  while (body.size() < 488) body += word() + " ";
  return body + "\"}";
}

std::string TeamBody(uint64_t n) {
  return R"({"type":"team","name":"team )" + std::to_string(n) + R"(","region":"region)" +
         std::to_string(n % 20) + R"("})";
}

// Rows of text, one string a row: what both sides' answers are compared as.
using Rows = std::vector<std::string>;

class Ours {
 public:
  explicit Ours(const std::string& path) : path_(path) {
    Open(db::Durability::kNone);
    Run("CREATE BUCKET users");
    Run("CREATE BUCKET teams");
  }

  void Load(const std::string& bucket, std::string (*key)(uint64_t), std::string (*body)(uint64_t),
            uint64_t count) {
    const db::KeyspaceId keyspace = *database_->Resolve({.bucket = bucket});
    for (uint64_t n = 0; n < count;) {
      db::Commit commit;
      for (const uint64_t end = std::min(n + kLoadBatch, count); n < end; ++n) {
        commit.writes.push_back(db::PutWrite(keyspace, key(n), db::Document{.body = body(n)}));
      }
      CHECK(database_->Apply(std::move(commit)).status.ok());
    }
  }

  void Finish() {
    Run("CREATE INDEX by_score ON users(score)");
    engine_.reset();
    database_.reset();  // which moves what is in memory to files
    Open(db::Durability::kSync);
  }

  std::shared_ptr<const query::StatementPlan> Prepare(const std::string& text) {
    auto prepared = engine_->Prepare(text, {});
    CHECK(prepared.has_value());
    return std::move(*prepared);
  }

  void SetMaxParallelism(size_t threads) { max_parallelism_ = threads; }

  // Every row is an array of strings and integers. Returns how many there were.
  size_t Execute(const std::shared_ptr<const query::StatementPlan>& plan,
                 const std::vector<Value>& parameters, Rows* rows) {
    auto run =
        engine_->Execute(plan, {.positional = parameters, .max_parallelism = max_parallelism_});
    CHECK(run.has_value());
    size_t count = 0;
    for (; (*run)->Next(); ++count) {
      if (rows != nullptr) rows->push_back(RowText((*run)->row()));
    }
    CHECK((*run)->status().ok());
    return count;
  }

 private:
  void Open(db::Durability durability) {
    db::DatabaseOptions options;
    options.durability = durability;
    options.store.cache_bytes = kCacheBytes;
    auto opened = db::Database::Open(path_, std::move(options), clock_);
    CHECK(opened.has_value());
    database_ = std::move(*opened);
    engine_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions{});
  }

  void Run(const std::string& text) { Execute(Prepare(text), {}, nullptr); }

  static std::string RowText(const Value& row) {
    std::string text;
    for (const Value& item : row.items()) {
      text += item.is_int() ? std::to_string(item.AsInt()) : std::string(item.AsString());
      text += '|';
    }
    return text;
  }

  const std::string path_;
  size_t max_parallelism_ = 0;
  SystemClock clock_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<query::QueryEngine> engine_;
};

class Sqlite {
 public:
  using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

  explicit Sqlite(const std::string& path) : db_(nullptr, &sqlite3_close) {
    sqlite3* db = nullptr;
    CHECK(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    db_.reset(db);
    Run("PRAGMA page_size = 8192");
    Run("PRAGMA journal_mode = OFF");
    Run("PRAGMA synchronous = OFF");
    Run("PRAGMA locking_mode = EXCLUSIVE");
    Run("PRAGMA temp_store = MEMORY");
    Run("PRAGMA cache_size = -" + std::to_string(kCacheBytes / 1024));
    Run("PRAGMA mmap_size = " + std::to_string(kCacheBytes));
    Run("CREATE TABLE users(key TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID");
    Run("CREATE TABLE teams(key TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID");
  }

  void Load(const std::string& table, std::string (*key)(uint64_t), std::string (*body)(uint64_t),
            uint64_t count) {
    Run("BEGIN");
    const Statement insert = Prepare("INSERT INTO " + table + " VALUES (?, ?)");
    for (uint64_t n = 0; n < count; ++n) {
      Execute(insert, {Value(key(n)), Value(body(n))}, nullptr);
    }
    Run("COMMIT");
  }

  void Finish() {
    Run("CREATE INDEX by_score ON users(json_extract(body, '$.score'))");
    Run("ANALYZE");
  }

  Statement Prepare(const std::string& text) {
    sqlite3_stmt* statement = nullptr;
    CHECK(sqlite3_prepare_v3(db_.get(), text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement,
                             nullptr) == SQLITE_OK);
    return {statement, &sqlite3_finalize};
  }

  size_t Execute(const Statement& statement, const std::vector<Value>& parameters, Rows* rows) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      Bind(statement, static_cast<int>(i) + 1, parameters[i]);
    }
    size_t count = 0;
    int step;
    for (; (step = sqlite3_step(statement.get())) == SQLITE_ROW; ++count) {
      if (rows != nullptr) rows->push_back(RowText(statement));
    }
    CHECK(step == SQLITE_DONE);
    CHECK(sqlite3_reset(statement.get()) == SQLITE_OK);
    return count;
  }

 private:
  void Run(const std::string& text) { Execute(Prepare(text), {}, nullptr); }

  static void Bind(const Statement& statement, int position, const Value& value) {
    if (value.is_int()) {
      CHECK(sqlite3_bind_int64(statement.get(), position, value.AsInt()) == SQLITE_OK);
      return;
    }
    const std::string_view text = value.AsString();
    CHECK(sqlite3_bind_text(statement.get(), position, text.data(), static_cast<int>(text.size()),
                            SQLITE_TRANSIENT) == SQLITE_OK);
  }

  static std::string RowText(const Statement& statement) {
    std::string text;
    for (int i = 0; i < sqlite3_column_count(statement.get()); ++i) {
      text += reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), i));
      text += '|';
    }
    return text;
  }

  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> db_;
};

// The same question in both languages; the parameters of its n-th run, if it has any.
struct Question {
  std::string name;
  std::string ours;
  std::string sqlite;
  std::string unit;
  size_t per_run = 1;  // how many of the unit one run counts for
  std::string goal;
  std::vector<Value> (*parameters)(uint64_t random) = nullptr;
};

std::vector<Question> ScanQuestions() {
  return {
      {"filter scan and count",
       "SELECT RAW [COUNT(*)] FROM users WHERE age >= 40 AND address.city = 'city7'",
       "SELECT COUNT(*) FROM users WHERE json_extract(body, '$.age') >= 40 AND "
       "json_extract(body, '$.address.city') = 'city7'",
       "documents/s", kDocuments, "3"},
      {"group by with sum",
       "SELECT RAW [address.city, SUM(amount)] FROM users GROUP BY address.city",
       "SELECT json_extract(body, '$.address.city') AS city, SUM(json_extract(body, '$.amount')) "
       "FROM users GROUP BY city",
       "documents/s", kDocuments, "3"},
      {"order by with limit",
       "SELECT RAW [name, amount, id] FROM users ORDER BY amount DESC, id LIMIT 20",
       "SELECT json_extract(body, '$.name'), json_extract(body, '$.amount') AS amount, "
       "json_extract(body, '$.id') AS id FROM users ORDER BY amount DESC, id LIMIT 20",
       "documents/s", kDocuments, "3"},
      {"unnest and group", "SELECT RAW [tag, COUNT(*)] FROM users UNNEST tags AS tag GROUP BY tag",
       "SELECT tag.value, COUNT(*) FROM users, json_each(users.body, '$.tags') AS tag "
       "GROUP BY tag.value",
       "documents/s", kDocuments, "3"},
  };
}

std::vector<Question> LookupQuestions() {
  return {
      {"key lookup", "SELECT RAW [name] FROM users USE KEYS $1",
       "SELECT json_extract(body, '$.name') FROM users WHERE key = ?1", "lookups/s", 1, "1",
       [](uint64_t random) { return std::vector<Value>{UserKey(random % kDocuments)}; }},
      {"indexed range of 100", "SELECT RAW [SUM(amount)] FROM users WHERE score BETWEEN $1 AND $2",
       "SELECT SUM(json_extract(body, '$.amount')) FROM users WHERE "
       "json_extract(body, '$.score') BETWEEN ?1 AND ?2",
       "documents/s", 100, "1",
       [](uint64_t random) {
         const auto first = static_cast<int64_t>(random % (kDocuments - 100) * kScoreStep);
         return std::vector<Value>{first, first + static_cast<int64_t>(99 * kScoreStep)};
       }},
      {"join on key",
       "SELECT RAW [t.region, COUNT(*)] FROM users u JOIN teams t ON META(t).id = u.team "
       "GROUP BY t.region",
       "SELECT json_extract(t.body, '$.region') AS region, COUNT(*) FROM users u JOIN teams t "
       "ON t.key = json_extract(u.body, '$.team') GROUP BY region",
       "documents/s", kDocuments, "1"},
  };
}

class Bench {
 public:
  explicit Bench(const std::string& directory)
      : ours_(directory + "/ours"), sqlite_(directory + "/sqlite.db") {
    Load("users", UserKey, UserBody, kDocuments);
    Load("teams", TeamKey, TeamBody, kTeams);
    ours_.Finish();
    sqlite_.Finish();
  }

  void AskWithOneThread(Question question) {
    ours_.SetMaxParallelism(1);
    question.name += ", one thread";
    question.goal.clear();
    Ask(question);
    ours_.SetMaxParallelism(0);
  }

  void Ask(const Question& question) {
    const auto plan = ours_.Prepare(question.ours);
    const Sqlite::Statement statement = sqlite_.Prepare(question.sqlite);
    const auto parameters = [&](std::mt19937_64& random) {
      return question.parameters == nullptr ? std::vector<Value>() : question.parameters(random());
    };
    std::mt19937_64 our_random(1);
    std::mt19937_64 their_random(1);
    for (int round = 0; round < (question.parameters == nullptr ? 1 : 5); ++round) {
      Rows our_rows;
      Rows their_rows;
      ours_.Execute(plan, parameters(our_random), &our_rows);
      sqlite_.Execute(statement, parameters(their_random), &their_rows);
      std::ranges::sort(our_rows);
      std::ranges::sort(their_rows);
      CHECK(!our_rows.empty() && our_rows == their_rows);
    }
    const Comparison result = Compare(
        kSeconds,
        [&] {
          CHECK(ours_.Execute(plan, parameters(our_random), nullptr) > 0);
          return question.per_run;
        },
        [&] {
          CHECK(sqlite_.Execute(statement, parameters(their_random), nullptr) > 0);
          return question.per_run;
        });
    Report("SQL++ " + question.name, result, question.unit, "SQLite", question.goal);
  }

 private:
  void Load(const std::string& keyspace, std::string (*key)(uint64_t),
            std::string (*body)(uint64_t), uint64_t count) {
    ours_.Load(keyspace, key, body, count);
    sqlite_.Load(keyspace, key, body, count);
  }

  Ours ours_;
  Sqlite sqlite_;
};

}  // namespace
}  // namespace sluice::bench

int main() {
  const std::string directory =
      (std::filesystem::current_path() / "build" / "query-bench-data").string();
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  {
    sluice::bench::Bench bench(directory);
    for (const auto& question : sluice::bench::ScanQuestions()) bench.Ask(question);
    for (const auto& question : sluice::bench::ScanQuestions()) bench.AskWithOneThread(question);
    for (const auto& question : sluice::bench::LookupQuestions()) bench.Ask(question);
  }
  std::filesystem::remove_all(directory);
  return 0;
}
