#include "doctype/advice/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctype/advice/embed.h"
#include "doctype/advice/infer.h"
#include "doctype/advice/lint.h"
#include "doctype/advice/observed.h"
#include "doctype/advice/report.h"
#include "doctype/migration_runner.h"
#include "doctype/migrations.h"
#include "doctype/schema/schema.h"
#include "doctype/steps.h"
#include "doctype/test_types.h"
#include "doctype/tree.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using testing::HasSubstr;
using testing::Not;

class LintTest : public testing::Test {
 protected:
  void Add(const std::string& key, std::string_view document) {
    ASSERT_TRUE(sample_.Add(key, document).ok()) << document;
  }
  // The finding of a rule at a path; one without a rule if there is none.
  Finding Of(std::string_view rule, std::string_view path = "") {
    for (const Finding& finding : Lint(sample_, options_).findings) {
      if (finding.rule == rule && finding.path == path) return finding;
    }
    return {};
  }

  SampleStatistics sample_;
  LintOptions options_;
};

TEST_F(LintTest, SavingsAreThoseOfTheGuide) {
  Add("user:123", R"({"id":123,"key":"user:123","at":"2018-12-14T03:45:24.478Z",)"
                  R"("day":"Dec 14, 2018","ref":"3f2504e0-4f89-11d3-9a0c-0305e82c3301"})");
  const Finding at = Of("iso-date", "at");
  EXPECT_EQ(at.bytes_saved, 13u);  // 24 and two quotes to 13
  EXPECT_EQ(json::ToText(at.migration), R"([{"cast":{"at":"epoch_ms"}}])");
  EXPECT_EQ(Of("month-date", "day").bytes_saved, 2u);
  EXPECT_EQ(Of("guid-dashes", "ref").bytes_saved, 4u);
  EXPECT_EQ(Of("repeated-id", "id").bytes_saved, std::string(R"("id":123,)").size());
  EXPECT_EQ(Of("repeated-id", "key").documents, 1u);
  EXPECT_EQ(Of("repeated-id", "at").rule, "");
}

// One element of many has the key's number by chance.
TEST_F(LintTest, MostValuesMustBeTheKeys) {
  Add("order:1", R"({"lines":[{"n":1,"order":1},{"n":2,"order":1},{"n":3,"order":1}]})");
  EXPECT_EQ(Of("repeated-id", "lines[].n").rule, "");
  EXPECT_EQ(Of("repeated-id", "lines[].order").documents, 1u);
}

// Ids may have delimiters of their own. Their dashes are the key's, too.
TEST_F(LintTest, IdsWithDelimiters) {
  Add("user::3f2504e0-4f89-11d3-9a0c-0305e82c3301",
      R"({"id":"3f2504e0-4f89-11d3-9a0c-0305e82c3301","part":"3301","name":"ABC-1.0"})");
  EXPECT_EQ(Of("repeated-id", "id").documents, 1u);
  EXPECT_EQ(Of("guid-dashes", "id").rule, "");
  EXPECT_EQ(Of("repeated-id", "part").rule, "");
  Add("license::ABC-1.0", R"({"name":"ABC-1.0"})");
  sample_ = SampleStatistics();
  Add("license::ABC-1.0", R"({"name":"ABC-1.0"})");
  EXPECT_EQ(Of("repeated-id", "name").documents, 1u);
  // Nothing is said of keys that nobody knows.
  sample_ = SampleStatistics();
  Add("", R"({"name":""})");
  EXPECT_EQ(Of("key-prefix").rule, "");
  EXPECT_EQ(Of("repeated-id", "name").rule, "");
}

TEST_F(LintTest, NumbersInQuotesAndLargeParts) {
  for (int i = 0; i < 20; ++i) {
    Add("a:" + std::to_string(i),
        fmt::format(
            R"({{"lat":"42.{}","zip":"0{}","n":{},"_schema":"1.{}","all":{{"x":"{:0200}"}}}})",
            i + 1, i, i, i + 1, i));
  }
  EXPECT_EQ(Of("number-text", "lat").bytes_saved, 40u);
  EXPECT_EQ(json::ToText(Of("number-text", "lat").migration), R"([{"cast":{"lat":"number"}}])");
  EXPECT_EQ(Of("number-text", "zip").rule, "");
  EXPECT_EQ(Of("number-text", "_schema").rule, "");
  EXPECT_THAT(Of("large-part", "all").message, HasSubstr("% of all bytes"));
}

// Bytes of a sample are scaled to what it is a sample of.
TEST_F(LintTest, SamplesAreCalledSo) {
  Add("user:1", R"({"type":"user","schema":"1","id":1})");
  const uint64_t saved = Of("repeated-id", "id").bytes_saved;
  options_.documents_there = 100;
  EXPECT_EQ(Of("repeated-id", "id").bytes_saved, saved * 100);
  EXPECT_THAT(ToText(Lint(sample_, options_)), HasSubstr("1 of 100 documents (sample)"));
  EXPECT_EQ(json::ToText(ToJson(Lint(sample_, options_))["of"]), "100");
}

// Currencies by their codes: one path, not one for each.
TEST(MapsTest, NamesThatAreData) {
  Advice advice;
  ShapeInference inference;
  std::vector<std::string> documents;
  for (int i = 0; i < 60; ++i) {
    documents.push_back(
        fmt::format(R"({{"n":{},"currencies":{{"C{}":{{"name":"Some currency {}","symbol":"$"}}}},)"
                    R"("tongues":{{"t{}":"x","t{}":"x"}},"versions":{{{}}},"flat":{{{}}}}})",
                    i, i % 30, i % 30, i % 25, (i + 1) % 25,
                    [] {
                      std::string all;
                      for (int v = 0; v < 30; ++v)
                        all += fmt::format("{}\"{}\":\"n\"", v ? "," : "", v);
                      return all;
                    }(),
                    [] {
                      std::string all;
                      for (int v = 0; v < 30; ++v)
                        all += fmt::format("{}\"f{}\":\"n\"", v ? "," : "", v);
                      return all;
                    }()));
  }
  for (const std::string& document : documents) ASSERT_TRUE(advice.Look(document).ok());
  for (size_t i = 0; i < documents.size(); ++i) {
    ASSERT_TRUE(advice.Add(fmt::format("c:{}", i), documents[i]).ok());
    ASSERT_TRUE(inference.Add(fmt::format("c:{}", i), documents[i]).ok());
  }
  const std::string text = advice.ToText({}, nullptr);
  EXPECT_THAT(text, Not(HasSubstr("currencies.C1")));
  EXPECT_THAT(text, Not(HasSubstr("tongues.t1")));
  EXPECT_THAT(text, Not(HasSubstr("versions.")));
  EXPECT_THAT(text, HasSubstr("flat.f1"));  // a record of 30 fields
  const auto types = inference.Finish("app");
  ASSERT_EQ(types.size(), 1u);
  EXPECT_EQ(json::ToText(types[0].schema["properties"]["currencies"]["additionalProperties"]
                                        ["properties"]["name"]["type"]),
            "\"string\"");
  EXPECT_THAT(types[0].declaration, HasSubstr("currencies: Record<string, {"));
  EXPECT_THAT(types[0].declaration, HasSubstr("tongues: Record<string, "));
}

TEST(ShapeInference, KeysOfSeveralParts) {
  ShapeInference cities;
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(cities
                    .Add(fmt::format("city::{}::{}", i % 2 ? "AD" : "AE", i),
                         fmt::format(R"({{"country":"{}","name":"c{}"}})", i % 2 ? "AD" : "AE", i))
                    .ok());
  }
  auto types = cities.Finish("geo.n.cities");
  ASSERT_EQ(types.size(), 1u);
  EXPECT_EQ(types[0].name, "city");
  EXPECT_EQ(types[0].matched, 30u);
  EXPECT_THAT(types[0].type_file, HasSubstr(R"(match: { key: "city::{country}::{id2}" })"));
  EXPECT_THAT(types[0].type_file, HasSubstr("unversioned: \"1.0\""));
  EXPECT_THAT(types[0].type_file, Not(HasSubstr("type: type")));

  // One shape: the locales in front are no types.
  ShapeInference emoji;
  for (const char* const locale : {"de", "en", "en-gb", "fr", "it"}) {
    for (int i = 0; i < 9; ++i) {
      ASSERT_TRUE(emoji
                      .Add(fmt::format("{}::1F60{}", locale, i),
                           fmt::format(R"({{"hexcode":"1F60{}","label":"a","group":1}})", i))
                      .ok());
    }
  }
  types = emoji.Finish("app.n.emoji");
  ASSERT_EQ(types.size(), 1u);
  EXPECT_EQ(types[0].name, "emoji");
  EXPECT_THAT(types[0].type_file, HasSubstr(R"(match: { key: "{id}::{hexcode}" })"));

  // A property whose values have all the same fields says something else.
  ShapeInference mime;
  for (const char* const type : {"audio", "video", "text", "image"}) {
    ASSERT_TRUE(
        mime.Add(fmt::format("{}/x", type), fmt::format(R"({{"type":"{}","source":"iana"}})", type))
            .ok());
  }
  types = mime.Finish("app.n.mime");
  ASSERT_EQ(types.size(), 1u);
  EXPECT_THAT(types[0].type_file, HasSubstr("match: { key: \"{type}/{id2}\" }"));
  EXPECT_THAT(types[0].type_file, Not(HasSubstr("type: type")));
}

TEST_F(LintTest, DraftsOfMigrationsDoWhatTheyPromise) {
  constexpr std::string_view kDocument =
      R"({"when":"2018-12-14T03:45:24Z","list":[{"day":"Dec 14, 2018"}],"ms":1544759124000,)"
      R"("customerShippingAddress":"x"})";
  Add("a:1", kDocument);
  json::Value document = *json::Parse(kDocument);
  for (const Finding& finding : Lint(sample_, options_).findings) {
    for (const json::Value& item : finding.migration.items()) {
      MigrationStep step;
      step.kind = item.fields()[0].name() == "cast" ? MigrationStep::Kind::kCast
                                                    : MigrationStep::Kind::kRename;
      step.arguments = item.fields()[0].value;
      ASSERT_TRUE(CheckStep(step).ok()) << json::ToText(item);
      ASSERT_TRUE(ApplyStep(step, &document).ok()) << json::ToText(item);
    }
  }
  EXPECT_EQ(json::ToText(document),
            R"({"when":1544759124,"list":[{"day":"2018-12-14"}],"ms":1544759124,)"
            R"("customerShippingAddress":"x"})");
}

TEST_F(LintTest, PrecisionFinerThanUsed) {
  Add("a:1", R"({"a":1544759124000,"b":1544759124478})");
  Add("a:2", R"({"a":1544759125000,"b":1544759125000})");
  EXPECT_EQ(Of("fine-precision", "a").bytes_saved, 6u);
  EXPECT_EQ(Of("fine-precision", "b").rule, "");
}

TEST_F(LintTest, PrecisionIsTheCoarsestThatAllTimesHave) {
  for (int i = 1; i <= 3; ++i) {
    const int64_t day = 86'400'000LL * (17'000 + i);
    Add("a:" + std::to_string(i),
        fmt::format(R"({{"day":{},"hour":{},"minute":{},"text":"2018-12-0{}T00:00:00Z",)"
                    R"("some":"2018-12-0{}T00:0{}:00Z"}})",
                    day, day + 3'600'000, day + 60'000, i, i, i));
  }
  EXPECT_EQ(Of("fine-precision", "day").bytes_saved, 3u * 8);
  EXPECT_EQ(json::ToText(Of("fine-precision", "day").migration), R"([{"cast":{"day":"days"}}])");
  EXPECT_EQ(Of("fine-precision", "hour").bytes_saved, 3u * 7);
  EXPECT_EQ(Of("fine-precision", "minute").bytes_saved, 3u * 5);
  EXPECT_EQ(Of("iso-date", "text").message, "store it as an epoch in days");
  EXPECT_EQ(Of("iso-date", "text").bytes_saved, 3u * 17);
  EXPECT_EQ(json::ToText(Of("iso-date", "some").migration),
            R"([{"cast":{"some":"epoch_minutes"}}])");
}

// What a draft in JavaScript makes of a document.
std::string Drafted(const std::string& script, std::string_view document) {
  const auto type = TypeOf(
      "type: a\nkeyspace: app\nmatch: {key: 'a:{id}'}\nproperties: {schema: v}\nschema: '2'\n"
      "migrations: m.js\n",
      {{"m.js", "module.exports = {'1 -> 2'(doc) { " + script + " doc.v = '2'; return doc; }};"}});
  Problems problems;
  const auto migrations = Migrations::Compile(type, &problems);
  if (migrations == nullptr) return Lines(problems.errors);
  const SystemClock clock;
  const auto made = MigrationRunner(migrations, kPatient, clock).Run("a:1", document);
  return made ? made->document : made.error().ToString();
}

TEST_F(LintTest, DraftsInJavaScriptDoWhatTheyPromise) {
  constexpr std::string_view kDocument =
      R"({"v":"1","note":null,"in":{"x-y":"","n":1},"list":[{"e":[]},{"e":[1]}],"state":"on",)"
      R"("lines":[{"vat":19,"sku":"a"},{"vat":19,"sku":"b"}],"days":["2018-12-14T03:45:24Z"],)"
      R"("tags":"one"})";
  for (int i = 0; i < 20; ++i) Add("a:" + std::to_string(i), kDocument);
  for (int i = 20; i < 22; ++i) Add("a:" + std::to_string(i), R"({"v":"1","tags":["a","b"]})");
  std::string all;
  for (const auto& [rule, path] :
       std::vector<std::pair<std::string, std::string>>{{"empty-value", "note"},
                                                        {"empty-value", "in.x-y"},
                                                        {"empty-value", "list[].e"},
                                                        {"default-value", "state"},
                                                        {"repeated-element", "lines[].vat"},
                                                        {"iso-date", "days[]"}}) {
    const std::string script = Of(rule, path).script;
    EXPECT_NE(script, "") << rule << " " << path;
    all += "{ " + script + " } ";
  }
  EXPECT_EQ(Drafted(all, kDocument),
            R"({"v":"2","in":{"n":1},"list":[{},{"e":[1]}],)"
            R"("lines":[{"sku":"a"},{"sku":"b"}],"days":[1544759124],"tags":"one","linesVat":19})");
  EXPECT_EQ(Drafted(all, R"({"v":"1"})"), R"({"v":"2"})");
}

TEST_F(LintTest, ValuesOfSeveralTypesBecomeTheMostFrequentOne) {
  for (int i = 0; i < 3; ++i) Add("a:1", R"({"n":"1","l":[1]})");
  Add("a:2", R"({"n":2,"l":3})");
  EXPECT_EQ(json::ToText(Of("mixed-types", "n").migration), R"([{"cast":{"n":"string"}}])");
  for (int i = 0; i < 4; ++i) Add("a:2", R"({"n":2,"l":3})");
  EXPECT_EQ(json::ToText(Of("mixed-types", "n").migration), R"([{"cast":{"n":"number"}}])");
  Add("a:3", R"({"n":"many"})");  // no number: only texts hold all of them
  EXPECT_EQ(json::ToText(Of("mixed-types", "n").migration), R"([{"cast":{"n":"string"}}])");
  const std::string wrap = Of("mixed-types", "l").script;
  EXPECT_EQ(Drafted(wrap, R"({"v":"1","l":3})"), R"({"v":"2","l":[3]})");
  EXPECT_EQ(Drafted(wrap, R"({"v":"1","l":[3]})"), R"({"v":"2","l":[3]})");
}

TEST_F(LintTest, EmptyDefaultAndRepeatedValues) {
  for (int i = 0; i < 40; ++i) {
    Add("order:" + std::to_string(i),
        R"({"note":null,"tags":[],"currency":")" + std::string(i == 7 ? "USD" : "EUR") +
            R"(","n":)" + std::to_string(i * 7) +
            R"(,"lines":[{"vat":19,"sku":"a"},{"vat":19,"sku":"b"},{"vat":19,"sku":"c"}]})");
  }
  EXPECT_EQ(Of("empty-value", "note").bytes_saved, 40 * std::string(R"("note":null,)").size());
  EXPECT_EQ(Of("empty-value", "tags").documents, 40u);
  EXPECT_EQ(Of("default-value", "currency").example, R"("EUR")");
  EXPECT_EQ(Of("default-value", "n").rule, "");
  EXPECT_EQ(Of("repeated-element", "lines[].vat").bytes_saved,
            40 * 2 * std::string(R"("vat":19,)").size());
  EXPECT_EQ(Of("repeated-element", "lines[].sku").rule, "");
}

TEST_F(LintTest, KeysTypesAndVersions) {
  Add("user:1", R"({"type":"user","_a":1})");
  Add("user:2", R"({"type":"user"})");
  Add("order_7", "{}");
  Add("4711", "{}");
  Add("en-gb::1:2", R"({"type":"x"})");
  EXPECT_EQ(Of("no-type").documents, 2u);
  EXPECT_EQ(Of("no-version").documents, 5u);
  EXPECT_THAT(Of("no-version").instead, HasSubstr("unversioned: \"1.0\""));
  EXPECT_EQ(Of("key-prefix").example, "4711");
  EXPECT_EQ(Of("key-delimiters").documents, 1u);
  for (const std::string_view rule : {"no-type", "no-version", "key-prefix", "key-delimiters"}) {
    EXPECT_NE(Of(rule).instead, "") << rule;
  }
  EXPECT_THAT(Of("key-delimiters").message, HasSubstr("':' in 2, '_' in 1"));
  EXPECT_EQ(Of("key-delimiters").example, "order_7");
  options_.keyspace = "app.shop.orders";
  EXPECT_THAT(Of("key-delimiters").instead, HasSubstr("INSERT INTO `app`.`shop`.`orders` "));
  EXPECT_EQ(Of("root-underscore", "_a").rule, "");
  options_.synchronised = true;
  EXPECT_EQ(json::ToText(Of("root-underscore", "_a").migration), R"([{"rename":{"_a":"a"}}])");
}

TEST_F(LintTest, ShapesThatMakeTrouble) {
  std::string list = "1";
  for (int i = 0; i < 150; ++i) list += ",1";
  Add("a:1", R"({"l":[)" + list + R"(],"m":1})");
  Add("a:2", R"({"l":[],"m":"1"})");
  EXPECT_THAT(Of("unbounded-array", "l").message, HasSubstr("151 elements, the mean 75.5"));
  EXPECT_EQ(Of("unbounded-array", "l").instead, R"(limits: { array: { "l": 151 } })");
  EXPECT_EQ(Of("mixed-types", "m").message, "values of several types: 1 number, 1 string");
  EXPECT_EQ(Of("near-limit").rule, "");
  options_.limit_bytes = 400;
  EXPECT_EQ(Of("near-limit").rule, "");
  options_.limit_bytes = 330;
  EXPECT_EQ(Of("near-limit").example, "a:1");
  options_.read_paths = {"l"};
  EXPECT_EQ(Of("unread-field", "m").documents, 2u);
  EXPECT_EQ(Of("unread-field", "l[]").rule, "");
}

TEST_F(LintTest, KnowsTheType) {
  const auto type = TypeOf(kUserType);
  options_.type = type.get();
  Add("user:1", R"({"_type":"user","_schema":"3.0","phones":[]})");
  Add("user:2", R"({"_type":"user","_schema":"1.0"})");
  EXPECT_EQ(Of("old-versions", "_schema").documents, 1u);
  EXPECT_EQ(Of("old-versions", "_schema").instead, "sluice types migrate user");
  EXPECT_EQ(Of("no-version").rule, "");
}

TEST_F(LintTest, ReportForPeopleAndPrograms) {
  Add("user:1", R"({"type":"user","schema":"1","at":"2018-12-14T03:45:24Z"})");
  Add("user:2", R"({"type":"user","schema":"1"})");
  const LintReport report = Lint(sample_, options_);
  EXPECT_EQ(ToText(report),
            "2 documents, 84 bytes, 1 findings\n"
            "\n"
            "RULE      PATH  DOCUMENTS  SHARE              BYTES SAVED  RISK\n"
            "iso-date  at            1  #####.....  50.0%           12  medium\n"
            "\n"
            "iso-date at\n"
            "    store it as an epoch in seconds\n"
            "    example: 2018-12-14T03:45:24Z\n"
            "    migration: [{\"cast\":{\"at\":\"epoch_s\"}}]\n");
  EXPECT_EQ(json::ToText(ToJson(report)["findings"][0]["share"]), "0.5");
  EXPECT_EQ(ToText(Lint(SampleStatistics(), options_)), "0 documents, 0 bytes, 0 findings\n");
}

TEST(EmbedAdvice, Verdicts) {
  EmbedAdvice advice;
  for (int i = 0; i < 10; ++i) {
    std::string events;
    for (int j = 0; j < i * 20; ++j) {
      events += fmt::format("{}{{\"at\":{}}}", j == 0 ? "" : ",", i * 1000 + j);
    }
    ASSERT_TRUE(
        advice
            .Add(fmt::format(R"({{"events":[{}],"phones":[{{"n":{}}}],"name":{{"first":"f{}"}},)"
                             R"("country":{{"code":"DE","capital":"Berlin"}}}})",
                             events, i, i))
            .ok());
  }
  std::map<std::string, std::string> verdicts;
  for (const EmbedVerdict& verdict : advice.Finish()) {
    verdicts[verdict.path] = (verdict.reference ? "reference: " : "embed: ") + verdict.rule;
  }
  EXPECT_EQ(verdicts["events"], "reference: unbounded arrays are not embedded");
  EXPECT_EQ(verdicts["phones"], "embed: one-to-few");
  EXPECT_EQ(verdicts["name"], "embed: it belongs to the document");
  EXPECT_THAT(verdicts["country"], HasSubstr("reference: many-to-many"));
  const auto observed = advice.Finish({{"phones", {.updates_alone = 8, .updates = 10}}});
  EXPECT_THAT(ToText(observed), HasSubstr("it changes often, and by itself"));
  const auto grown = advice.Finish({{"phones", {.updates_longer = 6, .updates = 10}}});
  EXPECT_THAT(ToText(grown), HasSubstr("most updates make it longer"));
  EXPECT_THAT(ToText(grown), HasSubstr("6/10"));
  EXPECT_EQ(ToJson(observed)[0]["path"].AsString(), "country");
}

TEST(ShapeInference, ProposesTypes) {
  ShapeInference inference;
  std::vector<std::string> users;
  for (int i = 0; i < 30; ++i) {
    users.push_back(fmt::format(
        R"({{"type":"user","id":{},"state":"{}","mail":"a{}@b.org","tags":["x"],"note":null{}}})",
        i, i % 2 == 0 ? "on" : "off", i, i == 0 ? R"(,"first-name":"Joe")" : ""));
    ASSERT_TRUE(inference.Add(fmt::format("user:{}", i), users.back()).ok());
  }
  ASSERT_TRUE(
      inference.Add("order::1", R"({"total":1.5,"lines":[{"n":1},{"n":2.5,"x":{}}]})").ok());
  ASSERT_TRUE(inference.Add("9", R"({"z":true})").ok());
  ASSERT_TRUE(inference.Add("10", "[]").ok());
  const auto types = inference.Finish("app._default._default");
  ASSERT_EQ(types.size(), 3u);
  EXPECT_EQ(inference.left_out(), 1u);
  EXPECT_EQ(types[0].declaration,
            "export interface User {\n"
            "  type: \"user\";\n"
            "  id: number;\n"
            "  state: \"off\" | \"on\";\n"
            "  mail: string;\n"
            "  tags: Array<\"x\">;\n"
            "  note: null;\n"
            "  \"first-name\"?: string;\n"
            "}\n");
  EXPECT_EQ(json::ToText(types[0].schema["properties"]["mail"]),
            R"({"type":"string","format":"email"})");
  EXPECT_THAT(types[0].type_file, HasSubstr("match: { key: \"user:{id}\", property: type }"));
  // What is proposed can be used: the type file is read, and the documents fit the schema.
  TypeOf(types[0].type_file, {{"schemas/user-1.json", json::ToText(types[0].schema)}});
  Problems problems;
  const auto schema = Schema::Compile(types[0].schema, "s", "", &problems);
  ASSERT_NE(schema, nullptr);
  EXPECT_TRUE(problems.warnings.empty());
  for (const std::string& user : users) EXPECT_TRUE(schema->Validate(*json::Parse(user)).empty());
  EXPECT_FALSE(schema->Validate(*json::Parse(R"({"type":"user"})")).empty());
  EXPECT_THAT(ToText(types), HasSubstr("user   property         30       30"));
  EXPECT_EQ(ToJson(types)[0]["found_by"].AsString(), "property");
}

TEST(Report, BarsAndTables) {
  EXPECT_EQ(Bar(0.25, 8), "##......");
  EXPECT_EQ(Bar(7, 4), "####");
  EXPECT_EQ(Table({"A", "NUMBER"}, {{"äö", "7"}, {"x", "12"}}),
            "A   NUMBER\näö       7\nx       12\n");
}

Observed Seen() {
  Observed seen;
  seen.since = "2026-01-01T00:00:00Z";
  seen.statements = 10;
  seen.paths = {{"name", 10}};
  seen.updates = 8;
  seen.changed = {{"cart", 6}, {"name", 2}};
  seen.alone = {{"cart", 6}};
  seen.joins = {{"orders", "userId", "users", 9, 10, 2},
                {"orders", "shop", "shops", 1, 10, 0},
                {"orders", "stock", "stocks", 9, 10, 50}};
  return seen;
}

TEST(ObservedTest, FieldsThatNobodyReads) {
  Advice advice;
  ASSERT_TRUE(
      advice.Add("u:1", R"({"name":"a","fax":"b","tel":"c","type":"u","_schema":"1"})").ok());
  Observed seen = Seen();
  AddNames("function OnUpdate(doc) { log(doc.tel); }", &seen.names);
  const auto unread = [&](const Observed* observed) {
    std::string paths;
    const json::Value report = advice.ToJson({}, observed);
    for (const json::Value& finding : report["findings"].items()) {
      if (finding["rule"].AsString() == "unread-field") {
        paths += std::string(finding["path"].AsString()) + " ";
      }
    }
    return paths;
  };
  EXPECT_EQ(unread(&seen), "");  // too few statements
  seen.statements = Observed::kLeastStatements;
  seen.seconds = Observed::kLeastSeconds - 1;
  EXPECT_EQ(unread(&seen), "");
  EXPECT_THAT(advice.ToText({}, &seen),
              testing::HasSubstr("names fields that nobody reads after 1000 runs"));
  seen.seconds = Observed::kLeastSeconds;
  EXPECT_EQ(unread(&seen), "fax ");
  EXPECT_THAT(advice.ToText({}, &seen), Not(testing::HasSubstr("drop")));
  EXPECT_EQ(unread(nullptr), "");
  seen.whole = 1;  // who knows which fields it uses
  EXPECT_EQ(unread(&seen), "");
  EXPECT_THAT(advice.ToText({}, &seen), testing::HasSubstr("since the server's start at 2026"));
  EXPECT_THAT(advice.ToText({}, &seen), testing::HasSubstr("1 of them read whole documents"));
}

TEST(AdviceTest, VersionsLeftBehindOfSeveralTypes) {
  const auto user = TypeOf(R"(type: user
keyspace: b
match: { key: "user:{id}" }
properties: { schema: _schema }
schema: "2"
limits: { bytes: 100B }
)");
  const auto order = TypeOf(R"(type: order
keyspace: b
match: { key: "order:{id}" }
properties: { schema: _v }
schema: "1"
)");
  for (const TypeSet::Types& types : {TypeSet::Types{user}, TypeSet::Types{user, order}}) {
    Advice advice(types);
    ASSERT_TRUE(advice.Add("user:1", R"({"_schema":"1"})").ok());
    ASSERT_TRUE(advice.Add("user:2", fmt::format(R"({{"_schema":"2","t":"{:080}"}})", 1)).ok());
    ASSERT_TRUE(advice.Add("order:1", R"({"_v":"1"})").ok());
    std::map<std::string, uint64_t> found;
    const json::Value report = advice.ToJson({}, nullptr);
    for (const json::Value& finding : report["findings"].items()) {
      found[std::string(finding["rule"].AsString())] +=
          static_cast<uint64_t>(finding["documents"].AsInt());
    }
    EXPECT_EQ(found["old-versions"], 1u);
    EXPECT_EQ(found["near-limit"], 1u);
  }
}

TEST(ShapeInference, KnowsVersionsHoldersAndDelimiters) {
  ShapeInference inference;
  ASSERT_TRUE(inference.Add("user::1", R"({"_type":"user","_schema":"9.0"})").ok());
  ASSERT_TRUE(inference.Add("user::2", R"({"_type":"user","_schema":"10.0"})").ok());
  ASSERT_TRUE(inference.Add("item:1", R"({"meta":{"type":"item","schema":2}})").ok());
  ASSERT_TRUE(inference.Add("line:1", R"({"n":1})").ok());
  ASSERT_TRUE(inference.Add("line:1:2", R"({"n":1})").ok());
  std::map<std::string, std::string> files;
  for (const InferredType& type : inference.Finish("app")) {
    files[type.name] = type.type_file;
    const auto read =
        TypeOf(type.type_file, {{"schemas/" + type.name + "-1.json", json::ToText(type.schema)}});
    if (type.name == "user") {
      EXPECT_TRUE(read->key->Matches("user::7"));
      EXPECT_EQ(read->schema, "10.0");
    }
    if (type.name == "item") {
      EXPECT_EQ(read->properties.PathOf(Stamp::kSchema), "meta.schema");
      EXPECT_EQ(read->properties.PathOf(Stamp::kType), "meta.type");
      EXPECT_EQ(read->schema, "2");
    }
  }
  EXPECT_THAT(files["user"], HasSubstr("documents of version 9.0, too"));
  EXPECT_THAT(files["line"], HasSubstr("match: { property: _type }"));
  EXPECT_THAT(files["line"], HasSubstr("# Nothing in these documents or their keys"));
}

TEST(ObservedTest, PartsThatAreUpdatedAlone) {
  Advice advice;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(advice.Add("u", fmt::format(R"({{"name":"a","cart":{{"n":{}}}}})", i)).ok());
  }
  const Observed seen = Seen();
  const json::Value with = advice.ToJson({}, &seen)["embed"][0];
  EXPECT_EQ(with["path"].AsString(), "cart");
  EXPECT_EQ(with["verdict"].AsString(), "reference");
  EXPECT_EQ(with["updates_alone"].AsInt(), 6);
  EXPECT_EQ(with["updates"].AsInt(), 8);
  EXPECT_EQ(advice.ToJson({}, nullptr)["embed"][0]["verdict"].AsString(), "embed");
}

TEST(ObservedTest, Joins) {
  const auto verdicts = JudgeJoins(Seen());
  EXPECT_TRUE(verdicts[0].embed);
  EXPECT_FALSE(verdicts[1].embed);
  EXPECT_THAT(verdicts[1].rule, testing::HasSubstr("read apart"));
  EXPECT_FALSE(verdicts[2].embed);
  EXPECT_THAT(verdicts[2].rule, testing::HasSubstr("changes often"));
}

TEST(ObservedTest, JsonAndBack) {
  Observed seen = Seen();
  AddNames("a.b_c$ 'x-y' \xc3\xa9t\xc3\xa9", &seen.names);
  EXPECT_THAT(seen.names, testing::ElementsAre("a", "b_c$", "x", "y", "\xc3\xa9t\xc3\xa9"));
  const auto back = ObservedFromJson(ToJson(seen));
  ASSERT_TRUE(back);
  EXPECT_EQ(json::ToText(ToJson(*back)), json::ToText(ToJson(seen)));
  EXPECT_FALSE(ObservedFromJson(json::Value::EmptyObject()));
}

}  // namespace
}  // namespace sluice::doctype
