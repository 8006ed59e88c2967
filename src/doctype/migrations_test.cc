#include "doctype/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "doctype/migration_runner.h"
#include "doctype/test_types.h"

namespace sluice::doctype {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kUsers = R"(// The seed's user.
const digits = (text) => text.replace(/\D/g, '');

module.exports = {
  '1.0 -> 2.0'(doc, meta) {
    const [first, ...rest] = doc.name.split(' ');
    doc.firstName = first;
    doc.lastName = rest.join(' ');
    delete doc.name;
    doc._schema = meta.to;
    return doc;
  },
  '2.0 -> 3.0'(doc) {
    const phone = digits(doc.phone);
    if (phone.length !== 10) throw new Error(`invalid phone number ${doc.phone}`);
    const {phone: old, ...rest} = doc;
    return {...rest, _schema: '3.0', phones: [{type: 'other', number: phone}]};
  },
  '3.0 -> 2.0'(doc) {
    const {phones, ...rest} = doc;
    return {...rest, _schema: '2.0', phone: phones[0].number};
  },
};
)";

std::shared_ptr<const Type> WithMigrations(const std::string& migrations, const TestFiles& files) {
  return TypeOf(
      "type: user\nkeyspace: app\nmatch: {key: 'user:{userId}'}\n"
      "properties: {type: _type, schema: _schema}\nschema: '3.0'\nmigrations: " +
          migrations + "\n",
      files);
}

std::shared_ptr<const Type> WithCode(const std::string& code) {
  return WithMigrations("m.js", {{"m.js", code}});
}

std::string Problem(const std::shared_ptr<const Type>& type) {
  Problems problems;
  EXPECT_EQ(Migrations::Compile(type, &problems), nullptr);
  return Lines(problems.errors);
}

class MigrationsTest : public testing::Test {
 protected:
  std::string Run(const std::string& code, std::string_view document, std::string_view to = {}) {
    Use(WithCode(code));
    return Migrate(document, to);
  }
  void Use(const std::shared_ptr<const Type>& type, const ScriptLimits& limits = kPatient) {
    Problems problems;
    migrations_ = Migrations::Compile(type, &problems);
    ASSERT_NE(migrations_, nullptr) << Lines(problems.errors);
    runner_ = std::make_unique<MigrationRunner>(migrations_, limits, clock_);
  }
  std::string Migrate(std::string_view document, std::string_view to = {}) {
    const auto migrated = runner_->Run("user:123", document, {.to = to});
    return migrated ? migrated->document : migrated.error().ToString();
  }

  SystemClock clock_;
  std::shared_ptr<const Migrations> migrations_;
  std::unique_ptr<MigrationRunner> runner_;
};

TEST_F(MigrationsTest, TheSeedsUser) {
  Use(WithCode(std::string(kUsers)));
  EXPECT_EQ(Migrate(R"({"_type":"user","_schema":"1.0","_created":1544759124,"userId":123,)"
                    R"("name":"Joe Smith","phone":"123-456-7890","email":"joe.smith@acme.com"})"),
            R"({"_type":"user","_schema":"3.0","_created":1544759124,"userId":123,)"
            R"("email":"joe.smith@acme.com","firstName":"Joe","lastName":"Smith",)"
            R"("phones":[{"type":"other","number":"1234567890"}]})");
  EXPECT_THAT(Migrate(R"({"_type":"user","_schema":"2.0","phone":"1234567890"})"),
              HasSubstr(R"("phones":[{"type":"other","number":"1234567890"}])"));
  // What needs no step keeps its bytes.
  EXPECT_EQ(Migrate(R"({ "_schema":"3.0", "a":1.0})"), R"({ "_schema":"3.0", "a":1.0})");
  EXPECT_THAT(migrations_->Versions(), ElementsAre("1.0", "2.0", "3.0"));
}

// A document that says no version is of the first one, or of the one that the type says.
TEST_F(MigrationsTest, Unversioned) {
  Use(WithCode(std::string(kUsers)));
  EXPECT_EQ(migrations_->unversioned(), "1.0");
  EXPECT_EQ(Migrate(R"({"name":"Joe Smith","phone":"1234567890"})"),
            R"({"_schema":"3.0","firstName":"Joe","lastName":"Smith",)"
            R"("phones":[{"type":"other","number":"1234567890"}]})");
  EXPECT_EQ(Migrate(R"({"_schema":null,"name":"A B","phone":"1"})", "1.0"),
            R"({"_schema":"1.0","name":"A B","phone":"1"})");
  EXPECT_EQ(Migrate("[1]"), "[1]");

  const std::string head =
      "type: a\nkeyspace: b\nmatch: {key: 'a:{n}'}\nproperties: {object: meta, schema: s}\n"
      "schema: '2'\nmigrations: [{from: '1', to: '2', steps: [{rename: {a: b}}]}]\n";
  Use(TypeOf(head, {}));
  EXPECT_EQ(Migrate(R"({"a":7})"), R"({"meta":{"s":"2"},"b":7})");
  Use(TypeOf(head + "unversioned: '2'\n", {}));
  EXPECT_EQ(Migrate(R"({ "a":7})"), R"({ "a":7})");
  EXPECT_EQ(Migrate(R"({"a":7})", "2"), R"({"meta":{"s":"2"},"a":7})");
  EXPECT_THAT(Problem(TypeOf(head + "unversioned: '3'\n", {})),
              HasSubstr("migration.unknown_version: unversioned: type 'a' has no schema version "
                        "'3', only 1, 2"));
  EXPECT_THAT(Problem(WithCode("module.exports = {'none -> 3.0'(doc) { return doc; }};")),
              HasSubstr("'none' is not a version; say 'unversioned"));
}

TEST_F(MigrationsTest, AStepSeesWhatAWriteReplaces) {
  Use(
      WithCode("module.exports = {'2.0 -> 3.0'({phone, ...doc}, {to, stored}) {\n"
               "  return {...doc, _schema: to, phones: [...(stored?.phones ?? []), phone]}; }};"));
  EXPECT_EQ(Migrate(R"({"_schema":"2.0","phone":1})"), R"({"_schema":"3.0","phones":[1]})");
  const auto migrated = runner_->Run("user:123", R"({"_schema":"2.0","phone":1})",
                                     {.stored = R"({"_schema":"3.0","phones":[7]})"});
  EXPECT_EQ(migrated->document, R"({"_schema":"3.0","phones":[7,1]})");
}

TEST_F(MigrationsTest, TheWayBack) {
  Use(WithCode(std::string(kUsers)));
  EXPECT_EQ(Migrate(R"({"_schema":"3.0","phones":[{"number":"1"}]})", "2.0"),
            R"({"_schema":"2.0","phone":"1"})");
  EXPECT_EQ(Migrate(R"({"_schema":"3.0"})", "1.0"),
            "migration.no_way_back: document 'user:123': no step of type 'user' leads from version "
            "'3.0' to '1.0'");
  EXPECT_EQ(
      Migrate(R"({"_schema":"9"})"),
      "migration.unknown_version: document 'user:123': type 'user' has no schema version '9', "
      "only 1.0, 2.0, 3.0");
}

// Who makes a new document forgets what the server keeps in it.
TEST_F(MigrationsTest, StampsThatAStepLeavesOutAreKept) {
  Use(TypeOf(
      "type: user\nkeyspace: app\nmatch: {key: 'user:{id}'}\nschema: '2'\n"
      "properties: {type: t, schema: s, version: v, created: c, createdBy: by}\n"
      "migrations: m.js\n",
      {{"m.js", "module.exports = {'1 -> 2'(doc) { return {s: '2', n: doc.n, c: doc.at}; }};"}}));
  EXPECT_EQ(Migrate(R"({"t":"user","s":"1","v":7,"c":5,"by":"joe","n":1})"),
            R"({"t":"user","v":7,"c":5,"by":"joe","s":"2","n":1})");
  EXPECT_EQ(Migrate(R"({"s":"1","c":5,"n":1,"at":9})"), R"({"s":"2","n":1,"c":9})");
}

TEST_F(MigrationsTest, Declared) {
  Use(WithMigrations(R"(
  - from: "1.0"
    to: "2.0"
    steps:
      - split: { from: name, to: [firstName, lastName], by: " " }
    back:
      - join: { from: [firstName, lastName], to: name, by: " " }
  - from: "2.0"
    to: "3.0"
    steps:
      - wrap: { path: phone, to: phones, as: number, with: { type: mobile } }
    back:
      - unwrap: { path: phones, to: phone, as: number })",
                     {}));
  constexpr std::string_view kOld =
      R"({"_type":"user","_schema":"1.0","n":1.50,"name":"Joe Smith","phone":"1234567890"})";
  const std::string made = Migrate(kOld);
  EXPECT_EQ(made,
            R"({"_type":"user","_schema":"3.0","n":1.50,"firstName":"Joe","lastName":"Smith",)"
            R"("phones":[{"type":"mobile","number":"1234567890"}]})");
  EXPECT_EQ(Migrate(made, "1.0"), kOld);
  EXPECT_EQ(
      Migrate(R"({"_schema":"1.0","name":7})"),
      "migration.mismatch: document 'user:123', step '1.0 -> 2.0': number 1: split: expected a "
      "string at 'name', found number (types/test.yaml:10:9)");
}

TEST_F(MigrationsTest, WhatAStepMakesIsChecked) {
  const std::string head = "module.exports = {'2.0 -> 3.0'(doc) { doc._schema = '3.0'; ";
  EXPECT_THAT(
      Run(head + "let v = []; for (let i = 0; i < 500; i++) v = [v]; return {...doc, v}; }};",
          R"({"_schema":"2.0"})"),
      HasSubstr("migration.bad_result: document 'user:123', step '2.0 -> 3.0'"));
  EXPECT_THAT(
      Run(head + "doc._type = 'other'; return doc; }};", R"({"_type":"user","_schema":"2.0"})"),
      HasSubstr("migration.bad_result"));
  // However it was written.
  EXPECT_EQ(Run(head + "return doc; }};", R"({"_type":"us\u0065r","_schema":"2.0"})"),
            R"({"_type":"user","_schema":"3.0"})");
}

TEST_F(MigrationsTest, NumbersStayExact) {
  const std::string same =
      "module.exports = {'2.0 -> 3.0'(doc) { doc._schema = '3.0'; return doc; }};";
  for (const char* const number :
       {"-0", "1.0", "1e2", "123456789012345678", "-7", "999999999999999"}) {
    const std::string rest = std::string(R"(","text":"a\"1.0\\","n":)") + number + "}";
    EXPECT_EQ(Run(same, R"({"_schema":"2.0)" + rest), R"({"_schema":"3.0)" + rest);
  }

  EXPECT_EQ(Run("module.exports = {'2.0 -> 3.0'({big, ...doc}) {"
                "return {...doc, _schema: '3.0', moved: {big}, changed: doc.n + 1}; }};",
                R"({"_schema":"2.0","big":9007199254740993,"n":1.50,"l":[1e2,-0.0]})"),
            R"({"_schema":"3.0","n":1.50,"l":[1e2,-0.0],"moved":{"big":9007199254740993},)"
            R"("changed":2.5})");
}

TEST_F(MigrationsTest, StepsThatFailNameDocumentStepAndLine) {
  EXPECT_EQ(Run("module.exports = {\n  '2.0 -> 3.0'(doc) {\n    throw new Error('no');\n  },\n};\n",
                R"({"_schema":"2.0"})"),
            "migration.threw: document 'user:123', step '2.0 -> 3.0': Error: no (m.js:3:5)");
  EXPECT_EQ(Run("module.exports = {\n  '2.0 -> 3.0'(doc) { doc._schema = '3.0'; },\n};\n",
                R"({"_schema":"2.0"})"),
            "migration.returned_nothing: document 'user:123', step '2.0 -> 3.0': the step returned "
            "nothing; expected the new document (m.js:2:3)");
  EXPECT_EQ(
      Run("module.exports = {'2.0 -> 3.0'(doc) { return doc; }};", R"({"_schema":"2.0"})"),
      "migration.wrong_version: document 'user:123', step '2.0 -> 3.0': expected '3.0' as the "
      "new value of '_schema', found the old one (m.js:1:19)");
  EXPECT_THAT(Run("module.exports = {'2.0 -> 3.0'(doc) { return 7; }};", R"({"_schema":"2.0"})"),
              HasSubstr("migration.bad_result"));
  EXPECT_THAT(Run("module.exports = {'2.0 -> 3.0'() { return {_schema: '3.0', _type: 'x'}; }};",
                  R"({"_schema":"2.0","_type":"user"})"),
              HasSubstr("the step changes '_type'"));
  EXPECT_THAT(Run("module.exports = {'2.0 -> 3.0'(doc) { doc.a = doc; return doc; }};",
                  R"({"_schema":"2.0"})"),
              HasSubstr("circular"));
}

TEST_F(MigrationsTest, StepsThatNeverEnd) {
  Use(WithCode("module.exports = {'1.0 -> 2.0'(doc) { for (;;); },"
               "'2.0 -> 3.0'(doc) { return {_schema: '3.0'}; }};"),
      {.timeout_ms = 5000});
  EXPECT_THAT(Migrate(R"({"_schema":"1.0"})"), HasSubstr("migration.timeout: document 'user:123'"));
  EXPECT_EQ(Migrate(R"({"_schema":"2.0"})"), R"({"_schema":"3.0"})");
}

TEST_F(MigrationsTest, StepsThatEatMemory) {
  Use(WithCode("module.exports = {'1.0 -> 2.0'(doc) { const a = []; for (;;) a.push([1]); },"
               "'2.0 -> 3.0'(doc) { return {_schema: '3.0'}; }};"),
      {.timeout_ms = 60'000, .heap_bytes = 16 << 20});
  const std::string error = Migrate(R"({"_schema":"1.0"})");
  EXPECT_THAT(error, HasSubstr("migration.memory"));
  EXPECT_EQ(Migrate(R"({"_schema":"2.0"})"), R"({"_schema":"3.0"})");
}

TEST_F(MigrationsTest, NothingSurvivesADocument) {
  Use(
      WithCode("let seen = 0;\nmodule.exports = {'2.0 -> 3.0'(doc) { "
               "try { globalThis.x = 1; Object.prototype.y = 2; } catch {}\n"
               "return {_schema: '3.0', seen: ++seen, x: typeof globalThis.x, y: doc.y}; }};"));
  const std::string first = Migrate(R"({"_schema":"2.0"})");
  EXPECT_EQ(first, R"({"_schema":"3.0","seen":1,"x":"undefined"})");
  EXPECT_EQ(Migrate(R"({"_schema":"2.0"})"), first);
}

TEST(MigrationChain, ProblemsAreFoundWhenLoading) {
  const auto steps = [](const std::string& names) {
    std::string code = "module.exports = {\n";
    std::string name;
    for (const char c : names + ",") {
      if (c != ',') {
        name += c;
        continue;
      }
      code += "'" + name + "'(doc) { return doc; },\n";
      name.clear();
    }
    return Problem(WithCode(code + "};"));
  };
  EXPECT_EQ(steps("1.0 -> 2.0"),
            "migration.no_step: step '1.0 -> 2.0': no step leads from '1.0' on to the current "
            "version '3.0' (m.js:2:1)\n"
            "migration.no_step: step '1.0 -> 2.0': no step leads from '2.0' on to the current "
            "version '3.0' (m.js:2:1)\n");
  EXPECT_EQ(steps("1.0 -> 2.0,2.0 -> 3.0,3.0 -> 1.0"),
            "migration.cycle: step '3.0 -> 1.0' closes a circle of versions (m.js:4:1)\n");
  EXPECT_EQ(steps("1.0 -> 2.0,2.0 -> 3.0,1.0 -> 3.0"),
            "migration.ambiguous: step '1.0 -> 2.0': another step leads from '1.0', too "
            "(m.js:2:1)\n");
  EXPECT_THAT(steps("2.0 -> 3.0,2.0->3.0"), HasSubstr("migration.duplicate"));
  EXPECT_THAT(steps("2.0 to 3.0"), HasSubstr("migration.bad_name: '2.0 to 3.0'"));
  EXPECT_THAT(Problem(WithCode("module.exports = {\n  '2.0 -> 3.0': 7};")),
              HasSubstr("migration.bad_name: '2.0 -> 3.0': expected a function"));
  EXPECT_THAT(Problem(WithCode("const a = 1;\nmodule.exports = {{\n")),
              HasSubstr("migration.bad_file: SyntaxError"));
  EXPECT_THAT(Problem(WithCode("\n  nowhere();")), HasSubstr("(m.js:2:3)"));
  EXPECT_THAT(Problem(WithCode("for (;;);")), HasSubstr("ran longer than it may"));
}

}  // namespace
}  // namespace sluice::doctype
