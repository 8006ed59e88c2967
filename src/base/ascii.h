// Classes of ASCII characters, whatever the locale is (the functions of <cctype> ask it).
#pragma once

namespace sluice {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
inline bool IsAlnum(char c) { return IsDigit(c) || IsLetter(c); }

}  // namespace sluice
