#include "json/print.h"

#include <cmath>

#include "base/bytes.h"
#include "json/number.h"
#include "query/parse/print_impl.h"
#include "query/parse/terminal.h"

namespace sluice::query {
namespace {

struct OperatorForm {
  std::string_view name;
  std::string_view sign;
  Precedence level;
  enum class Shape : uint8_t { kInfix, kChain, kPrefix, kSuffix } shape;
};

using Shape = OperatorForm::Shape;

constexpr OperatorForm kForms[] = {
    {"or", " OR ", Precedence::kOr, Shape::kChain},
    {"and", " AND ", Precedence::kAnd, Shape::kChain},
    {"concat", " || ", Precedence::kConcat, Shape::kChain},
    {"not", "NOT ", Precedence::kNot, Shape::kPrefix},
    {"exists", "EXISTS ", Precedence::kExists, Shape::kPrefix},
    {"neg", "-", Precedence::kMinus, Shape::kPrefix},
    {"eq", " = ", Precedence::kEquality, Shape::kInfix},
    {"lt", " < ", Precedence::kComparison, Shape::kInfix},
    {"le", " <= ", Precedence::kComparison, Shape::kInfix},
    {"like", " LIKE ", Precedence::kLike, Shape::kInfix},
    {"in", " IN ", Precedence::kIn, Shape::kInfix},
    {"within", " WITHIN ", Precedence::kIn, Shape::kInfix},
    {"between", " BETWEEN ", Precedence::kBetween, Shape::kInfix},
    {"is_null", " IS NULL", Precedence::kIs, Shape::kSuffix},
    {"is_not_null", " IS NOT NULL", Precedence::kIs, Shape::kSuffix},
    {"is_missing", " IS MISSING", Precedence::kIs, Shape::kSuffix},
    {"is_not_missing", " IS NOT MISSING", Precedence::kIs, Shape::kSuffix},
    {"is_valued", " IS VALUED", Precedence::kIs, Shape::kSuffix},
    {"is_not_valued", " IS NOT VALUED", Precedence::kIs, Shape::kSuffix},
    {"is_distinct_from", " IS DISTINCT FROM ", Precedence::kIs, Shape::kInfix},
    {"is_not_distinct_from", " IS NOT DISTINCT FROM ", Precedence::kIs, Shape::kInfix},
    {"add", " + ", Precedence::kSum, Shape::kInfix},
    {"sub", " - ", Precedence::kSum, Shape::kInfix},
    {"mult", " * ", Precedence::kProduct, Shape::kInfix},
    {"divide", " / ", Precedence::kProduct, Shape::kInfix},
    {"mod", " % ", Precedence::kProduct, Shape::kInfix},
    {"power", " ^ ", Precedence::kProduct, Shape::kInfix},
};

bool HasOperatorArity(const OperatorForm& form, size_t count) {
  switch (form.shape) {
    case Shape::kChain:
      return count >= 2;
    case Shape::kInfix:
      return form.level == Precedence::kBetween ? count == 3
             : form.level == Precedence::kLike  ? count == 2 || count == 3
                                                : count == 2;
    default:
      return count == 1;
  }
}

// The operator that a call is written with, or null: a call with anything that only calls have is
// written as one.
const OperatorForm* FormOf(const Expression& call) {
  if (call.kind != ExprKind::kCall || call.distinct || call.filter || call.window) return nullptr;
  for (const OperatorForm& form : kForms) {
    if (form.name == call.name) {
      return HasOperatorArity(form, call.args.size()) ? &form : nullptr;
    }
  }
  return nullptr;
}

bool IsNumber(const Expression& expression) {
  return expression.kind == ExprKind::kLiteral && expression.value.is_number();
}

bool StartsWithMinus(const Expression& expression) {
  return IsNumber(expression) && std::signbit(expression.value.ToDouble());
}

Precedence PrecedenceOf(const Expression& expression) {
  if (const OperatorForm* form = FormOf(expression)) return form->level;
  return StartsWithMinus(expression) ? Precedence::kMinus : Precedence::kPostfix;
}

// Inside of chains and arithmetic the left operand may be the same operator; comparisons never.
Precedence LeftOf(Precedence level) {
  const bool chained = level == Precedence::kIs || level >= Precedence::kSum;
  return chained ? level : Tighter(level);
}

bool IsPlainName(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && c != '_') return false;
  }
  return true;
}

bool IsReserved(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  const Terminal terminal = Terminal::Of(upper);
  return terminal.reserved() || terminal == Terminal("ORDER");
}

}  // namespace

void AstPrinter::QuotedName(std::string_view name, bool ignore_case) {
  Say("`");
  for (const char c : name) out_->append(c == '`' ? 2 : 1, c);
  Say(ignore_case ? "`i" : "`");
}

void AstPrinter::Name(std::string_view name) {
  if (IsPlainName(name) && !IsReserved(name)) {
    Say(name);
  } else {
    QuotedName(name, false);
  }
}

void AstPrinter::FieldName(const Expression& field) {
  if (!field.ignore_case && IsPlainName(field.name)) {
    Say(field.name);
  } else {
    QuotedName(field.name, field.ignore_case);
  }
}

void AstPrinter::Print(const Expression& expression, Precedence loosest) {
  const bool parentheses = PrecedenceOf(expression) < loosest;
  if (parentheses) Say("(");
  Bare(expression);
  if (parentheses) Say(")");
}

void AstPrinter::Bare(const Expression& expression) {
  switch (expression.kind) {
    case ExprKind::kLiteral:
      return Literal(expression.value);
    case ExprKind::kName:
    case ExprKind::kVariable:
      return expression.ignore_case ? QuotedName(expression.name, true) : Name(expression.name);
    case ExprKind::kParameter:
      Say("$");
      return Say(expression.name);
    case ExprKind::kField:
    case ExprKind::kFieldOf:
    case ExprKind::kElement:
    case ExprKind::kSlice:
    case ExprKind::kArrayStar:
      return Subscripts(expression);
    case ExprKind::kCall:
      return Call(expression);
    case ExprKind::kSimpleCase:
    case ExprKind::kSearchedCase:
      return Case(expression);
    case ExprKind::kAny:
    case ExprKind::kEvery:
    case ExprKind::kAnyAndEvery:
    case ExprKind::kArrayFor:
    case ExprKind::kFirstFor:
    case ExprKind::kObjectFor:
      return Comprehend(expression);
    case ExprKind::kObject:
      return Object(expression);
    case ExprKind::kArray:
      Say("[");
      List(expression.args);
      return Say("]");
    case ExprKind::kSubquery:
      Say("(");
      Print(*expression.query);
      return Say(")");
    case ExprKind::kStar:
      return Say("*");
  }
}

void AstPrinter::Literal(const json::Value& value) {
  if (value.is_missing()) return Say("MISSING");
  if (value.is_null()) return Say("NULL");
  if (value.is_bool()) return Say(value.AsBool() ? "TRUE" : "FALSE");
  if (value.is_bytes()) return Say("x'" + ToHex(value.AsBytes()) + "'");
  if (!value.is_double()) return json::Print(value, out_);
  if (value.AsDouble() == 0) return Say(std::signbit(value.AsDouble()) ? "-0.0" : "0.0");
  const size_t start = out_->size();
  json::AppendDouble(value.AsDouble(), out_);
  if (out_->find_first_of(".e", start) == std::string::npos) Say(".0");
}

void AstPrinter::Call(const Expression& call) {
  if (AsOperator(call)) return;
  if (call.name == "self" && call.args.empty()) return Say("SELF");
  IsReserved(call.name) ? QuotedName(call.name, false) : Name(call.name);
  Arguments(call);
  Modifiers(call);
}

bool AstPrinter::AsOperator(const Expression& call) {
  const OperatorForm* form = FormOf(call);
  if (form == nullptr) return false;
  const Expression& first = *call.args[0];
  switch (form->shape) {
    case Shape::kPrefix: {
      Say(form->sign);
      // A minus next to a number would become part of it; two of them start a comment.
      const bool apart = form->level == Precedence::kMinus &&
                         (IsNumber(first) || PrecedenceOf(first) == Precedence::kMinus);
      Print(first, apart ? Tighter(Precedence::kPostfix) : form->level);
      break;
    }
    case Shape::kSuffix:
      Print(first, form->level);
      Say(form->sign);
      break;
    case Shape::kChain:
      for (size_t i = 0; i < call.args.size(); ++i) {
        if (i > 0) Say(form->sign);
        Print(*call.args[i], Tighter(form->level));
      }
      break;
    case Shape::kInfix:
      Infix(call, form->sign, form->level);
      break;
  }
  return true;
}

void AstPrinter::Infix(const Expression& call, std::string_view sign, Precedence level) {
  Print(*call.args[0], LeftOf(level));
  Say(sign);
  const Precedence right = level == Precedence::kBetween ? Precedence::kConcat : Tighter(level);
  Print(*call.args[1], right);
  if (call.args.size() < 3) return;
  Say(level == Precedence::kBetween ? " AND " : " ESCAPE ");
  Print(*call.args[2], right);
}

void AstPrinter::Arguments(const Expression& call) {
  Say("(");
  if (call.distinct) Say("DISTINCT ");
  List(call.args);
  Say(")");
}

void AstPrinter::Modifiers(const Expression& call) {
  if (call.from_last) {
    Say(" FROM LAST");
  } else if (call.name == "nth_value" && !call.window) {
    Say(" FROM FIRST");  // else a FROM clause that starts with FIRST would be taken for it
  }
  if (call.ignore_nulls) Say(" IGNORE NULLS");
  if (call.filter) {
    Say(" FILTER (WHERE ");
    Print(*call.filter);
    Say(")");
  }
  if (!call.window) return;
  const WindowSpec& window = *call.window;
  const bool name_only = !window.base.empty() && window.partition_by.empty() &&
                         window.order_by.empty() && !window.frame;
  Say(" OVER ");
  name_only ? Name(window.base) : Window(window);
}

void AstPrinter::Case(const Expression& expression) {
  Say("CASE");
  size_t at = 0;
  const auto say_next = [&](std::string_view before) {
    Say(before);
    Print(*expression.args[at++]);
  };
  if (expression.kind == ExprKind::kSimpleCase) say_next(" ");
  while (at + 1 < expression.args.size()) {
    say_next(" WHEN ");
    say_next(" THEN ");
  }
  if (at < expression.args.size()) say_next(" ELSE ");
  Say(" END");
}

void AstPrinter::Comprehend(const Expression& expression) {
  const Comprehension& comprehension = *expression.comprehension;
  const ExprKind kind = expression.kind;
  if (kind == ExprKind::kAny || kind == ExprKind::kEvery || kind == ExprKind::kAnyAndEvery) {
    Say(kind == ExprKind::kAny ? "ANY " : kind == ExprKind::kEvery ? "EVERY " : "ANY AND EVERY ");
    Bindings(comprehension.bindings);
    Clause("SATISFIES", comprehension.body);
    return Say(" END");
  }
  Say(kind == ExprKind::kArrayFor ? "ARRAY " : kind == ExprKind::kFirstFor ? "FIRST " : "OBJECT ");
  if (comprehension.name) {
    Print(*comprehension.name);
    Say(" : ");
  }
  Print(*comprehension.body);
  Say(" FOR ");
  Bindings(comprehension.bindings);
  Clause("WHEN", comprehension.when);
  Say(" END");
}

void AstPrinter::Subscripts(const Expression& expression) {
  // A number would take a dot for its own.
  const Expression& base = *expression.args[0];
  Print(base, IsNumber(base) ? Tighter(Precedence::kPostfix) : Precedence::kPostfix);
  if (expression.kind == ExprKind::kField) {
    Say(".");
    return FieldName(expression);
  }
  if (expression.kind == ExprKind::kArrayStar) return Say("[*]");
  Say(expression.kind == ExprKind::kFieldOf ? ".[" : "[");
  if (expression.args[1]) Print(*expression.args[1]);
  if (expression.kind == ExprKind::kSlice) Say(":");
  if (expression.args.size() > 2 && expression.args[2]) Print(*expression.args[2]);
  Say("]");
}

void AstPrinter::Object(const Expression& object) {
  Say("{");
  for (size_t i = 0; i + 1 < object.args.size(); i += 2) {
    if (i > 0) Say(", ");
    Print(*object.args[i]);
    Say(": ");
    Print(*object.args[i + 1]);
  }
  Say("}");
}

void AstPrinter::List(const std::vector<ExpressionPtr>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) Say(", ");
    Print(*list[i]);
  }
}

void AstPrinter::Bindings(const std::vector<RangeBinding>& bindings) {
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (i > 0) Say(", ");
    if (!bindings[i].name.empty()) {
      Name(bindings[i].name);
      Say(":");
    }
    Name(bindings[i].value);
    Say(bindings[i].within ? " WITHIN " : " IN ");
    Print(*bindings[i].source);
  }
}

void AstPrinter::Clause(std::string_view keyword, const ExpressionPtr& expression) {
  if (!expression) return;
  Say(" ");
  Say(keyword);
  Say(" ");
  Print(*expression);
}

std::string ToText(const Expression& expression) {
  std::string text;
  AstPrinter(&text).Print(expression);
  return text;
}

}  // namespace sluice::query
