// The list of a program's tokens, in which brackets know their partners, and questions about it.
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

// The index of the token that closes the bracket at `open`, or of the last token if none does.
size_t CloserOf(const TokenList& tokens, size_t open);

// The names of variables, functions, classes, parameters and caught errors anywhere in the program.
std::set<std::string> DeclaredNames(const TokenList& tokens);

// Whether a new line before the token ends the statement before it.
bool BeginsStatementByNewline(const Token& token);

// The first token that can't be read, or the last token (kEnd) if all can.
const Token& FirstError(const TokenList& tokens);

}  // namespace sluice::function
