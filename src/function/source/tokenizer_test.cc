#include "function/source/tokenizer.h"

#include <gtest/gtest.h>

#include "function/source/token_list.h"

namespace sluice::function {
namespace {

// One letter for each token's kind, then its text: "i:a p:+ n:1".
std::string Show(std::string_view text) {
  static constexpr std::string_view kLetters = "$i#kpnstHMTrSE";
  std::string shown;
  for (const Token& token : Tokenize(text)) {
    if (token.kind == TokenKind::kEnd) break;
    if (!shown.empty()) shown += ' ';
    shown += kLetters[static_cast<size_t>(token.kind)];
    shown += ':';
    shown += token.text;
  }
  return shown;
}

struct Case {
  std::string_view text;
  std::string_view tokens;
};

void Check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) EXPECT_EQ(Show(c.text), c.tokens) << c.text;
}

TEST(TokenizerTest, Names) {
  Check({
      {"a $b _c d1", "i:a i:$b i:_c i:d1"},
      {"größe π 名", "i:größe i:π i:名"},
      {"\\u0061b \\u{62}", "i:\\u0061b i:\\u{62}"},
      {"\\u00", "E:\\ i:u00"},
      {"#x in y", "#:#x k:in i:y"},
      {"if of get", "k:if i:of i:get"},
      {"a.if b?.delete", "i:a p:. i:if i:b p:?. i:delete"},
      {"({if: 1, delete: 2})", "p:( p:{ i:if p:: n:1 p:, i:delete p:: n:2 p:} p:)"},
      {"class A { delete(x) {} if() {} }",
       "k:class i:A p:{ i:delete p:( i:x p:) p:{ p:} i:if p:( p:) p:{ p:} p:}"},
      {"", ""},
  });
  EXPECT_EQ(NameOf(Tokenize("\\u0061b\\u{1F600}c")[0]), "ab\U0001F600c");
}

TEST(TokenizerTest, Numbers) {
  Check({
      {"0 1.5 .5 5. 1e3 1E-3", "n:0 n:1.5 n:.5 n:5. n:1e3 n:1E-3"},
      {"0xFf 0o17 0b11 1_000 10n 0x1n", "n:0xFf n:0o17 n:0b11 n:1_000 n:10n n:0x1n"},
      {"1..toString()", "n:1. p:. i:toString p:( p:)"},
      {"3in []", "E:3in p:[ p:]"},
      {"1__0", "E:1__0"},
      {"1_", "E:1_"},
      {"0x", "E:0x"},
      {"1e", "E:1e"},
      {"a?.5:1", "i:a p:? n:.5 p:: n:1"},
  });
}

TEST(TokenizerTest, Strings) {
  Check({
      {R"('a' "b" 'it\'s' "\\")", R"(s:'a' s:"b" s:'it\'s' s:"\\")"},
      {"'a\\\nb'", "s:'a\\\nb'"},
      {"'a\\\r\nb'", "s:'a\\\r\nb'"},
      {"'// no comment'", "s:'// no comment'"},
      {"'a\nb", "E:'a i:b"},
      {"\"", "E:\""},
      {"'\\", "E:'\\"},
      {"'\xe2\x80\xa8'", "s:'\xe2\x80\xa8'"},
  });
}

TEST(TokenizerTest, Templates) {
  Check({
      {"`a`", "t:`a`"},
      {"`a\nb\\`c`", "t:`a\nb\\`c`"},
      {"`a${b}c`", "H:`a${ i:b T:}c`"},
      {"`a${b}c${d}e`", "H:`a${ i:b M:}c${ i:d T:}e`"},
      {"`${`${{a: 1}}`}`", "H:`${ H:`${ p:{ i:a p:: n:1 p:} T:}` T:}`"},
      {"`${() => { return 1 }}`", "H:`${ p:( p:) p:=> p:{ k:return n:1 p:} T:}`"},
      {"`'` + '`'", "t:`'` p:+ s:'`'"},
      {"`a", "E:`a"},
      {"`a${b", "H:`a${ i:b E:`a${"},
      {"`${a}` / 2", "H:`${ i:a T:}` p:/ n:2"},
      {"f`x` /2/ g", "i:f t:`x` p:/ n:2 p:/ i:g"},
  });
}

TEST(TokenizerTest, Comments) {
  Check({
      {"a // b\nc", "i:a i:c"},
      {"a /* b ' \n */ c", "i:a i:c"},
      {"a /* b", "i:a E:/* b"},
      {"#!/bin/node\na", "i:a"},
      {" #!x", "E:# p:! i:x"},
      {"<!-- old\na", "i:a"},
      {"a\n--> old\nb", "i:a i:b"},
      {"a --> b", "i:a p:-- p:> i:b"},
      {"\xef\xbb\xbf a\xc2\xa0", "i:a"},
  });
}

TEST(TokenizerTest, Punctuators) {
  Check({
      {"a?.b??c", "i:a p:?. i:b p:\?\? i:c"},
      {"a**=b>>>=c", "i:a p:**= i:b p:>>>= i:c"},
      {"a\?\?=b&&=c||=d", "i:a p:\?\?= i:b p:&&= i:c p:||= i:d"},
      {"(...a)=>b", "p:( p:... i:a p:) p:=> i:b"},
      {"a @ b", "i:a E:@ i:b"},
      {"a ) b", "i:a E:) i:b"},
      {"(a ] b)", "p:( i:a E:] i:b p:)"},
      {"(a", "p:( i:a E:("},
  });
}

TEST(TokenizerTest, RegularExpressionOrDivision) {
  Check({
      {"a / b / c", "i:a p:/ i:b p:/ i:c"},
      {"a = /b/g", "i:a p:= r:/b/g"},
      {"/[/']/.test(a)", "r:/[/']/ p:. i:test p:( i:a p:)"},
      {R"(/\/'/)", R"(r:/\/'/)"},
      {"/a", "E:/a"},
      {"/a\nb/", "E:/a i:b p:/"},
      {"return /a/", "k:return r:/a/"},
      {"typeof /a/", "k:typeof r:/a/"},
      {"this / 2 / 3", "k:this p:/ n:2 p:/ n:3"},
      {"a.return / 2 / 3", "i:a p:. i:return p:/ n:2 p:/ n:3"},
      {"(a) / 2 / 3", "p:( i:a p:) p:/ n:2 p:/ n:3"},
      {"a[0] / 2 / 3", "i:a p:[ n:0 p:] p:/ n:2 p:/ n:3"},
      {"if (a) /b/.test(c)", "k:if p:( i:a p:) r:/b/ p:. i:test p:( i:c p:)"},
      {"while (a) /b/g", "k:while p:( i:a p:) r:/b/g"},
      {"for (;;) /b/g", "k:for p:( p:; p:; p:) r:/b/g"},
      {"for await (a of b) /c/g", "k:for k:await p:( i:a i:of i:b p:) r:/c/g"},
      {"for (a of /b/g) c", "k:for p:( i:a i:of r:/b/g p:) i:c"},
      {"x.if (a) / b / c", "i:x p:. i:if p:( i:a p:) p:/ i:b p:/ i:c"},
      {"{} /a/g", "p:{ p:} r:/a/g"},
      {"x = {} / a / g", "i:x p:= p:{ p:} p:/ i:a p:/ i:g"},
      {"function f() {} /a/g", "k:function i:f p:( p:) p:{ p:} r:/a/g"},
      {"x = function() {} / a / g", "i:x p:= k:function p:( p:) p:{ p:} p:/ i:a p:/ i:g"},
      {"x = function(a = (1)) {} / a",
       "i:x p:= k:function p:( i:a p:= p:( n:1 p:) p:) p:{ p:} "
       "p:/ i:a"},
      {"class A {} /a/g", "k:class i:A p:{ p:} r:/a/g"},
      {"x = class {} / a / g", "i:x p:= k:class p:{ p:} p:/ i:a p:/ i:g"},
      {"a++ / 2 / b", "i:a p:++ p:/ n:2 p:/ i:b"},
      {"a\n++/b/.c", "i:a p:++ r:/b/ p:. i:c"},
      {"l: {} /a/g", "i:l p:: p:{ p:} r:/a/g"},
      {"a ? {} / b : c", "i:a p:? p:{ p:} p:/ i:b p:: i:c"},
      {"a ? b : {} / c", "i:a p:? i:b p:: p:{ p:} p:/ i:c"},
      {"switch (a) { case 1: {} /b/g }",
       "k:switch p:( i:a p:) p:{ k:case n:1 p:: p:{ p:} r:/b/g p:}"},
      {"x = {a: {} / b}", "i:x p:= p:{ i:a p:: p:{ p:} p:/ i:b p:}"},
      {"a => {}\n/b/g", "i:a p:=> p:{ p:} p:/ i:b p:/ i:g"},
      {"try {} catch {} /a/g", "k:try p:{ p:} k:catch p:{ p:} r:/a/g"},
      {"return\n{} /a/g", "k:return p:{ p:} r:/a/g"},
      {"else /a/g", "k:else r:/a/g"},
      {"yield /a/g", "k:yield r:/a/g"},
      {"a = b\n/c/g", "i:a p:= i:b p:/ i:c p:/ i:g"},
  });
}

// Not JavaScript, but it must come out the other end.
TEST(TokenizerTest, SurvivesSql) {
  Check({
      {"SELECT * FROM `a-b` WHERE c > $d;", "i:SELECT p:* i:FROM t:`a-b` i:WHERE i:c p:> i:$d p:;"},
      {"a -- it's\nb", "i:a p:-- i:it E:'s i:b"},
      {"'it''s'", "s:'it' s:'s'"},
  });
}

TEST(TokenizerTest, PlacesAndNewlines) {
  const TokenList tokens = Tokenize("a\r\n  b\rc\xe2\x80\xa8\"\U0001F600\" d /*\n*/ e");
  ASSERT_EQ(tokens.size(), 7U);
  const SourcePlace places[] = {{1, 1}, {2, 3}, {3, 1}, {4, 1}, {4, 6}, {5, 4}};
  const bool newlines[] = {true, true, true, true, false, true};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(tokens[i].place, places[i]) << i;
    EXPECT_EQ(tokens[i].newline_before, newlines[i]) << i;
  }
  EXPECT_EQ(tokens[1].offset, 5U);
}

TEST(TokenizerTest, DeepNestingEnds) {
  const std::string text(kMaxSourceNesting + 1, '(');
  const TokenList tokens = Tokenize(text);
  EXPECT_EQ(FirstError(tokens).problem, "the code is nested too deeply");
  EXPECT_EQ(FirstError(tokens).place.column, kMaxSourceNesting + 1);
  EXPECT_EQ(tokens.size(), kMaxSourceNesting + 2);
  const std::string fits =
      std::string(kMaxSourceNesting, '(') + std::string(kMaxSourceNesting, ')');
  EXPECT_EQ(FirstError(Tokenize(fits)).kind, TokenKind::kEnd);
}

TEST(TokenListTest, DeclaredNames) {
  const struct {
    std::string_view text;
    std::set<std::string> names;
  } cases[] = {
      {"var a = b, c; let d\nconst e = f(g, h), i = [j]", {"a", "c", "d", "e", "i"}},
      {"let {a, b: c, d = e, [f]: g, ...h} = i;", {"a", "c", "d", "g", "h"}},
      {"let [a, , [b = c], ...d] = e;", {"a", "b", "d"}},
      {"function a(b, {c}, d = e) {} function* f() {}", {"a", "b", "c", "d", "f"}},
      {"x = (a, b) => c; y = d => e; z = async f => g", {"a", "b", "d", "f"}},
      {"class A { m(a) {} }", {"A", "a"}},
      {"try {} catch (a) {} try {} catch ({b}) {}", {"a", "b"}},
      {"if (a) {} while (b) {} for (const c of d) {}", {"c"}},
      {"f(a, b); new C(d)", {}},
      {"var a = 1\nb = 2, c", {"a"}},
      {"var \\u0061b", {"ab"}},
  };
  for (const auto& c : cases) EXPECT_EQ(DeclaredNames(Tokenize(c.text)), c.names) << c.text;
}

}  // namespace
}  // namespace sluice::function
