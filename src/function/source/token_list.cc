#include "function/source/token_list.h"

#include "function/source/tokenizer.h"

namespace sluice::function {
namespace {

bool Opens(const Token& token) {
  return token.Is("(") || token.Is("[") || token.Is("{") || token.kind == TokenKind::kTemplateHead;
}

bool Closes(const Token& token) {
  return token.Is(")") || token.Is("]") || token.Is("}") || token.kind == TokenKind::kTemplateTail;
}

// Walks over declarations. Positions past the end are those of kEnd.
class NameCollector {
 public:
  explicit NameCollector(const TokenList& tokens) : tokens_(tokens) {}

  std::set<std::string> Run() {
    for (size_t i = 0; i < tokens_.size(); ++i) At(i);
    return std::move(names_);
  }

 private:
  const Token& token(size_t i) const { return tokens_[std::min(i, tokens_.size() - 1)]; }

  void At(size_t i) {
    const Token& here = token(i);
    if (here.IsKeyword("var") || here.IsKeyword("let") || here.IsKeyword("const")) {
      Variables(i + 1);
    } else if (here.IsKeyword("function")) {
      Add(token(i + 1).Is("*") ? i + 2 : i + 1);
    } else if (here.IsKeyword("class")) {
      Add(i + 1);
    } else if (here.Is("=>") && i > 0) {
      Add(i - 1);
    } else if (here.Is("(")) {
      Parameters(i);
    }
  }

  void Add(size_t i) {
    if (token(i).kind == TokenKind::kIdentifier) names_.insert(NameOf(token(i)));
  }

  // a, {b: c = 1, d}, [e] = f, g
  void Variables(size_t i) {
    while (true) {
      i = SkipInitializer(Pattern(i), /*by_newline=*/true);
      if (!token(i).Is(",")) return;
      ++i;
    }
  }

  // A list in parentheses is one of parameters when a body or an arrow follows; a call's arguments
  // and the head of a statement are not. Of `if (a) {` nothing is declared either.
  void Parameters(size_t open) {
    const size_t close = CloserOf(tokens_, open);
    const Token& before = open > 0 ? token(open - 1) : tokens_.back();
    const bool head =
        before.kind == TokenKind::kKeyword && before.text != "function" && before.text != "catch";
    if (head || !(token(close + 1).Is("=>") || token(close + 1).Is("{"))) return;
    Elements(open, close);
  }

  // The patterns between two brackets.
  void Elements(size_t open, size_t close) {
    const bool object = token(open).Is("{");
    for (size_t i = open + 1; i < close; ++i) {
      if (object && token(i).Is("[")) i = CloserOf(tokens_, i);
      if (object && token(i + 1).Is(":")) i += 2;
      i = SkipInitializer(Pattern(i), /*by_newline=*/false);
    }
  }

  // Returns the index after it.
  size_t Pattern(size_t i) {
    if (token(i).Is("...")) ++i;
    if (token(i).Is("{") || token(i).Is("[")) {
      const size_t close = CloserOf(tokens_, i);
      Elements(i, close);
      return close + 1;
    }
    Add(i);
    return token(i).IsWord() ? i + 1 : i;
  }

  // To the comma or the end of the list that the initializer stands in.
  size_t SkipInitializer(size_t i, bool by_newline) const {
    for (; i < tokens_.size(); ++i) {
      const Token& here = token(i);
      if (here.Is(",") || here.Is(";") || Closes(here) || here.kind == TokenKind::kEnd) break;
      if (here.kind == TokenKind::kTemplateMiddle) break;
      if (by_newline && BeginsStatementByNewline(here)) break;
      if (Opens(here)) i = CloserOf(tokens_, i);
    }
    return i;
  }

  const TokenList& tokens_;
  std::set<std::string> names_;
};

}  // namespace

TokenList Tokenize(std::string_view text) {
  Tokenizer tokenizer(text);
  TokenList tokens;
  do {
    tokens.push_back(tokenizer.Next());
  } while (tokens.back().kind != TokenKind::kEnd);
  LinkPartners(&tokens);
  return tokens;
}

void LinkPartners(TokenList* tokens) {
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < tokens->size(); ++i) {
    Token& token = (*tokens)[i];
    token.partner = 0;
    if (Opens(token)) open.push_back(i);
    if (!Closes(token) || open.empty()) continue;
    token.partner = open.back();
    (*tokens)[open.back()].partner = i;
    open.pop_back();
  }
}

size_t CloserOf(const TokenList& tokens, size_t open) {
  return tokens[open].partner > open ? tokens[open].partner : tokens.size() - 1;
}

std::set<std::string> DeclaredNames(const TokenList& tokens) { return NameCollector(tokens).Run(); }

bool BeginsStatementByNewline(const Token& token) {
  if (!token.newline_before || !token.after_operand) return false;
  switch (token.kind) {
    case TokenKind::kKeyword:
      return token.text != "in" && token.text != "instanceof";
    case TokenKind::kIdentifier:
    case TokenKind::kPrivateName:
    case TokenKind::kNumber:
    case TokenKind::kString:
    case TokenKind::kSql:
      return true;
    default:
      return token.Is("{");
  }
}

const Token& FirstError(const TokenList& tokens) {
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::kError) return token;
  }
  return tokens.back();
}

}  // namespace sluice::function
