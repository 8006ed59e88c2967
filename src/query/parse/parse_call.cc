// Calls with what may follow them (FILTER, OVER, ...), quantified and collecting expressions.
#include <algorithm>

#include "query/parse/parser_impl.h"

namespace sluice::query {
namespace {

constexpr std::string_view kTakeNulls[] = {"first_value", "lag", "last_value", "lead", "nth_value"};

std::string LowerCase(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

}  // namespace

Result<ExpressionPtr> Parser::Quantified() {
  ExpressionPtr expression = Make(ExprKind::kAny, place());
  if (Accept("EVERY")) {
    expression->kind = ExprKind::kEvery;
  } else {
    ++at_;
    if (Accept("AND", "EVERY")) expression->kind = ExprKind::kAnyAndEvery;
  }
  expression->comprehension = std::make_unique<Comprehension>();
  ASSIGN_OR_RETURN(expression->comprehension->bindings, Bindings());
  RETURN_IF_ERROR(Expect("SATISFIES"));
  ASSIGN_OR_RETURN(expression->comprehension->body, Expr());
  Accept("END");
  return Finish(std::move(expression));
}

// ARRAY e FOR ... END, FIRST e FOR ... END, OBJECT name : e FOR ... END.
Result<ExpressionPtr> Parser::Collected(ExprKind kind) {
  ExpressionPtr expression = Make(kind, place());
  ++at_;
  auto comprehension = std::make_unique<Comprehension>();
  ASSIGN_OR_RETURN(comprehension->body, Expr());
  if (kind == ExprKind::kObjectFor) {
    RETURN_IF_ERROR(Expect(":"));
    comprehension->name = std::move(comprehension->body);
    ASSIGN_OR_RETURN(comprehension->body, Expr());
  }
  RETURN_IF_ERROR(Expect("FOR"));
  ASSIGN_OR_RETURN(comprehension->bindings, Bindings());
  if (Accept("WHEN")) {
    ASSIGN_OR_RETURN(comprehension->when, Expr());
  }
  if (!At("END")) return Unexpected(Expected("a comma, WHEN or END"));
  ++at_;
  expression->comprehension = std::move(comprehension);
  return Finish(std::move(expression));
}

Result<std::vector<RangeBinding>> Parser::Bindings() {
  std::vector<RangeBinding> bindings;
  do {
    ASSIGN_OR_RETURN(RangeBinding binding, Binding());
    bindings.push_back(std::move(binding));
  } while (Accept(","));
  return bindings;
}

Result<RangeBinding> Parser::Binding() {
  RangeBinding binding;
  ASSIGN_OR_RETURN(binding.value, Name("a variable"));
  if (Accept(":")) {
    binding.name = std::move(binding.value);
    ASSIGN_OR_RETURN(binding.value, Name("a variable"));
  }
  binding.within = At("WITHIN");
  if (!At("IN") && !At("WITHIN")) return Unexpected(Expected("IN or WITHIN"));
  ++at_;
  ASSIGN_OR_RETURN(binding.source, Expr());
  return binding;
}

Result<ExpressionPtr> Parser::Call(TextPlace start, std::string name) {
  ExpressionPtr call = Make(ExprKind::kCall, start, LowerCase(std::move(name)));
  RETURN_IF_ERROR(CallArguments(call.get()));
  RETURN_IF_ERROR(CallModifiers(call.get()));
  return Finish(std::move(call));
}

Status Parser::CallArguments(Expression* call) {
  RETURN_IF_ERROR(Expect("("));
  if (Accept(")")) return OkStatus();
  if (At("*", ")")) {
    if (call->name != "count") return Wrong(Here(), "only COUNT can be called with *");
    call->args.push_back(Make(ExprKind::kStar, place()));
    at_ += 2;
    return OkStatus();
  }
  call->distinct = Accept("DISTINCT");
  if (!call->distinct) Accept("ALL");
  ASSIGN_OR_RETURN(call->args, ExprList());
  if (call->name == "cast" && call->args.size() == 1) {
    // CAST(e AS type): the type's name is the second argument.
    RETURN_IF_ERROR(Expect("AS"));
    if (Here().kind != TokenKind::kWord) return Expected("the name of a type");
    ExpressionPtr type = Make(ExprKind::kLiteral, place());
    type->value = json::Value(LowerCase(std::string(TextOf(Here()))));
    call->args.push_back(std::move(type));
    ++at_;
    if (Accept("(")) {  // the most bytes; longer values are cut
      ASSIGN_OR_RETURN(const uint32_t length, LengthHere());
      ExpressionPtr most = Make(ExprKind::kLiteral, place());
      most->value = json::Value(static_cast<int64_t>(length));
      call->args.push_back(std::move(most));
      RETURN_IF_ERROR(Expect(")"));
    }
  }
  if (!At(")")) return Expected("a comma or )");
  ++at_;
  return OkStatus();
}

Status Parser::CallModifiers(Expression* call) {
  const bool takes_nulls = std::ranges::find(kTakeNulls, call->name) != std::end(kTakeNulls);
  if (call->name == "nth_value" && (At("FROM", "FIRST") || At("FROM", "LAST"))) {
    call->from_last = IsAhead(1, "LAST");
    at_ += 2;
  }
  if (At("RESPECT", "NULLS") || At("IGNORE", "NULLS")) {
    if (!takes_nulls) {
      return Wrong(Here(), "only FIRST_VALUE, LAST_VALUE, NTH_VALUE, LAG and LEAD take it");
    }
    call->ignore_nulls = At("IGNORE");
    at_ += 2;
  }
  if (Accept("FILTER")) {
    RETURN_IF_ERROR(Expect("("));
    RETURN_IF_ERROR(Expect("WHERE"));
    ASSIGN_OR_RETURN(call->filter, Expr());
    RETURN_IF_ERROR(Expect(")"));
  }
  return Accept("OVER") ? OverClause(call) : OkStatus();
}

Status Parser::OverClause(Expression* call) {
  call->window = std::make_unique<WindowSpec>();
  if (!At("(")) {
    ASSIGN_OR_RETURN(call->window->base, Name("a window"));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(*call->window, Window());
  return OkStatus();
}

// ( [name] [PARTITION BY ...] [ORDER BY ...] [frame] )
Result<WindowSpec> Parser::Window() {
  WindowSpec window;
  RETURN_IF_ERROR(Expect("("));
  if (AtImplicitAlias()) {
    ASSIGN_OR_RETURN(window.base, Name("a window"));
  }
  if (Accept("PARTITION")) {
    RETURN_IF_ERROR(Expect("BY"));
    ASSIGN_OR_RETURN(window.partition_by, ExprList());
  }
  if (At("ORDER")) {
    ASSIGN_OR_RETURN(window.order_by, OrderBy());
  }
  if (At("ROWS") || At("RANGE") || At("GROUPS")) {
    ASSIGN_OR_RETURN(window.frame, Frame());
  }
  if (!At(")")) return Unexpected(Expected("PARTITION BY, ORDER BY, ROWS, RANGE, GROUPS or )"));
  ++at_;
  return window;
}

Result<WindowFrame> Parser::Frame() {
  using Bound = WindowFrame::Bound;
  WindowFrame frame;
  frame.unit = At("ROWS")    ? WindowFrame::Unit::kRows
               : At("RANGE") ? WindowFrame::Unit::kRange
                             : WindowFrame::Unit::kGroups;
  ++at_;
  const Token& start = Here();
  if (Accept("BETWEEN")) {
    RETURN_IF_ERROR(FrameBound(&frame.start, &frame.start_offset));
    RETURN_IF_ERROR(Expect("AND"));
    RETURN_IF_ERROR(FrameBound(&frame.end, &frame.end_offset));
  } else {
    RETURN_IF_ERROR(FrameBound(&frame.start, &frame.start_offset));
  }
  const bool backwards = frame.start == Bound::kUnboundedFollowing ||
                         frame.end == Bound::kUnboundedPreceding || frame.start > frame.end;
  if (backwards) return Unexpected(Wrong(start, "the frame would end before it begins"));
  RETURN_IF_ERROR(FrameExclusion(&frame));
  return frame;
}

Status Parser::FrameBound(WindowFrame::Bound* bound, ExpressionPtr* offset) {
  using Bound = WindowFrame::Bound;
  if (Accept("CURRENT")) {
    *bound = Bound::kCurrentRow;
    return Expect("ROW");
  }
  const bool unbounded = Accept("UNBOUNDED");
  if (!unbounded) {
    ASSIGN_OR_RETURN(*offset, Binary(Precedence::kConcat));
  }
  if (!At("PRECEDING") && !At("FOLLOWING")) return Expected("PRECEDING or FOLLOWING");
  const bool preceding = At("PRECEDING");
  ++at_;
  *bound = preceding   ? unbounded ? Bound::kUnboundedPreceding : Bound::kPreceding
           : unbounded ? Bound::kUnboundedFollowing
                       : Bound::kFollowing;
  return OkStatus();
}

Status Parser::FrameExclusion(WindowFrame* frame) {
  if (!Accept("EXCLUDE")) return OkStatus();
  if (Accept("NO", "OTHERS")) return OkStatus();
  if (Accept("CURRENT", "ROW")) {
    frame->exclude = WindowFrame::Exclude::kCurrentRow;
  } else if (Accept("GROUP")) {
    frame->exclude = WindowFrame::Exclude::kGroup;
  } else if (Accept("TIES")) {
    frame->exclude = WindowFrame::Exclude::kTies;
  } else {
    return Expected("NO OTHERS, CURRENT ROW, GROUP or TIES after EXCLUDE");
  }
  return OkStatus();
}

}  // namespace sluice::query
