// Operators with operands on both sides, by precedence climbing.
#include "query/parse/parser_impl.h"

namespace sluice::query {
namespace {

struct Infix {
  Terminal terminal;
  Precedence level;
};

constexpr Infix kInfix[] = {
    {"AND", Precedence::kAnd},         {"OR", Precedence::kOr},
    {"=", Precedence::kEquality},      {"==", Precedence::kEquality},
    {"!=", Precedence::kEquality},     {"<>", Precedence::kEquality},
    {"<", Precedence::kComparison},    {"<=", Precedence::kComparison},
    {">", Precedence::kComparison},    {">=", Precedence::kComparison},
    {"+", Precedence::kSum},           {"-", Precedence::kSum},
    {"*", Precedence::kProduct},       {"/", Precedence::kProduct},
    {"%", Precedence::kProduct},       {"^", Precedence::kProduct},
    {"||", Precedence::kConcat},       {"IS", Precedence::kIs},
    {"LIKE", Precedence::kLike},       {"IN", Precedence::kIn},
    {"BETWEEN", Precedence::kBetween}, {"WITHIN", Precedence::kIn},
};

Precedence LevelOf(Terminal terminal) {
  for (const Infix& infix : kInfix) {
    if (infix.terminal == terminal) return infix.level;
  }
  return Precedence::kNone;
}

}  // namespace

Precedence Parser::OperatorHere() const {
  if (Here().terminal.none()) return Precedence::kNone;
  if (!At("NOT")) return LevelOf(Here().terminal);
  const Precedence level = LevelOf(Ahead(1).terminal);
  const bool negatable =
      level == Precedence::kLike || level == Precedence::kIn || level == Precedence::kBetween;
  return negatable ? level : Precedence::kNone;
}

Result<ExpressionPtr> Parser::Binary(Precedence loosest) {
  const Level level_of_nesting(this);
  if (level_of_nesting.too_deep()) return Unexpected(TooDeep());
  ASSIGN_OR_RETURN(ExpressionPtr left, Prefix());
  while (true) {
    const Precedence level = OperatorHere();
    if (level == Precedence::kNone || level < loosest) return left;
    ASSIGN_OR_RETURN(left, Operator(std::move(left), level));
  }
}

Result<ExpressionPtr> Parser::Operator(ExpressionPtr left, Precedence level) {
  switch (level) {
    case Precedence::kOr:
      return Flat(std::move(left), "OR", "or", level);
    case Precedence::kAnd:
      return Flat(std::move(left), "AND", "and", level);
    case Precedence::kConcat:
      return Flat(std::move(left), "||", "concat", level);
    case Precedence::kLike:
      return Like(std::move(left));
    case Precedence::kBetween:
      return Between(std::move(left));
    case Precedence::kIn:
      return In(std::move(left));
    case Precedence::kIs:
      return Is(std::move(left));
    case Precedence::kEquality:
    case Precedence::kComparison:
      return Comparison(std::move(left), level);
    default:
      return Arithmetic(std::move(left), level);
  }
}

// a OR b OR c is one call of three arguments, so that a long chain is no deep tree.
Result<ExpressionPtr> Parser::Flat(ExpressionPtr left, Terminal terminal, const char* name,
                                   Precedence level) {
  ExpressionPtr call = Make(ExprKind::kCall, left->place, name);
  call->args.push_back(std::move(left));
  while (Accept(terminal)) {
    ASSIGN_OR_RETURN(ExpressionPtr right, Binary(Tighter(level)));
    call->args.push_back(std::move(right));
  }
  return Finish(std::move(call));
}

Result<ExpressionPtr> Parser::Comparison(ExpressionPtr left, Precedence level) {
  const Terminal sign = Here().terminal;
  ++at_;
  ASSIGN_OR_RETURN(ExpressionPtr right, Binary(Tighter(level)));
  RETURN_IF_ERROR(NotChained(level));
  const TextPlace start = left->place;
  const bool swapped = sign == Terminal(">") || sign == Terminal(">=");
  if (swapped) std::swap(left, right);
  const bool equality = level == Precedence::kEquality;
  const bool or_equal = sign == Terminal("<=") || sign == Terminal(">=");
  ASSIGN_OR_RETURN(ExpressionPtr call, Operation(equality   ? "eq"
                                                 : or_equal ? "le"
                                                            : "lt",
                                                 std::move(left), std::move(right)));
  call->place = start;
  if (sign != Terminal("!=") && sign != Terminal("<>")) return call;
  return Operation("not", std::move(call));
}

Result<ExpressionPtr> Parser::Arithmetic(ExpressionPtr left, Precedence level) {
  const Terminal sign = Here().terminal;
  ++at_;
  ASSIGN_OR_RETURN(ExpressionPtr right, Binary(Tighter(level)));
  const char* name = sign == Terminal("+")   ? "add"
                     : sign == Terminal("-") ? "sub"
                     : sign == Terminal("*") ? "mult"
                     : sign == Terminal("/") ? "divide"
                     : sign == Terminal("%") ? "mod"
                                             : "power";
  return Operation(name, std::move(left), std::move(right));
}

Result<ExpressionPtr> Parser::Like(ExpressionPtr left) {
  const bool negated = Accept("NOT");
  RETURN_IF_ERROR(Expect("LIKE"));
  ASSIGN_OR_RETURN(ExpressionPtr pattern, Binary(Tighter(Precedence::kLike)));
  ExpressionPtr escape;
  if (Accept("ESCAPE")) {
    ASSIGN_OR_RETURN(escape, Binary(Tighter(Precedence::kLike)));
  }
  RETURN_IF_ERROR(NotChained(Precedence::kLike));
  ASSIGN_OR_RETURN(ExpressionPtr call,
                   Operation("like", std::move(left), std::move(pattern), std::move(escape)));
  if (!negated) return call;
  return Operation("not", std::move(call));
}

Result<ExpressionPtr> Parser::Between(ExpressionPtr left) {
  const bool negated = Accept("NOT");
  RETURN_IF_ERROR(Expect("BETWEEN"));
  ASSIGN_OR_RETURN(ExpressionPtr low, Binary(Precedence::kConcat));
  if (!At("AND")) return Unexpected(Expected("AND and the upper bound of BETWEEN"));
  ++at_;
  ASSIGN_OR_RETURN(ExpressionPtr high, Binary(Precedence::kConcat));
  RETURN_IF_ERROR(NotChained(Precedence::kBetween));
  ASSIGN_OR_RETURN(ExpressionPtr call,
                   Operation("between", std::move(left), std::move(low), std::move(high)));
  if (!negated) return call;
  return Operation("not", std::move(call));
}

Result<ExpressionPtr> Parser::In(ExpressionPtr left) {
  const bool negated = Accept("NOT");
  const bool within = At("WITHIN");
  ++at_;
  ExpressionPtr right;
  if (comdb2() && At("(")) {
    ASSIGN_OR_RETURN(right, InList());
  } else {
    ASSIGN_OR_RETURN(right, Binary(Tighter(Precedence::kIn)));
  }
  RETURN_IF_ERROR(NotChained(Precedence::kIn));
  ASSIGN_OR_RETURN(ExpressionPtr call,
                   Operation(within ? "within" : "in", std::move(left), std::move(right)));
  if (!negated) return call;
  return Operation("not", std::move(call));
}

Result<ExpressionPtr> Parser::Is(ExpressionPtr left) {
  RETURN_IF_ERROR(Expect("IS"));
  const bool negated = Accept("NOT");
  if (Accept("NULL")) return Operation(negated ? "is_not_null" : "is_null", std::move(left));
  if (Accept("MISSING")) {
    return Operation(negated ? "is_not_missing" : "is_missing", std::move(left));
  }
  if (Accept("VALUED") || Accept("KNOWN")) {
    return Operation(negated ? "is_not_valued" : "is_valued", std::move(left));
  }
  if (Accept("UNKNOWN")) {
    return Operation(negated ? "is_valued" : "is_not_valued", std::move(left));
  }
  if (!Accept("DISTINCT", "FROM")) {
    return Unexpected(Expected("NULL, MISSING, VALUED, KNOWN, UNKNOWN or DISTINCT FROM after IS"));
  }
  ASSIGN_OR_RETURN(ExpressionPtr right, Binary(Tighter(Precedence::kIs)));
  return Operation(negated ? "is_not_distinct_from" : "is_distinct_from", std::move(left),
                   std::move(right));
}

Status Parser::NotChained(Precedence level) const {
  if (OperatorHere() != level) return OkStatus();
  return Wrong(Here(),
               "comparisons can't follow one another: put one in parentheses, or say AND between");
}

}  // namespace sluice::query
