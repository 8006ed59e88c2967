// Procedures by SQL, as clients use them.
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "procedure/test_procedures.h"

namespace sluice::procedure {
namespace {

class ProcedureTest : public ProceduresTest {
 protected:
  // Makes a procedure of the body of main and runs it.
  std::string Main(std::string_view body) {
    const std::string made = Ask(fmt::format(
        "CREATE PROCEDURE p VERSION 'test' {{local function main(...)\n{}\nend}}", body));
    if (made != "{\"version\":\"test\"}\n") return made;
    return Ask("EXEC PROCEDURE p()");
  }
};

TEST_F(ProcedureTest, EmitsRows) {
  EXPECT_EQ(Main("db:emit('hello') db:emit(1)"), "{\"$0\":\"hello\"}\n{\"$0\":1}\n");
  EXPECT_EQ(Main("db:emit({b = 2, a = 1}) db:emit({a = 3})"),
            "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":null}\n");
  EXPECT_EQ(Main("db:emit({1, 'x'})"), "{\"$0\":1,\"$1\":\"x\"}\n");
  EXPECT_EQ(Main("db:num_columns(2) db:column_name('i', 1) db:column_type('int', 1) "
                 "db:column_name('t', 2) db:emit('12', nil)"),
            "{\"i\":12,\"t\":null}\n");
  EXPECT_EQ(Main("db:emit(1, 2) db:emit(1)"),
            "{\"$0\":1,\"$1\":2}\nerror procedure.failed: procedure 'p': p:2: bad number of emit "
            "columns:1 (need:2)");
}

TEST_F(ProcedureTest, Versions) {
  const std::string text = "{local function main() db:emit('%') end}";
  const auto source = [&](std::string_view word) {
    std::string made = text;
    return made.replace(made.find('%'), 1, word);
  };
  EXPECT_EQ(Ask("CREATE PROCEDURE v " + source("one")), "{\"version\":\"1\"}\n");
  EXPECT_EQ(Ask("CREATE PROCEDURE v " + source("two")), "{\"version\":\"2\"}\n");
  EXPECT_EQ(Ask("CREATE PROCEDURE v VERSION 'x' " + source("three") + ";"),
            "{\"version\":\"x\"}\n");
  EXPECT_EQ(Ask("EXEC PROCEDURE v()"), "{\"$0\":\"one\"}\n");
  EXPECT_EQ(Ask("PUT DEFAULT PROCEDURE v 2"), "");
  EXPECT_EQ(Ask("EXECUTE PROCEDURE v()"), "{\"$0\":\"two\"}\n");
  EXPECT_EQ(Ask("PUT DEFAULT PROCEDURE v 'x'"), "");
  Restart();
  EXPECT_EQ(Ask("exec procedure v()"), "{\"$0\":\"three\"}\n");
  EXPECT_EQ(Ask("CREATE PROCEDURE v VERSION 'x' " + source("four")), "{\"version\":\"x\"}\n");
  EXPECT_EQ(Ask("EXEC PROCEDURE v()"), "{\"$0\":\"four\"}\n");
  const std::vector<Value> rows = manager_->List();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(json::ToText(rows[2]),
            "{\"name\":\"v\",\"version\":\"x\",\"client_versioned\":\"Y\",\"default\":\"Y\","
            "\"src\":\"local function main() db:emit('four') end\"}");
  EXPECT_EQ(Ask("DROP PROCEDURE v 'x'"),
            "error procedure.default_version: version \"x\" is the default of procedure 'v': "
            "choose another one first with PUT DEFAULT PROCEDURE");
  EXPECT_EQ(Ask("DROP PROCEDURE v VERSION 1"), "");
  EXPECT_EQ(Ask("DROP PROCEDURE v 1"), "error procedure.not_found: procedure 'v' has no version 1");
  EXPECT_EQ(Ask("DROP PROCEDURE v"), "");
  EXPECT_EQ(Ask("EXEC PROCEDURE v()"), "error procedure.not_found: there is no procedure 'v'");
  Restart();
  EXPECT_TRUE(manager_->List().empty());
}

// docs/formats/procedures.md
TEST_F(ProcedureTest, StoredForm) {
  Ask("CREATE PROCEDURE v {local function main() end}");
  Ask("CREATE PROCEDURE v VERSION 'x' {local function main() return 0 end}");
  std::string row;
  ASSERT_TRUE(
      *database_->rows().Get(db::RowFamily::kMeta, db::kDefinitionsShard, "procedures/v", &row));
  EXPECT_EQ(
      row.substr(1),
      "{\"default\":1,\"next\":2,\"versions\":[{\"version\":1,\"source\":\"local function "
      "main() end\"},{\"version\":\"x\",\"source\":\"local function main() return 0 end\"}]}");
}

TEST_F(ProcedureTest, IsCheckedWhenItIsMade) {
  EXPECT_EQ(Ask("CREATE PROCEDURE p {\nlocal function main()\n  local = 1\nend}"),
            "error lua.syntax: line 3: <name> expected near '='");
  EXPECT_EQ(Ask("CREATE PROCEDURE p {function main() end}"),
            "error lua.no_entry: the text has no 'local function main'; one that is a function of "
            "SQL has 'p', or 'step' and 'final'");
  EXPECT_EQ(Ask("CREATE PROCEDURE " + std::string(32, 'p') + " {local function main() end}"),
            "error procedure.invalid_name: a procedure's name has 1 to 31 letters, digits and _; "
            "got '" +
                std::string(32, 'p') + "'");
  EXPECT_EQ(Ask("CREATE PROCEDURE p VERSION {}").substr(0, 18), "error query.syntax");
  EXPECT_EQ(Ask("CREATE PROCEDURE p").substr(0, 18), "error query.syntax");
  EXPECT_EQ(Ask("CREATE PROCEDURE p {local function main() ").substr(0, 18), "error query.syntax");
  EXPECT_EQ(Ask("EXEC PROCEDURE p").substr(0, 18), "error query.syntax");
}

TEST_F(ProcedureTest, TextsOfLuaAreNotReadAsSql) {
  EXPECT_EQ(Main("-- it's a comment\nlocal t = {a = {}} local s = [[`]] .. \"\\65\"\n"
                 "if 1 ~= 2 then db:emit(s .. #'ab') end"),
            "{\"$0\":\"`A2\"}\n");
}

TEST_F(ProcedureTest, Arguments) {
  Ask("CREATE PROCEDURE a {local function main(...) for i = 1, select('#', ...) do "
      "local v = select(i, ...) db:emit(type(v), db:isnull(v)) end end}");
  EXPECT_EQ(Ask("EXEC PROCEDURE a(1, -2.5, 'x', true, null)"),
            "{\"$0\":\"number\",\"$1\":false}\n{\"$0\":\"number\",\"$1\":false}\n"
            "{\"$0\":\"string\",\"$1\":false}\n{\"$0\":\"boolean\",\"$1\":false}\n"
            "{\"$0\":\"NULL\",\"$1\":true}\n");
  query::RunRequest request;
  request.named["x"] = Value("text");
  request.positional = {Value(7)};
  EXPECT_EQ(Ask("EXEC PROCEDURE a(@x, $1)", std::move(request)),
            "{\"$0\":\"string\",\"$1\":false}\n{\"$0\":\"number\",\"$1\":false}\n");
  EXPECT_EQ(Ask("EXEC PROCEDURE a(@y)").substr(0, 29), "error query.unbound_parameter");
}

TEST_F(ProcedureTest, Statements) {
  EXPECT_EQ(Main("local stmt, rc = db:exec([[INSERT INTO b (KEY, VALUE) VALUES ('k', {'n': 1}), "
                 "('l', {'n': 2})]]) db:emit(rc, stmt:rows_changed())"),
            "{\"$0\":0,\"$1\":2}\n");
  EXPECT_EQ(Main("local stmt = db:exec('SELECT n FROM b ORDER BY n') local row = stmt:fetch() "
                 "while row do db:emit(row.n) row = stmt:fetch() end"),
            "{\"$0\":1}\n{\"$0\":2}\n");
  EXPECT_EQ(Main("for row in db:exec('SELECT n FROM b ORDER BY n'):rows() do db:emit(row) end"),
            "{\"n\":1}\n{\"n\":2}\n");
  EXPECT_EQ(Main("return db:exec('SELECT n, 1 AS x FROM b ORDER BY n DESC')"),
            "{\"n\":2,\"x\":1}\n{\"n\":1,\"x\":1}\n");
  EXPECT_EQ(Main("local s = db:prepare('SELECT n FROM b WHERE n = $1 OR n = $m ORDER BY n') "
                 "s:bind(1, 2) s:bind('m', 5) s:emit() s:bind(1, 1) s:exec() s:emit() "
                 "s:exec() db:emit(s:column_count() .. s:column_name(1) .. s:column_type(1))"),
            "{\"n\":2}\n{\"n\":1}\n{\"n\":\"1nint\"}\n");
  EXPECT_EQ(Main("local stmt, rc = db:exec('SELEC 1') db:emit(stmt == nil, rc, "
                 "db:error():match('syntax error'))"),
            "{\"$0\":true,\"$1\":-3,\"$2\":\"syntax error\"}\n");
  EXPECT_EQ(Main("local s, rc = db:exec([[INSERT INTO b (KEY, VALUE) VALUES ('k', {})]]) "
                 "db:emit(s == nil, rc ~= 0)"),
            "{\"$0\":true,\"$1\":true}\n");
}

TEST_F(ProcedureTest, Tables) {
  EXPECT_EQ(Main("local t = db:table('b') db:emit(t:name(), t:insert({n = 1, s = 'x'}))"),
            "{\"$0\":\"b\",\"$1\":0}\n");
  EXPECT_EQ(Main("local t = db:table('b') t:insert({n = 2, s = 'y'}) t:where('n > 1'):emit()"),
            "{\"n\":2,\"s\":\"y\"}\n");
  EXPECT_EQ(Main("local t = db:table('b') t:update({s = 'z'}, 'n = 2') t:delete('n = 1') return t"),
            "{\"n\":2,\"s\":\"z\"}\n");
  EXPECT_EQ(Main("local t = db:table('nowhere') local rc = t:insert({n = 1}) "
                 "db:emit(rc ~= 0, db:error() ~= nil)"),
            "{\"$0\":true,\"$1\":true}\n");
}

TEST_F(ProcedureTest, Transactions) {
  const std::string insert = "db:table('b'):insert({n = 1}) ";
  const std::string count = "db:exec('SELECT COUNT(*) AS c FROM b'):emit()";
  EXPECT_EQ(Main("db:begin() " + insert + "db:rollback() " + count), "{\"c\":0}\n");
  EXPECT_EQ(Main("db:begin() " + insert + insert + "db:emit(db:commit())"), "{\"$0\":0}\n");
  EXPECT_EQ(Main(count), "{\"c\":2}\n");
  EXPECT_EQ(Main("db:begin() " + insert),
            "error procedure.open_transaction: procedure 'p': unterminated transaction (no commit "
            "or rollback)");
  EXPECT_EQ(Main(count), "{\"c\":2}\n");
  EXPECT_EQ(Main("db:commit()"),
            "error procedure.failed: procedure 'p': p:2: commit: there is no transaction");
  EXPECT_EQ(Main("db:begin() db:begin()"),
            "error procedure.failed: procedure 'p': p:2: a transaction is open already");
}

TEST_F(ProcedureTest, ATransactionOfTheCallerIsUsed) {
  Ask("CREATE PROCEDURE w {local function main() db:table('b'):insert({n = 1}) end}");
  db::Transaction transaction(*database_);
  query::RunRequest request;
  request.transaction = &transaction;
  EXPECT_EQ(Ask("EXEC PROCEDURE w()", request), "");
  EXPECT_EQ(Ask("SELECT COUNT(*) AS c FROM b"), "{\"c\":0}\n");
  EXPECT_TRUE(transaction.Apply().status.ok());
  EXPECT_EQ(Ask("SELECT COUNT(*) AS c FROM b"), "{\"c\":1}\n");
}

TEST_F(ProcedureTest, WhatMainReturns) {
  EXPECT_EQ(Main("return 0"), "");
  EXPECT_EQ(Main("return -210"), "error procedure.returned: procedure 'p' returned -210");
  EXPECT_EQ(Main("return 5"), "error procedure.returned: procedure 'p' returned -200");
  EXPECT_EQ(Main("return -210, 'full'"),
            "error procedure.returned: procedure 'p' returned -210: full");
  EXPECT_EQ(Main("return 'not today'"), "error procedure.returned: procedure 'p': not today");
  EXPECT_EQ(Main("error('bad')"), "error procedure.failed: procedure 'p': p:2: bad");
}

TEST_F(ProcedureTest, Values) {
  EXPECT_EQ(Main("local t, rc = db:json_to_table('{\"a\":[1,null]}') db:emit(db:table_to_json(t))"),
            "{\"$0\":\"{\\\"a\\\":[1,null]}\",\"$1\":0}\n");
  EXPECT_THAT(Main("db:emit(db:table_to_json({}, {colour = true}))"),
              ::testing::HasSubstr("expected type_annotate"));
  EXPECT_EQ(Main("local r = db:csv_to_table('a,\"b\"\"c\"\\n1,2') db:emit(r[1][2], r[2][1], "
                 "#r + #db:csv_to_table('10,20,30'))"),
            "{\"$0\":\"b\\\"c\",\"$1\":\"1\",\"$2\":5}\n");
  EXPECT_EQ(Main("db:emit(#db:guid(), #db:guid_str())"), "{\"$0\":16,\"$1\":36}\n");
  EXPECT_EQ(Main("local s = db:prepare('SELECT @b - @a + @b AS n') s:bind(1, 5) s:bind(2, 3) "
                 "local t, rc = db:table('x', {{'i', 'int'}}) db:emit(s:fetch().n, rc)"),
            "{\"$0\":7,\"$1\":0}\n");
  EXPECT_EQ(Main("db:emit(db:cast('12', 'int'), db:isnull(db:NULL()), db:isnull(0))"),
            "{\"$0\":12,\"$1\":true,\"$2\":false}\n");
  EXPECT_EQ(Main("db:settimezone('Asia/Tokyo') db:emit(tostring(db:now()))"),
            "{\"$0\":\"2023-11-15T071320.000 Asia/Tokyo\"}\n");
  EXPECT_EQ(Main("db:emit(db:now())"), "{\"$0\":\"2023-11-14T22:13:20.000Z\"}\n");
  EXPECT_EQ(Main("db:emit(db.err_dup, db.err_verify)"), "{\"$0\":1,\"$1\":2}\n");
}

TEST_F(ProcedureTest, CallsOthers) {
  Ask("CREATE PROCEDURE double {local function main(n) db:emit(n) return n * 2 end}");
  EXPECT_EQ(Main("local double = db:sp('double') db:emit(double(4))"), "{\"$0\":4}\n{\"$0\":8}\n");
  EXPECT_EQ(Main("db:exec('EXEC PROCEDURE double(0)'):emit()"), "{\"$0\":0}\n");
  Ask("CREATE PROCEDURE deep {local function main() return db:sp('deep')() end}");
  EXPECT_NE(Ask("EXEC PROCEDURE deep()").find("16 levels deep"), std::string::npos);
  Ask("CREATE PROCEDURE deeper {local function main() local s, rc = db:exec('EXEC PROCEDURE "
      "deeper()') db:emit(db:error()) end}");
  EXPECT_EQ(Ask("EXEC PROCEDURE deeper()").find("error procedure"), std::string::npos);
}

TEST_F(ProcedureTest, Limits) {
  EXPECT_EQ(Main("while true do end"),
            "error procedure.failed: procedure 'p': the most instructions of a run, 2000000, are "
            "used up");
  EXPECT_EQ(Main("db:setmaxinstructions(1000) while true do end"),
            "error procedure.failed: procedure 'p': the most instructions of a run, 1000, are used "
            "up");
  // What a statement holds counts as memory.
  EXPECT_EQ(Main("local t = {} while true do t[#t + 1] = db:exec('SELECT 1') end"),
            "error procedure.failed: procedure 'p': the run needs more than 67108864 bytes of "
            "memory");
  query::RunRequest request;
  request.timeout_ms = 50;
  Ask("CREATE PROCEDURE sleepy {local function main() db:sleep(100) end}");
  EXPECT_EQ(Ask("EXEC PROCEDURE sleepy()", request),
            "error procedure.failed: procedure 'sleepy': the run took too long: more than 50 ms");
}

TEST_F(ProcedureTest, ARunThatIsLetGoEnds) {
  Ask("CREATE PROCEDURE endless {local function main() while true do db:emit(1) end end}");
  auto run = engine_->Query("EXEC PROCEDURE endless()", {}, {});
  ASSERT_TRUE(run.has_value());
  ASSERT_TRUE((*run)->Next());
  run->reset();
  Ask("CREATE PROCEDURE asleep {local function main() db:sleep(1000) end}");
  query::RunRequest request;
  request.cancelled = std::make_shared<std::atomic<bool>>(false);
  std::thread canceller([flag = request.cancelled] { flag->store(true); });
  EXPECT_EQ(Ask("EXEC PROCEDURE asleep()", request),
            "error procedure.failed: procedure 'asleep': the run was stopped");
  canceller.join();
}

TEST_F(ProcedureTest, RightsOfTheCallerHold) {
  Ask("CREATE PROCEDURE reads {local function main() local s, rc = db:exec('SELECT * FROM b') "
      "db:emit(rc, db:error()) end}");
  query::RunRequest request;
  request.authorize = [](const query::StatementPlan& plan) {
    return plan.reads.empty() ? OkStatus()
                              : Error(Code::kForbidden, "query.forbidden", "not for you");
  };
  EXPECT_EQ(Ask("EXEC PROCEDURE reads()", request), "{\"$0\":-3,\"$1\":\"not for you\"}\n");
}

TEST_F(ProcedureTest, FunctionsSurviveARestart) {
  Ask("CREATE PROCEDURE Twice {local function Twice(x) return x * 2 end}");
  Ask("CREATE LUA SCALAR FUNCTION Twice DETERMINISTIC");
  Ask("CREATE PROCEDURE total {local t = 0 local function step(x) t = t + x end local function "
      "final() return t end}");
  Ask("CREATE LUA AGGREGATE FUNCTION total");
  Restart();
  EXPECT_EQ(Ask("SELECT twice(4) AS t"), "{\"t\":8}\n");
  EXPECT_EQ(Ask("SELECT total(x) AS t FROM [1, 2, 3] AS x"), "{\"t\":6}\n");
  EXPECT_EQ(Ask("SELECT name, type, deterministic AS d FROM comdb2_functions WHERE lang = 'lua'"),
            "{\"name\":\"total\",\"type\":\"aggregate\",\"d\":\"N\"}\n"
            "{\"name\":\"Twice\",\"type\":\"scalar\",\"d\":\"Y\"}\n");
  EXPECT_EQ(Ask("DROP LUA SCALAR FUNCTION TWICE"), "");
  Restart();
  EXPECT_EQ(Ask("SELECT twice(4) AS t").substr(0, 18), "error query.syntax");
}

// As docs/formats/procedures.md says.
TEST_F(ProcedureTest, StoresFunctionsInMetaRows) {
  Ask("CREATE PROCEDURE Twice {local function Twice(x) return x * 2 end}");
  Ask("CREATE LUA SCALAR FUNCTION Twice DETERMINISTIC");
  std::string row;
  ASSERT_TRUE(*database_->rows().Get(db::RowFamily::kMeta, db::kDefinitionsShard,
                                     "lua_functions/Twice", &row));
  EXPECT_EQ(row.substr(1), "{\"type\":\"scalar\",\"deterministic\":true}");
}

TEST_F(ProcedureTest, PlansFollowFunctions) {
  Ask("CREATE PROCEDURE f {local function f() return 'first' end}");
  Ask("CREATE LUA SCALAR FUNCTION f");
  Ask("PREPARE p FROM SELECT f() AS f");
  EXPECT_EQ(Ask("EXECUTE p"), "{\"f\":\"first\"}\n");
  Ask("CREATE PROCEDURE f VERSION '2' {local function f() return 'second' end}");
  Ask("PUT DEFAULT PROCEDURE f '2'");
  EXPECT_EQ(Ask("EXECUTE p"), "{\"f\":\"second\"}\n");
  Ask("DROP LUA SCALAR FUNCTION f");
  EXPECT_NE(Ask("EXECUTE p").find("there is no function f()"), std::string::npos);
}

TEST_F(ProcedureTest, FunctionsEndWithTheirStatement) {
  Ask("CREATE PROCEDURE slow {local function slow() db:setmaxinstructions(1000000000) while true "
      "do "
      "end end}");
  Ask("CREATE LUA SCALAR FUNCTION slow");
  query::RunRequest request;
  request.timeout_ms = 50;
  EXPECT_NE(Ask("SELECT slow()", request).find("function 'slow': the run took too long"),
            std::string::npos);
  query::RunRequest cancelled;
  cancelled.cancelled = std::make_shared<std::atomic<bool>>(false);
  std::thread canceller([flag = cancelled.cancelled] { flag->store(true); });
  EXPECT_EQ(Ask("SELECT slow()", cancelled), "error query.cancelled: the statement was cancelled");
  canceller.join();
}

TEST_F(ProcedureTest, FunctionsSeeTheTransaction) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE PROCEDURE n {local function n() return db:exec('SELECT COUNT(*) AS n FROM "
      "t'):fetch().n end}");
  Ask("CREATE LUA SCALAR FUNCTION n");
  db::Transaction transaction(*database_);
  query::RunRequest request;
  request.transaction = &transaction;
  EXPECT_EQ(Ask("INSERT INTO t VALUES (n())", request), "");
  EXPECT_EQ(Ask("SELECT n() AS n", request), "{\"n\":1}\n");
  EXPECT_EQ(Ask("SELECT n() AS n"), "{\"n\":0}\n");
}

// A scan that is divided among threads has a runtime in each.
TEST_F(ProcedureTest, FunctionsInDividedScans) {
  Ask("CREATE BUCKET b");
  Ask("INSERT INTO b (KEY k, VALUE {'n': n}) SELECT 'k' || TOSTRING(n) AS k, n FROM ARRAY_RANGE(0, "
      "20000) AS n");
  Ask("CREATE PROCEDURE odd {local function odd(n) return n % 2 == 1 end}");
  Ask("CREATE LUA SCALAR FUNCTION odd");
  Ask("CREATE PROCEDURE total {local t = 0 local function step(x) t = t + x end local function "
      "final() return t end}");
  Ask("CREATE LUA AGGREGATE FUNCTION total");
  EXPECT_EQ(Ask("SELECT COUNT(*) AS c FROM b WHERE odd(n)"), "{\"c\":10000}\n");
  EXPECT_EQ(Ask("SELECT total(n) AS c, SUM(n) AS s FROM b WHERE odd(n)"),
            "{\"c\":100000000,\"s\":100000000}\n");
}

TEST_F(ProcedureTest, CommitTellsItsEffects) {
  Ask("CREATE TABLE t(i int)");
  EXPECT_EQ(Main("db:begin() db:exec('INSERT INTO t VALUES (1), (2), (3)') "
                 "db:exec('UPDATE t SET i = i + 10 WHERE i > 1') db:exec('DELETE FROM t WHERE i = "
                 "1') local s = db:exec('SELECT i FROM t') while s:fetch() do end "
                 "local rc, e = db:commit({with_effects = true}) "
                 "db:emit(rc, e.num_affected, e.num_inserted, e.num_updated, e.num_deleted, "
                 "e.num_selected)"),
            "{\"$0\":0,\"$1\":6,\"$2\":3,\"$3\":2,\"$4\":1,\"$5\":2}\n");
  EXPECT_EQ(Main("db:begin() local rc, e = db:commit{with_effects = false} db:emit(rc, type(e))"),
            "{\"$0\":0,\"$1\":\"nil\"}\n");
  EXPECT_THAT(Main("db:begin() db:commit{quickly = true}"),
              ::testing::HasSubstr("commit: expected nothing, or {with_effects = true}"));
}

TEST_F(ProcedureTest, EmitsErrors) {
  EXPECT_EQ(Main("db:emit(1) db:emiterror('half of it') db:emit(2)"),
            "{\"$0\":1}\nerror procedure.emitted: procedure 'p': half of it");
}

TEST_F(ProcedureTest, NumbersOfErrorsOfTables) {
  Ask("CREATE TABLE parent(id int PRIMARY KEY)");
  Ask("CREATE TABLE t(i int PRIMARY KEY, n int NOT NULL, p int REFERENCES parent(id), CHECK (n < "
      "10))");
  const auto code = [&](const std::string& statement) {
    return Main("local s, rc = db:exec(\"" + statement + "\") db:emit(rc)");
  };
  EXPECT_EQ(code("INSERT INTO t VALUES (1, 2, NULL)"), "{\"$0\":0}\n");
  EXPECT_EQ(Main("local s, rc = db:exec('INSERT INTO t VALUES (1, 2, NULL)') db:emit(rc == "
                 "db.err_dup, rc)"),
            "{\"$0\":true,\"$1\":1}\n");
  EXPECT_EQ(code("INSERT INTO t VALUES (2, NULL, NULL)"), "{\"$0\":4}\n");
  EXPECT_EQ(code("INSERT INTO t VALUES (2, 2, 7)"), "{\"$0\":3}\n");
  EXPECT_EQ(code("INSERT INTO t VALUES (2, 11, NULL)"), "{\"$0\":6}\n");
  EXPECT_EQ(code("INSERT INTO t VALUES ('x', 1, NULL)"), "{\"$0\":113}\n");
  EXPECT_EQ(Main("db:emit(db.err_fkey, db.err_null_constraint, db.err_check_constraint, "
                 "db.err_conv)"),
            "{\"$0\":3,\"$1\":4,\"$2\":6,\"$3\":113}\n");
}

TEST_F(ProcedureTest, TemporaryTables) {
  Ask("CREATE TABLE t(i int, s vutf8)");
  Ask("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')");
  const std::string made = "local x = db:table('x', {{'i', 'int'}, {'s', 'cstring'}}) ";
  EXPECT_EQ(
      Main(made + "x:insert({i = '7', s = 8}) x:insert({s = 'only'}) x:emit() db:emit(x:name(), "
                  "0)"),
      "{\"i\":7,\"s\":\"8\"}\n{\"i\":null,\"s\":\"only\"}\n{\"i\":\"x\",\"s\":0}\n");
  EXPECT_EQ(Main(made + "x:copyfrom(db:table('t'), 'i > 1') x:where('i < 3'):emit()"),
            "{\"i\":2,\"s\":\"b\"}\n");
  EXPECT_EQ(Main(made + "x:insert({i = 9, s = 'z'}) db:table('t'):copyfrom(x) "
                        "db:exec('SELECT s FROM t WHERE i = 9'):emit()"),
            "{\"s\":\"z\"}\n");
  EXPECT_EQ(Main(made + "db:emit(x:insert({j = 1}), db:error())"),
            "{\"$0\":-3,\"$1\":\"insert: there is no column 'j'\"}\n");
  EXPECT_EQ(Main(made + "db:emit(x:insert({i = 'q'}) == db.err_conv, x:delete('i = 1'))"),
            "{\"$0\":true,\"$1\":-3}\n");
  EXPECT_THAT(Main("db:table('x', {{'i', 'colour'}})"),
              ::testing::HasSubstr("there is no type 'colour'"));
  EXPECT_THAT(Main("db:table('x', {})"), ::testing::HasSubstr("columns as {{'name', 'type'}"));
  EXPECT_THAT(
      Main(made + "local big = string.rep('x', 1000000) local n = 0 while x:insert({s = big}) "
                  "== 0 do n = n + 1 end db:emit(n < 100, db:error())"),
      ::testing::HasSubstr("a temporary table has at most 64 MiB of rows"));
}

TEST_F(ProcedureTest, Threads) {
  Ask("CREATE TABLE t(i int)");
  Ask(R"(CREATE PROCEDURE many {
local function add(i, x)
    db:exec('INSERT INTO t VALUES (' .. i .. ')')
    x:insert({i = i})
    return i * 2, 'done'
end
local function bad() error('no') end
local function loop() while true do end end
local function main()
    local x = db:table('x', {{'i', 'int'}})
    local threads = {}
    for i = 1, 4 do threads[i] = db:create_thread(add, i, x) end
    local sum = 0
    for i = 1, 4 do
        local double, text = threads[i]:join()
        sum = sum + double
    end
    local failed = db:create_thread(bad)
    db:emit(sum, failed:join(), failed:error())
    local n = 0
    for row in x:where('i > 0'):rows() do n = n + 1 end
    db:emit(n, 'rows', '')
    db:create_thread(add, 5, x)
end})");
  EXPECT_EQ(Ask("EXEC PROCEDURE many()"),
            "{\"$0\":20,\"$1\":null,\"$2\":\"many:7: no\"}\n"
            "{\"$0\":4,\"$1\":\"rows\",\"$2\":\"\"}\n");
  EXPECT_EQ(Ask("SELECT i FROM t ORDER BY i"),
            "{\"i\":1}\n{\"i\":2}\n{\"i\":3}\n{\"i\":4}\n{\"i\":5}\n");
  EXPECT_THAT(Main("db:create_thread(function() end)"),
              ::testing::HasSubstr("a local function that stands outside of functions"));
  EXPECT_THAT(Main("db:begin() db:create_thread(main)"),
              ::testing::HasSubstr("outside of transactions"));
  Ask("CREATE PROCEDURE emitting {local function some(k) for i = 1, 3 do db:emit(k) end end local "
      "function main() local t = db:create_thread(some, 'x') t:join() db:emit('main') end}");
  EXPECT_EQ(Ask("EXEC PROCEDURE emitting()"),
            "{\"$0\":\"x\"}\n{\"$0\":\"x\"}\n{\"$0\":\"x\"}\n{\"$0\":\"main\"}\n");
}

TEST_F(ProcedureTest, ThreadsEndWithTheirRun) {
  Ask("CREATE PROCEDURE loops {local function loop() db:setmaxinstructions(1000000000) while true "
      "do "
      "end end local function main(what) local t = db:create_thread(loop) if what == 'fail' then "
      "error('main failed') end db:emit(t:join(), t:error()) end}");
  EXPECT_THAT(Ask("EXEC PROCEDURE loops('fail')"), ::testing::HasSubstr("main failed"));
  query::RunRequest request;
  request.timeout_ms = 100;
  EXPECT_THAT(Ask("EXEC PROCEDURE loops('join')", request), ::testing::HasSubstr("the run"));
  Ask("CREATE PROCEDURE crowd {local function wait() db:sleep(60) end local function main() for i "
      "= "
      "1, 129 do db:create_thread(wait) end end}");
  request.timeout_ms = 6000;
  EXPECT_THAT(Ask("EXEC PROCEDURE crowd()", request),
              ::testing::HasSubstr("128 threads run, the most at the same time"));
}

}  // namespace
}  // namespace sluice::procedure
