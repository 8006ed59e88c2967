// The part of JavaScript's grammar that a tokenizer needs: whether a / begins a regular expression
// or divides, whether a } continues a template, whether a word is a keyword or the name of a
// property.
//
// The rule. A / divides when the token before it ends an operand: a name, a literal, `this` and its
// like, ] and a postfix ++ or --. Two tokens need to know what they close:
//   )  ends an operand, unless it closes the head of if, while, for, with or switch, after which a
//      statement begins;
//   }  ends an operand when it closes an object, a class or function that is an expression, or an
//      arrow function's body; after a block or a declaration a statement begins.
// A { opens an object where an operand is expected, and a block where a statement may begin: after
// ; { } => else do try finally, the head of a statement, a parameter list, and the colon of a label
// or case (one that no ? in the same brackets waits for).
#pragma once

#include <cstdint>
#include <vector>

#include "function/source/token.h"

namespace sluice::function {

enum class BracketKind : uint8_t {
  kProgram,  // not a bracket: the whole text
  kParenthesis,
  kHead,  // of if, while, with, switch, catch
  kForHead,
  kParameters,
  kSquare,
  kBlock,
  kObject,
  kClass,
  kTemplate,
};

class GrammarState {
 public:
  GrammarState() : open_(1) {}

  bool operand_expected() const { return operand_expected_; }
  // Whether a statement may begin here: for certain, or on a new line after an operand.
  bool statement_expected() const { return statement_expected_; }
  bool in_statements() const {
    return top().kind == BracketKind::kBlock || top().kind == BracketKind::kProgram;
  }
  // Whether a word here names a property, even if it is a keyword elsewhere.
  bool name_expected(bool newline_before) const;
  bool in_template() const { return top().kind == BracketKind::kTemplate; }
  size_t depth() const { return open_.size() - 1; }
  const Token& previous() const { return previous_; }
  // The innermost open bracket; only when depth() > 0.
  const Token& opener() const { return open_.back().token; }

  // Whether a closing bracket or a part of a template fits the innermost open one.
  bool Closes(const Token& token) const { return Closes(top(), token); }
  // Whether it fits any open one.
  bool ClosesSome(const Token& token) const;
  void Saw(const Token& token);

 private:
  enum class Pending : uint8_t { kNone, kDeclaration, kExpression };
  struct Open {
    BracketKind kind = BracketKind::kProgram;
    bool ends_operand = false;          // its closing bracket ends an operand
    bool of_expression = false;         // kParameters: of a function that is an expression
    uint32_t questions = 0;             // number of ? that have no colon yet
    Pending function = Pending::kNone;  // `function` was seen; its parameters follow
    Pending class_body = Pending::kNone;
    Token token;
  };

  static bool Closes(const Open& open, const Token& token);
  const Open& top() const { return open_.back(); }
  Open& top() { return open_.back(); }

  void ExpectOperand() { operand_expected_ = true, statement_expected_ = false; }
  void ExpectStatement() { operand_expected_ = statement_expected_ = true; }
  void EndOperand() { operand_expected_ = statement_expected_ = false; }

  void SawWord(const Token& token);
  void SawKeyword(const Token& token, bool at_statement);
  void SawPunctuator(const Token& token);
  void OpenParenthesis(const Token& token);
  void OpenBrace(const Token& token);
  void Close();

  std::vector<Open> open_;
  Open closed_;  // the bracket that the previous token closed
  Token previous_;
  bool previous_at_statement_ = false;
  bool operand_expected_ = true;
  bool statement_expected_ = true;
};

}  // namespace sluice::function
