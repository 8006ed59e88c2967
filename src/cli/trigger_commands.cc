// trigger list|show|hold|resume|skip|dead-letter|failures.
#include <memory>

#include "cli/api.h"
#include "cli/commands.h"
#include "cli/failure_list.h"

namespace sluice::cli {
namespace {

using json::Value;

struct TriggerOptions {
  std::string name;
  std::string event;
  std::string show;
  std::string retry;
  std::string drop;
  bool drop_all = false;
  size_t limit = 100;
};

std::string TriggerPath(const TriggerOptions& options, const std::string& rest = "") {
  return "/v1/triggers/" + Segment(options.name) + rest;
}

// "t, u".
std::string SourcesOf(const Value& sources) {
  std::string text;
  for (const Value& source : sources.items()) {
    text += (text.empty() ? "" : ", ") + TextOf(source["table"]);
  }
  return text;
}

// For a consumer also its client.
std::string TriggerStateText(const Value& trigger) {
  const std::string owner = TextOf(trigger["owner"]);
  return TextOf(trigger["state"]) + (owner.empty() ? "" : " by " + owner);
}

Status ListTriggers(Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.path = "/v1/triggers"}));
  if (context.output.json()) {
    context.output.Rows(answer["triggers"], {});
    return OkStatus();
  }
  Value rows = Value::EmptyArray();
  for (const Value& trigger : answer["triggers"].items()) {
    const bool failing = TextOf(trigger["state"]) == "failing";
    rows.Append(Value::Object({{"name", trigger["name"]},
                               {"type", trigger["type"]},
                               {"state", TriggerStateText(trigger)},
                               {"on", SourcesOf(trigger["sources"])},
                               {"depth", trigger["depth"]},
                               {"dead", trigger["dead_letters"]},
                               {"error", failing ? FirstLine(trigger["error"]) : ""}}));
  }
  context.output.Rows(rows, {{"NAME", "name"},
                             {"TYPE", "type"},
                             {"STATE", "state"},
                             {"ON", "on"},
                             {"DEPTH", "depth"},
                             {"DEAD", "dead"},
                             {"ERROR", "error"}});
  return OkStatus();
}

Status ShowTrigger(const TriggerOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value trigger, api->CallJson({.path = TriggerPath(options)}));
  context.output.Object(trigger);
  return OkStatus();
}

Status Hold(const TriggerOptions& options, Context& context) {
  return Order("POST", TriggerPath(options, "/hold"), fmt::format("trigger {} held", options.name),
               context);
}

Status Resume(const TriggerOptions& options, Context& context) {
  return Order("POST", TriggerPath(options, "/resume"),
               fmt::format("trigger {} continues", options.name), context);
}

Status Skip(const TriggerOptions& options, Context& context) {
  return Order("POST", TriggerPath(options, "/skip" + Query({{"event", options.event}})),
               fmt::format("event {} skipped", options.event), context);
}

Status DeadLetter(const TriggerOptions& options, Context& context) {
  return Order("POST", TriggerPath(options, "/dead-letter" + Query({{"event", options.event}})),
               fmt::format("event {} is a dead letter", options.event), context);
}

Status ListDeadLetters(const TriggerOptions& options, Context& context) {
  const auto row = [](const Value& failure) {
    const Value& event = failure["event"];
    return Value::Object(
        {{"id", failure["id"]},
         {"attempts", failure["attempts"]},
         {"last", failure["last"]},
         {"event", fmt::format("{} {}", TextOf(event["type"]), TextOf(event["name"]))},
         {"error", FirstLine(failure["error"])}});
  };
  const std::string limit = Query({{"limit", std::to_string(options.limit)}});
  return ListFailures(TriggerPath(options, "/failures" + limit), options.limit, row,
                      {{"FAILURE", "id"},
                       {"ATTEMPTS", "attempts"},
                       {"LAST", "last"},
                       {"EVENT", "event"},
                       {"ERROR", "error"}},
                      context);
}

Status TriggerFailures(const TriggerOptions& options, Context& context) {
  if (!options.show.empty()) {
    ASSIGN_OR_RETURN(Api* const api, context.api());
    ASSIGN_OR_RETURN(
        const Value failure,
        api->CallJson({.path = TriggerPath(options, "/failures/" + Segment(options.show))}));
    context.output.Object(failure);
    return OkStatus();
  }
  if (!options.retry.empty()) {
    return Order("POST", TriggerPath(options, "/failures/" + Segment(options.retry) + "/retry"),
                 fmt::format("failure {} was run again and is gone", options.retry), context);
  }
  if (!options.drop.empty()) {
    return Order("DELETE", TriggerPath(options, "/failures/" + Segment(options.drop)),
                 fmt::format("failure {} dropped", options.drop), context);
  }
  if (options.drop_all) {
    return OrderAll("DELETE", TriggerPath(options, "/failures"), "dropped", context);
  }
  return ListDeadLetters(options, context);
}

void AddFailuresOptions(CLI::App* command, TriggerOptions* options) {
  ExcludeEachOther({
      command->add_option("--show", options->show, "One dead letter, with its event's data"),
      command->add_option("--retry", options->retry,
                          "Run the procedure for this dead letter; success removes it"),
      command->add_option("--drop", options->drop, "Forget this dead letter"),
      command->add_flag("--drop-all", options->drop_all, "Forget all dead letters"),
  });
  AddLimitOption(command, &options->limit);
}

}  // namespace

void AddTriggerCommands(Program* program) {
  const auto options = std::make_shared<TriggerOptions>();
  CLI::App* group = program->AddGroup("trigger", "Lua triggers and consumers of tables");
  program->AddCommand(group, "list", "List the triggers and consumers", ListTriggers);
  const auto add = [&](const std::string& name, const std::string& help,
                       Status (*run)(const TriggerOptions&, Context&)) {
    CLI::App* command = program->AddCommand(
        group, name, help, [options, run](Context& context) { return run(*options, context); });
    command->add_option("name", options->name, "Trigger")->required();
    return command;
  };
  add("show", "Show a trigger, with the event at its head", ShowTrigger);
  add("hold", "Stop a trigger for now; its events wait", Hold);
  add("resume", "Continue a held trigger", Resume);
  const char* const kEvent = "Id of the event, as show prints it; it must be at the head";
  add("skip", "Pass the event at the head without handling it", Skip)
      ->add_option("event", options->event, kEvent)
      ->required();
  add("dead-letter", "Pass the event at the head and keep it as a dead letter", DeadLetter)
      ->add_option("event", options->event, kEvent)
      ->required();
  AddFailuresOptions(add("failures", "List a trigger's dead letters", TriggerFailures),
                     options.get());
}

}  // namespace sluice::cli
