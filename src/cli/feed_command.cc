// feed KEYSPACE: changes as they happen, one JSON object per line.
#include <memory>

#include "cli/api.h"
#include "cli/commands.h"
#include "cli/keyspace_name.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

constexpr size_t kMaxFeedLineBytes = 128 << 20;

struct FeedOptions {
  std::string keyspace;
  std::string since;
  std::string from = "now";
  bool until_caught_up = false;
  uint64_t limit = 0;
};

// Prints the data of server-sent events that are changes; others (ready, caught_up) are marks.
class EventPrinter {
 public:
  explicit EventPrinter(Output* output) : output_(output) {}

  Status OnLine(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) event_.clear();
    if (line.starts_with("id:")) id_ = Rest(line, 3);
    if (line.starts_with("event:")) event_ = Rest(line, 6);
    if (!line.starts_with("data:") || event_ == "ready" || event_ == "caught_up") {
      return OkStatus();
    }
    if (event_ == "error") return ErrorOf(500, Rest(line, 5));
    return Print(Rest(line, 5));
  }

 private:
  // The change with its event's id, for --since.
  Status Print(std::string_view change) {
    if (!change.starts_with('{')) {
      return Error(Code::kInternal, "cli.bad_answer", "expected a JSON object as a change");
    }
    std::string text = R"({"id":)";
    json::AppendQuoted(id_, &text);
    text += ',';
    text += change.substr(1);
    output_->Line(text);
    output_->Flush();
    return OkStatus();
  }

  static std::string_view Rest(std::string_view line, size_t prefix) {
    line.remove_prefix(prefix);
    if (line.starts_with(' ')) line.remove_prefix(1);
    return line;
  }

  Output* const output_;
  std::string id_;
  std::string event_;
};

Status Follow(const FeedOptions& options, Context& context) {
  RETURN_IF_ERROR(CheckKeyspace(options.keyspace));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  EventPrinter printer(&context.output);
  LineSplitter splitter(kMaxFeedLineBytes,
                        [&](std::string_view line) { return printer.OnLine(line); });
  const std::string query =
      Query({{"since", options.since},
             {"from", options.from},
             {"until", options.until_caught_up ? "caught_up" : ""},
             {"limit", options.limit == 0 ? "" : std::to_string(options.limit)}});
  RETURN_IF_ERROR(api->Stream({.path = "/v1/feed/" + Segment(options.keyspace) + query,
                               .headers = {{"Accept", "text/event-stream"}}},
                              [&](std::string_view bytes) { return splitter.Feed(bytes); }));
  return splitter.Finish();
}

}  // namespace

void AddFeedCommand(Program* program) {
  const auto options = std::make_shared<FeedOptions>();
  CLI::App* feed =
      program->AddCommand(&program->app(), "feed", "Print the changes of a keyspace as they happen",
                          [options](Context& context) { return Follow(*options, context); });
  feed->add_option("keyspace", options->keyspace, "Keyspace")->required();
  feed->add_option("--from", options->from, "now, or everything: all documents first")
      ->check(CLI::IsMember({"now", "everything"}))
      ->capture_default_str();
  feed->add_option("--since", options->since, "Continue after the change with this id");
  feed->add_flag("--until-caught-up", options->until_caught_up,
                 "End after the changes that exist now");
  feed->add_option("--limit", options->limit, "End after this many changes");
}

}  // namespace sluice::cli
