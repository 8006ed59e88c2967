// Operands: literals, names, parameters, paths, constructors, CASE, parentheses and subqueries.
#include <algorithm>
#include <charconv>

#include "json/number.h"
#include "query/parse/parser_impl.h"

namespace sluice::query {
namespace {

constexpr uint32_t kMaxPositionalParameter = 65535;

// Reserved words that can be called as functions all the same.
constexpr Terminal kCallable[] = {"AND",   "BETWEEN",   "CAST",   "FLATTEN", "FLATTEN_KEYS",
                                  "HASH",  "IN",        "INFER",  "LEFT",    "LIKE",
                                  "MAP",   "NTH_VALUE", "NUMBER", "OR",      "REPLACE",
                                  "RIGHT", "STRING",    "WITHIN"};

// Reserved words that mean nothing where an expression begins: columns are often called so, and
// generate_series calls its column VALUE.
constexpr Terminal kNames[] = {"AT",   "KEY",  "LANGUAGE", "LEVEL", "NEXT",   "OPTION", "PASSWORD",
                               "PATH", "PREV", "PREPARE",  "ROLE",  "SCHEMA", "START",  "VALUE"};

// The digits of a number that no int64 can hold stay with it in Comdb2, for u_longlong and
// decimals.
json::Value NumberOf(std::string_view literal, Dialect dialect) {
  const json::Value number = json::NumberFromLiteral(literal);
  return number.is_double() && dialect == Dialect::kSqlpp ? json::Value(number.AsDouble()) : number;
}

int TallestOf(const Expression& expression) {
  int tallest = 0;
  for (const ExpressionPtr& argument : expression.args) {
    if (argument) tallest = std::max<int>(tallest, argument->height);
  }
  if (expression.comprehension || expression.filter || expression.window) {
    ForEachChild(expression,
                 [&](const Expression& child) { tallest = std::max<int>(tallest, child.height); });
  }
  return tallest;
}

// {a.b}: the name that a path gives to its value.
std::optional<std::string> NameOfPath(const Expression& expression) {
  if (expression.kind == ExprKind::kName || expression.kind == ExprKind::kField) {
    return expression.name;
  }
  return std::nullopt;
}

// The value of a constructor of constants; nullopt if it contains anything else.
std::optional<json::Value> ConstantOf(const Expression& expression, int levels) {
  if (expression.kind == ExprKind::kLiteral) return expression.value;
  if (levels == 0) return std::nullopt;
  std::vector<json::Value> values;
  if (expression.kind != ExprKind::kArray && expression.kind != ExprKind::kObject) {
    return std::nullopt;
  }
  for (const ExpressionPtr& argument : expression.args) {
    std::optional<json::Value> value = ConstantOf(*argument, levels - 1);
    if (!value || value->is_missing()) return std::nullopt;
    values.push_back(std::move(*value));
  }
  if (expression.kind == ExprKind::kArray) return json::Value::Array(std::move(values));
  std::vector<json::Field> fields;
  for (size_t i = 0; i + 1 < values.size(); i += 2) {
    if (!values[i].is_string()) return std::nullopt;
    fields.push_back({.key = std::move(values[i]), .value = std::move(values[i + 1])});
  }
  return json::Value::ObjectOf(fields);
}

}  // namespace

ExpressionPtr Parser::Make(ExprKind kind, const TextPlace& place, std::string name) {
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  expression->place = place;
  expression->name = std::move(name);
  return expression;
}

Result<ExpressionPtr> Parser::Finish(ExpressionPtr expression) {
  const int height = std::max<int>(expression->height, TallestOf(*expression) + 1);
  if (height > kMaxNesting) return Unexpected(TooDeep());
  expression->height = static_cast<uint16_t>(height);
  tallest_ = std::max(tallest_, height);
  return expression;
}

Result<ExpressionPtr> Parser::Operation(std::string name, ExpressionPtr a, ExpressionPtr b,
                                        ExpressionPtr c) {
  ExpressionPtr call = Make(ExprKind::kCall, a->place, std::move(name));
  call->args.push_back(std::move(a));
  if (b) call->args.push_back(std::move(b));
  if (c) call->args.push_back(std::move(c));
  return Finish(std::move(call));
}

Result<Parser::Expressions> Parser::ExprList() {
  Expressions list;
  do {
    ASSIGN_OR_RETURN(ExpressionPtr expression, Expr());
    list.push_back(std::move(expression));
  } while (Accept(","));
  return list;
}

Result<ExpressionPtr> Parser::Prefix() {
  const TextPlace start = place();
  if (At("-")) return Minus();
  const bool negation = At("NOT");
  if (!negation && !At("EXISTS")) return Postfix();
  ++at_;
  ASSIGN_OR_RETURN(ExpressionPtr operand,
                   Binary(negation ? Precedence::kNot : Precedence::kExists));
  ASSIGN_OR_RETURN(ExpressionPtr call, Operation(negation ? "not" : "exists", std::move(operand)));
  call->place = start;
  return call;
}

// A minus directly before a number is part of it, so that the least int64 can be written.
Result<ExpressionPtr> Parser::Minus() {
  const TextPlace start = place();
  ++at_;
  const bool path = IsAhead(1, ".") || IsAhead(1, "[");
  if (Here().kind == TokenKind::kNumber && !path) {
    ExpressionPtr literal = Make(ExprKind::kLiteral, start);
    literal->value = NumberOf("-" + NumberText(), dialect_);
    ++at_;
    return Finish(std::move(literal));
  }
  ASSIGN_OR_RETURN(ExpressionPtr operand, Binary(Precedence::kMinus));
  ASSIGN_OR_RETURN(ExpressionPtr call, Operation("neg", std::move(operand)));
  call->place = start;
  return call;
}

Result<ExpressionPtr> Parser::Postfix() {
  const size_t start = at_;
  ASSIGN_OR_RETURN(ExpressionPtr expression, Primary());
  while (At("[") || (At(".") && !IsAhead(1, "*"))) {
    if (Accept(".")) {
      ASSIGN_OR_RETURN(expression, Step(std::move(expression)));
    } else {
      ASSIGN_OR_RETURN(expression, Subscript(std::move(expression)));
    }
  }
  operand_start_ = start;
  return expression;
}

// After the dot: a field by its name, or .[expression].
Result<ExpressionPtr> Parser::Step(ExpressionPtr base) {
  ExpressionPtr step = Make(ExprKind::kField, base->place);
  step->args.push_back(std::move(base));
  if (Accept("[")) {
    step->kind = ExprKind::kFieldOf;
    ASSIGN_OR_RETURN(ExpressionPtr name, Expr());
    step->args.push_back(std::move(name));
    RETURN_IF_ERROR(Expect("]"));
    return Finish(std::move(step));
  }
  step->ignore_case = Here().kind == TokenKind::kQuoted && IgnoresCase(TextOf(Here()));
  ASSIGN_OR_RETURN(step->name, FieldName());
  if (At("(")) return Unexpected(Wrong(Here(), "a function's name has no path before it"));
  return Finish(std::move(step));
}

Result<ExpressionPtr> Parser::Subscript(ExpressionPtr base) {
  RETURN_IF_ERROR(Expect("["));
  if (At("]")) return Unexpected(Expected("an index, start:end or * in []"));
  ExpressionPtr step = Make(ExprKind::kElement, base->place);
  step->args.push_back(std::move(base));
  if (At("*", "]")) {
    step->kind = ExprKind::kArrayStar;
    ++at_;
  } else {
    ExpressionPtr first;
    if (!At(":")) {
      ASSIGN_OR_RETURN(first, Expr());
    }
    step->args.push_back(std::move(first));
    if (Accept(":")) {
      step->kind = ExprKind::kSlice;
      ExpressionPtr end;
      if (!At("]")) {
        ASSIGN_OR_RETURN(end, Expr());
      }
      step->args.push_back(std::move(end));
    }
  }
  RETURN_IF_ERROR(Expect("]"));
  return Finish(std::move(step));
}

Result<ExpressionPtr> Parser::Primary() {
  switch (Here().kind) {
    case TokenKind::kNumber:
      return Literal(NumberOf(NumberText(), dialect_));
    case TokenKind::kString:
      return Literal(json::Value(DecodeString(TextOf(Here()), dialect_)));
    case TokenKind::kBytes:
      return Literal(json::Value::Bytes(DecodeBytes(TextOf(Here()))));
    case TokenKind::kParameter:
      return NamedParameter();
    case TokenKind::kQuoted:
      return NameOrCall();
    case TokenKind::kWord:
      return WordPrimary();
    default:
      break;
  }
  if (At("(")) return Parenthesised();
  if (comdb2() && At("+")) {
    ++at_;
    return Primary();
  }
  if (At("[")) return ArrayConstructor();
  if (At("{")) return ObjectConstructor();
  if (At("?")) return QuestionMark();
  return Unexpected(ExpectedName("an expression"));
}

Result<ExpressionPtr> Parser::WordPrimary() {
  if (!comdb2()) RETURN_IF_ERROR(UnsupportedExpression());
  if (AtName() || std::ranges::find(kNames, Here().terminal) != std::end(kNames) ||
      (IsComdb2Name(Here()) && !BeginsExpression(Here()))) {
    return NameOrCall();
  }
  if (At("NULL")) return Literal(json::Value(nullptr));
  if (At("MISSING")) return Literal(json::Value());
  if (At("TRUE")) return Literal(json::Value(true));
  if (At("FALSE")) return Literal(json::Value(false));
  if (At("CASE")) return Case();
  if (At("ANY") || At("SOME") || At("EVERY")) return Quantified();
  if (At("ARRAY")) return Collected(ExprKind::kArrayFor);
  if (At("FIRST")) return Collected(ExprKind::kFirstFor);
  if (At("OBJECT")) return Collected(ExprKind::kObjectFor);
  if (At("SELF")) {
    const TextPlace start = place();
    ++at_;
    if (At("(", ")")) at_ += 2;
    return Finish(Make(ExprKind::kCall, start, "self"));
  }
  const bool callable = std::ranges::find(kCallable, Here().terminal) != std::end(kCallable);
  if (callable && IsAhead(1, "(")) return NameOrCall();
  return Unexpected(ExpectedName("an expression"));
}

Result<ExpressionPtr> Parser::NameOrCall() {
  const Token& token = Here();
  const bool quoted = token.kind == TokenKind::kQuoted;
  const bool ignore_case = quoted && IgnoresCase(TextOf(token));
  std::string name = TakeNameText();
  if (name.empty()) return Unexpected(Wrong(token, "a name can't be empty"));
  if (At("(")) return Call(token.place, std::move(name));
  ExpressionPtr expression = Make(ExprKind::kName, token.place, std::move(name));
  expression->quoted = quoted;
  expression->or_text = quoted && TextOf(token).front() == '"';
  expression->ignore_case = ignore_case;
  return Finish(std::move(expression));
}

Result<ExpressionPtr> Parser::Literal(json::Value value) {
  ExpressionPtr literal = Make(ExprKind::kLiteral, place());
  literal->value = std::move(value);
  ++at_;
  return Finish(std::move(literal));
}

Result<ExpressionPtr> Parser::NamedParameter() {
  const Token& token = Here();
  const std::string_view name = TextOf(token).substr(1);
  if (name[0] >= '0' && name[0] <= '9') {
    uint32_t number = 0;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), end, number);
    const bool whole = error == std::errc() && stop == end && name[0] != '0';
    if (!whole || number > kMaxPositionalParameter) {
      return Unexpected(Wrong(token, fmt::format("a parameter's number is 1 to {}; a name does "
                                                 "not start with a digit",
                                                 kMaxPositionalParameter)));
    }
    highest_parameter_ = std::max(highest_parameter_, number);
  } else if (known_parameters_.insert(name).second) {
    named_parameters_.emplace_back(name);
  }
  ++at_;
  return Finish(Make(ExprKind::kParameter, token.place, std::string(name)));
}

Result<ExpressionPtr> Parser::QuestionMark() {
  if (question_marks_ == kMaxPositionalParameter) {
    return Unexpected(
        Wrong(Here(), fmt::format("a statement has at most {} ?s", kMaxPositionalParameter)));
  }
  const TextPlace start = place();
  ++at_;
  return Finish(Make(ExprKind::kParameter, start, std::to_string(++question_marks_)));
}

// An expression, or a query: ((SELECT 1) UNION SELECT 2) shows which only at UNION.
Result<ExpressionPtr> Parser::Parenthesised() {
  const TextPlace start = place();
  RETURN_IF_ERROR(Expect("("));
  ExpressionPtr inside;
  if (AtComdb2Query()) {
    ASSIGN_OR_RETURN(inside, SubqueryHere());
  } else {
    ASSIGN_OR_RETURN(inside, Expr());
    inside->in_parentheses = true;
    const bool goes_on = At("UNION") || At("INTERSECT") || At("EXCEPT") || At("ORDER") ||
                         At("LIMIT") || At("OFFSET");
    if (inside->kind == ExprKind::kSubquery && goes_on) {
      const int outer = std::exchange(tallest_, inside->height);
      ASSIGN_OR_RETURN(inside->query, QueryFrom(std::move(inside->query)));
      RETURN_IF_ERROR(EndSubquery(inside.get(), outer));
    }
  }
  inside->place = start;
  RETURN_IF_ERROR(Expect(")"));
  return Finish(std::move(inside));
}

Result<ExpressionPtr> Parser::SubqueryHere() {
  ExpressionPtr subquery = Make(ExprKind::kSubquery, place());
  const int outer = std::exchange(tallest_, 0);
  ASSIGN_OR_RETURN(subquery->query, QueryHere());
  RETURN_IF_ERROR(EndSubquery(subquery.get(), outer));
  return subquery;
}

// `outer` is the value of tallest_ before the subquery.
Status Parser::EndSubquery(Expression* subquery, int outer) {
  const int height = tallest_ + 1;
  if (height > kMaxNesting) return TooDeep();
  subquery->height = static_cast<uint16_t>(height);
  tallest_ = std::max(outer, height);
  return OkStatus();
}

Result<ExpressionPtr> Parser::Case() {
  ExpressionPtr cases = Make(ExprKind::kSearchedCase, place());
  RETURN_IF_ERROR(Expect("CASE"));
  const auto add = [&]() -> Status {
    ASSIGN_OR_RETURN(ExpressionPtr expression, Expr());
    cases->args.push_back(std::move(expression));
    return OkStatus();
  };
  if (!At("WHEN")) {
    cases->kind = ExprKind::kSimpleCase;
    RETURN_IF_ERROR(add());
  }
  if (!At("WHEN")) return Unexpected(Expected("WHEN"));
  while (Accept("WHEN")) {
    RETURN_IF_ERROR(add());
    RETURN_IF_ERROR(Expect("THEN"));
    RETURN_IF_ERROR(add());
  }
  if (Accept("ELSE")) RETURN_IF_ERROR(add());
  if (!At("END")) return Unexpected(Expected("WHEN, ELSE or END of CASE"));
  ++at_;
  return Finish(std::move(cases));
}

Result<ExpressionPtr> Parser::ArrayConstructor() {
  ExpressionPtr array = Make(ExprKind::kArray, place());
  RETURN_IF_ERROR(Expect("["));
  if (!At("]")) {
    ASSIGN_OR_RETURN(array->args, ExprList());
  }
  if (!At("]")) return Unexpected(Expected("a comma or ]"));
  ++at_;
  return Finish(std::move(array));
}

Result<ExpressionPtr> Parser::ObjectConstructor() {
  ExpressionPtr object = Make(ExprKind::kObject, place());
  RETURN_IF_ERROR(Expect("{"));
  if (!At("}")) {
    do {
      RETURN_IF_ERROR(ObjectField(object.get()));
    } while (Accept(","));
  }
  if (!At("}")) return Unexpected(Expected("a comma or }"));
  ++at_;
  return Finish(std::move(object));
}

// name: value, or a path that names its own value.
Status Parser::ObjectField(Expression* object) {
  const TextPlace start = place();
  ASSIGN_OR_RETURN(ExpressionPtr name, Expr());
  if (Accept(":")) {
    ASSIGN_OR_RETURN(ExpressionPtr value, Expr());
    object->args.push_back(std::move(name));
    object->args.push_back(std::move(value));
    return OkStatus();
  }
  const std::optional<std::string> path_name = NameOfPath(*name);
  if (!path_name) return Expected("a colon and a value: only a path names its own field");
  ExpressionPtr literal = Make(ExprKind::kLiteral, start);
  literal->value = json::Value(*path_name);
  object->args.push_back(std::move(literal));
  object->args.push_back(std::move(name));
  return OkStatus();
}

Result<json::Value> Parser::Constant(std::string_view what) {
  const Token& token = Here();
  ASSIGN_OR_RETURN(const ExpressionPtr expression, Expr());
  std::optional<json::Value> value = ConstantOf(*expression, json::kMaxDepth);
  if (!value) return Unexpected(Wrong(token, fmt::format("expected {}, of constants", what)));
  return std::move(*value);
}

}  // namespace sluice::query
