// f:now, f:dateTime, f:parseDate, f:parseDateTime. Patterns are constants, read when a flow is
// compiled.
#include <memory>
#include <string>
#include <utility>

#include "flow/date_pattern.h"
#include "flow/plugin.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

using json::Value;

enum class Form : uint8_t { kIso, kLocal, kMs };

struct Plan final : Prepared {
  Form form = Form::kIso;
  bool patterned = false;
  DatePattern pattern;
  std::string zone;
};

std::optional<Form> FormNamed(std::string_view name) {
  if (name == "iso") return Form::kIso;
  if (name == "local") return Form::kLocal;
  if (name == "ms") return Form::kMs;
  return std::nullopt;
}

Result<std::string_view> ConstantText(const Expression& argument, std::string_view function) {
  if (argument.space != Space::kConstant || !argument.constant.is_string()) {
    return BadArgument(function, fmt::format("'{}' must be text(...)", argument.text));
  }
  return argument.constant.AsString();
}

Result<Value> InForm(Form form, int64_t unix_ms) {
  switch (form) {
    case Form::kIso:
      return Value(IsoTime(unix_ms));
    case Form::kLocal: {
      ASSIGN_OR_RETURN(const std::string text, LocalTime(unix_ms));
      return Value(text);
    }
    case Form::kMs:
      return Value(unix_ms);
  }
  return Value();
}

Result<std::shared_ptr<const Prepared>> PrepareNow(std::span<const Expression> args) {
  auto plan = std::make_shared<Plan>();
  if (!args.empty()) {
    ASSIGN_OR_RETURN(const std::string_view name, ConstantText(args[0], "now"));
    const auto form = FormNamed(Trim(name));
    if (!form) return BadArgument("now", "iso, local or ms is expected");
    plan->form = *form;
  }
  return std::shared_ptr<const Prepared>(std::move(plan));
}

Result<Value> Now(const PluginInput& input) {
  return InForm(static_cast<const Plan&>(*input.prepared).form, static_cast<int64_t>(input.now_ms));
}

Result<std::shared_ptr<const Prepared>> PrepareDateTime(std::span<const Expression> args) {
  auto plan = std::make_shared<Plan>();
  if (!args.empty()) {
    ASSIGN_OR_RETURN(const std::string_view pattern, ConstantText(args[0], "dateTime"));
    ASSIGN_OR_RETURN(plan->pattern, DatePattern::Parse(pattern));
    plan->patterned = true;
  }
  if (args.size() > 1) {
    ASSIGN_OR_RETURN(const std::string_view zone, ConstantText(args[1], "dateTime"));
    plan->zone = std::string(Trim(zone));
    RETURN_IF_ERROR(CheckZone(plan->zone));
  }
  return std::shared_ptr<const Prepared>(std::move(plan));
}

Result<Value> DateTime(const PluginInput& input) {
  const auto& plan = static_cast<const Plan&>(*input.prepared);
  const auto now = static_cast<int64_t>(input.now_ms);
  ASSIGN_OR_RETURN(const std::string text,
                   plan.patterned ? plan.pattern.Format(now, plan.zone) : ZonedTime(now));
  return Value(text);
}

Result<std::shared_ptr<const Prepared>> PrepareParse(std::span<const Expression> args) {
  ASSIGN_OR_RETURN(const std::string_view text, ConstantText(args[1], "parseDate"));
  const size_t semicolon = text.rfind(';');
  const auto form =
      semicolon == text.npos ? std::nullopt : FormNamed(Trim(text.substr(semicolon + 1)));
  if (!form) {
    return BadArgument("parseDate",
                       "text(pattern; iso), text(pattern; local) or text(pattern; ms) "
                       "is expected");
  }
  auto plan = std::make_shared<Plan>();
  plan->form = *form;
  ASSIGN_OR_RETURN(plan->pattern, DatePattern::Parse(Trim(text.substr(0, semicolon))));
  return std::shared_ptr<const Prepared>(std::move(plan));
}

Result<Value> ParseDate(const PluginInput& input) {
  const auto& plan = static_cast<const Plan&>(*input.prepared);
  if (!input.args[0].is_string()) return BadArgument("parseDate", "value is not a string");
  ASSIGN_OR_RETURN(const int64_t unix_ms, plan.pattern.Read(input.args[0].AsString()));
  return InForm(plan.form, unix_ms);
}

constexpr Plugin kDatePlugins[] = {
    {"now", 0, 1, Now, PrepareNow},
    {"dateTime", 0, 2, DateTime, PrepareDateTime},
    {"parseDate", 2, 2, ParseDate, PrepareParse},
    {"parseDateTime", 2, 2, ParseDate, PrepareParse},
};

}  // namespace

std::span<const Plugin> DatePlugins() { return kDatePlugins; }

}  // namespace sluice::flow
