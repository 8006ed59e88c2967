#include "lua/pattern.h"

#include <gtest/gtest.h>

#include "lua/test_program.h"

namespace sluice::lua {
namespace {

// Expected results are those of Lua's own library.
TEST(Pattern, Find) {
  EXPECT_EQ(Eval("return ('hello world'):find('wor')"), "7 9");
  EXPECT_EQ(Eval("return ('hello'):find('l+')"), "3 4");
  EXPECT_EQ(Eval("return ('hello'):find('xyz')"), "nil");
  EXPECT_EQ(Eval("return ('a.b'):find('.', 1, true)"), "2 2");
  EXPECT_EQ(Eval("return ('hello'):find('')"), "1 0");
  EXPECT_EQ(Eval("return ('hello'):find('', 10)"), "nil");
  EXPECT_EQ(Eval("return ('hello'):find('l', -2)"), "4 4");
  EXPECT_EQ(Eval("return ('hello'):find('^h')"), "1 1");
  EXPECT_EQ(Eval("return ('hello'):find('^e')"), "nil");
  EXPECT_EQ(Eval("return ('hello'):find('o$')"), "5 5");
  EXPECT_EQ(Eval("return ('key = value'):find('(%w+)%s*=%s*(%w+)')"), "1 11 key value");
  EXPECT_EQ(Eval("return ('a$b'):find('$b')"), "2 3");
}

TEST(Pattern, Match) {
  EXPECT_EQ(Eval("return ('2024-05-10'):match('(%d+)-(%d+)-(%d+)')"), "2024 05 10");
  EXPECT_EQ(Eval("return ('  trim  '):match('^%s*(.-)%s*$')"), "trim");
  EXPECT_EQ(Eval("return ('hello'):match('()ll()')"), "3 5");
  EXPECT_EQ(Eval("return ('f(a(b)c)d'):match('%b()')"), "(a(b)c)");
  EXPECT_EQ(Eval("return ('THE (quick) fox'):find('%f[%a]%a+%f[%A]')"), "1 3");
  EXPECT_EQ(Eval("return ([[\"it's\"]]):match('([\"\\'])(.-)%1')"), "\" it's");
  EXPECT_EQ(Eval("return ('x]y-z'):match('[]]'), ('x]y-z'):match('[a-]'), ('x^'):match('[x^]+')"),
            "] - x^");
  EXPECT_EQ(Eval("return ('abc'):match('[^a-b]'), ('a1_'):match('[%w_]+'), ('é'):match('%a')"),
            "c a1_ nil");
  EXPECT_EQ(Eval("return ('aab'):match('a?a?a?b'), ('ab'):match('a-b'), ('b'):match('a*b')"),
            "aab ab b");
}

TEST(Pattern, Substitute) {
  EXPECT_EQ(Eval("return ('hello'):gsub('l', 'L')"), "heLLo 2");
  EXPECT_EQ(Eval("return ('hello'):gsub('', '-')"), "-h-e-l-l-o- 6");
  EXPECT_EQ(Eval("return ('hello'):gsub('l', 'L', 1)"), "heLlo 1");
  EXPECT_EQ(Eval("return ('a b'):gsub('(%w) (%w)', '%2 %1 %0 %%')"), "b a a b % 1");
  EXPECT_EQ(Eval("return ('abc'):gsub('%w', '%0%0')"), "aabbcc 3");
  EXPECT_EQ(Eval("return ('$a $b'):gsub('%$(%w)', {a = 'x'})"), "x $b 2");
  EXPECT_EQ(Eval("return ('abc'):gsub('%w', function(c) if c == 'b' then return 'B' end end)"),
            "aBc 3");
  EXPECT_EQ(Eval("return ('abc'):gsub('^a', 'x')"), "xbc 1");
  EXPECT_EQ(Eval("return ('abc def'):gsub('%a*', 'x')"), "x x 2");
  EXPECT_EQ(Eval("return ('x'):gsub('x', '%2')"),
            "error: test:1: invalid capture index %2 in replacement string");
}

TEST(Pattern, MatchAll) {
  EXPECT_EQ(Eval("local t = {} for w in ('one two'):gmatch('%a+') do t[#t + 1] = w end return "
                 "table.concat(t, ',')"),
            "one,two");
  EXPECT_EQ(Eval("local t = {} for k, v in ('a=1, b=2'):gmatch('(%w)=(%w)') do t[#t + 1] = k .. v "
                 "end return table.concat(t, ',')"),
            "a1,b2");
  EXPECT_EQ(Eval("local n = 0 for _ in ('abc'):gmatch('') do n = n + 1 end return n"), "4");
}

TEST(Pattern, Malformed) {
  EXPECT_EQ(Eval("return ('x'):find('[a')"), "error: test:1: malformed pattern (missing ']')");
  EXPECT_EQ(Eval("return ('x'):find('%')"), "error: test:1: malformed pattern (ends with '%')");
  EXPECT_EQ(Eval("return ('x'):find('(x')"), "error: test:1: unfinished capture");
  EXPECT_EQ(Eval("return ('x'):find('.)')"), "error: test:1: invalid pattern capture");
  EXPECT_EQ(Eval("return ('x'):find('%bx')"),
            "error: test:1: malformed pattern (missing arguments to '%b')");
  EXPECT_EQ(Eval("return ('x'):find('%f')"), "error: test:1: missing '[' after '%f' in pattern");
  EXPECT_EQ(Eval("return ('x'):find('%1')"), "error: test:1: invalid capture index");
  EXPECT_EQ(Eval("return ('x'):find(('()'):rep(33))"), "error: test:1: too many captures");
  EXPECT_EQ(Eval("return (('x'):rep(300)):find(('x?'):rep(300))"),
            "error: test:1: pattern too complex");
}

}  // namespace
}  // namespace sluice::lua
