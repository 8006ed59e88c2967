// couchbase.mutateIn, lookupIn and reads through the cache, as handlers call them.
#include "function/handler_fixture.h"

namespace sluice::function {
namespace {

class SubdocTest : public HandlerTest {
 protected:
  void Put(const std::string& key, db::Document document) {
    db::Commit commit;
    commit.writes.push_back(
        db::PutWrite(*database_->Resolve({.bucket = "dst"}), key, std::move(document)));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  // Applies specs to document "d" and returns what it became, or the error.
  std::string Mutated(const std::string& before, const std::string& specs) {
    Put("d", {.body = before});
    const std::string result =
        Run("const S = couchbase.MutateInSpec;\n"
            "const r = couchbase.mutateIn(dst, {id: 'd'}, [" +
            specs +
            "]);\n"
            "return r.success ? '' : r.error;");
    return result == "\"\"" ? Document("dst", "d").body : result;
  }
};

TEST_F(SubdocTest, EveryOperation) {
  EXPECT_EQ(Mutated(R"({"a":1})", "S.insert('b', {c: [2]})"), R"({"a":1,"b":{"c":[2]}})");
  EXPECT_EQ(Mutated(R"({"a":1})", "S.upsert('a', 2), S.upsert('b', null)"), R"({"a":2,"b":null})");
  EXPECT_EQ(Mutated(R"({"a":1})", "S.replace('a', 'x')"), R"({"a":"x"})");
  EXPECT_EQ(Mutated(R"({"a":1,"b":2})", "S.remove('a')"), R"({"b":2})");
  EXPECT_EQ(Mutated(R"({"l":[1]})", "S.arrayAppend('l', 2)"), R"({"l":[1,2]})");
  EXPECT_EQ(Mutated(R"({"l":[1]})", "S.arrayPrepend('l', 2)"), R"({"l":[2,1]})");
  EXPECT_EQ(Mutated(R"({"l":[1,3]})", "S.arrayInsert('l[1]', 2)"), R"({"l":[1,2,3]})");
  EXPECT_EQ(Mutated(R"({"l":[1]})", "S.arrayAddUnique('l', 2)"), R"({"l":[1,2]})");
  EXPECT_EQ(Mutated(R"({})", "S.upsert('a.b.c', 1, {create_path: true})"),
            R"({"a":{"b":{"c":1}}})");
}

TEST_F(SubdocTest, SoftErrorsLeaveTheDocument) {
  const std::string missing = Mutated(R"({"a":1})", "S.upsert('a', 2), S.replace('b', 1)");
  EXPECT_NE(missing.find(R"("field_not_found":true)"), std::string::npos) << missing;
  EXPECT_NE(missing.find(R"("name":"LCB_ERR_SUBDOC_PATH_NOT_FOUND")"), std::string::npos);
  EXPECT_EQ(Document("dst", "d").body, R"({"a":1})") << "all or nothing";
  const std::string there = Mutated(R"({"a":1})", "S.insert('a', 2)");
  EXPECT_NE(there.find(R"("field_already_exists":true)"), std::string::npos) << there;
  EXPECT_EQ(Run("return couchbase.mutateIn(dst, {id: 'none'}, "
                "[couchbase.MutateInSpec.upsert('a', 1)]).error.key_not_found;"),
            "true");
  EXPECT_EQ(Run("return couchbase.mutateIn(dst, {id: 'd', cas: '1'}, "
                "[couchbase.MutateInSpec.upsert('a', 1)]).error.cas_mismatch;"),
            "true");
  EXPECT_NE(Mutated(R"({"a":1})", "S.upsert('a.b', 1)").find("KVError"), std::string::npos);
}

TEST_F(SubdocTest, StampExpiryAndAttributes) {
  Put("d", {.body = R"({"a":1})", .xattrs = R"({"x":{"y":1}})"});
  EXPECT_EQ(
      Run("const {MutateInSpec: M, LookupInSpec: L} = couchbase;\n"
          "const before = couchbase.get(dst, {id: 'd'}).meta.cas;\n"
          "const date = new Date(4102444800000);\n"
          "const r = couchbase.mutateIn(dst, {id: 'd', cas: before, expiry_date: date},\n"
          "  [M.upsert('x.z', 2, {xattrs: true}), M.upsert('a', 2)]);\n"
          "const kept = couchbase.mutateIn(dst, {id: 'd'}, [M.upsert('b', 3)]);\n"
          "const seen = couchbase.lookupIn(dst, {id: 'd'},\n"
          "  [L.get('a'), L.get('x.z', {xattrs: true}), L.get('none'), L.get('')]);\n"
          "return [r.meta.cas !== before, kept.meta.expiry_date, seen.doc, seen.success];"),
      R"([true,"2100-01-01T00:00:00.000Z",[{"success":true,"value":2},{"success":true,"value":2},)"
      R"({"success":false},{"success":true,"value":{"a":2,"b":3}}],true])");
  const db::Document after = Document("dst", "d");
  EXPECT_EQ(after.body, R"({"a":2,"b":3})");
  EXPECT_EQ(after.xattrs, R"({"x":{"y":1,"z":2}})");
  EXPECT_EQ(Run("return couchbase.lookupIn(dst, {id: 'none'}, "
                "[couchbase.LookupInSpec.get('a')]).error.key_not_found;"),
            "true");
}

TEST_F(SubdocTest, WrongArguments) {
  const std::pair<const char*, const char*> cases[] = {
      {"couchbase.mutateIn(dst, {id: 'd'})", "couchbase.mutateIn requires at least 3 arguments"},
      {"couchbase.mutateIn(dst, {id: 'd'}, {})",
       "the 'subdoc operations' parameter should be an array"},
      {"couchbase.mutateIn(dst, {id: 'd'}, [{}])", "3rd argument should be of MutateInSpecs"},
      {"couchbase.lookupIn(dst, {id: 'd'}, [couchbase.MutateInSpec.remove('a')])",
       "3rd argument should be of LookupInSpecs"},
      {"couchbase.MutateInSpec.upsert(1, 1)", "path should be a string"},
      {"couchbase.MutateInSpec.upsert('a')", "the value of upsert can't be undefined"},
      {"couchbase.LookupInSpec.get('_a', {xattrs: true})",
       "an extended attribute has 1 to 15 characters and does not begin with _"},
      {"couchbase.LookupInSpec.get('sixteencharacter.a', {xattrs: true})",
       "an extended attribute has 1 to 15 characters and does not begin with _"},
  };
  for (const auto& [call, message] : cases) {
    EXPECT_EQ(Run("return " + std::string(call) + ";"),
              "\"TypeError: " + std::string(message) + "\"");
  }
  EXPECT_EQ(
      Run("return couchbase.mutateIn(fixed, {id: 'd'}, []);"),
      R"("EventingError: Writing to fixed is forbidden: the access of binding fixed is \"r\"")");
  Put("bytes", {.body = "x", .datatype = db::Datatype::kBinary});
  EXPECT_NE(Run("return couchbase.lookupIn(dst, {id: 'bytes'}, "
                "[couchbase.LookupInSpec.get('a')]);")
                .find("document.not_json"),
            std::string::npos);
}

TEST_F(SubdocTest, TheCacheAnswersUntilTheHandlerWrites) {
  Put("d", {.body = R"({"n":1})"});
  const std::string get = "couchbase.get(dst, {id: 'd'}, {cache: true}).doc";
  EXPECT_EQ(Run("const first = " + get + ";\nfirst.n = 99;\nconst second = " + get +
                ";\nreturn [first.n, second.n];"),
            "[99,1]")
      << "copies";
  EXPECT_EQ(statistics_.cache_misses, 1u);
  for (const char* write :
       {"dst['d'] = {n: 2};", "couchbase.upsert(dst, {id: 'd'}, {n: 2});",
        "couchbase.mutateIn(dst, {id: 'd'}, [couchbase.MutateInSpec.upsert('n', 2)]);",
        "const done = UPDATE dst SET n = 2 WHERE META().id = 'd';"}) {
    Put("d", {.body = R"({"n":1})"});
    EXPECT_EQ(Run("const before = " + get + ".n;\n" + write + "\nreturn [before, " + get + ".n];"),
              "[1,2]")
        << write;
  }
  EXPECT_EQ(Run("couchbase.get(dst, {id: 'd'}, {cache: true});\n"
                "couchbase.delete(dst, {id: 'd'});\n"
                "return couchbase.get(dst, {id: 'd'}, {cache: true}).error.key_not_found;"),
            "true");
}

}  // namespace
}  // namespace sluice::function
