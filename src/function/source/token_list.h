// A program's tokens as a list in which brackets know their partners, and what can be said by
// looking around in it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "function/source/token.h"

namespace sluice::function {

// Ends with kEnd.
using TokenList = std::vector<Token>;

// All tokens of a text that has no embedded statements.
TokenList Tokenize(std::string_view text);

// Sets `partner` of brackets and of the parts of templates. Those that match nothing keep 0.
void LinkPartners(TokenList* tokens);

// The index of the token that closes the bracket at `open`; of the last token when nothing does.
size_t CloserOf(const TokenList& tokens, size_t open);

// The names that variables, functions, classes, parameters and caught errors have, anywhere in the
// program.
std::set<std::string> DeclaredNames(const TokenList& tokens);

// Whether a new line before the token ends the statement before it.
bool BeginsStatementByNewline(const Token& token);

// The first token that can't be read; the last token (kEnd) when all can.
const Token& FirstError(const TokenList& tokens);

}  // namespace sluice::function
