#include "query/exec/context.h"

#include <algorithm>

#include <re2/re2.h>

#include "json/parse.h"
#include "query/exec/subquery.h"
#include "query/turns.h"

namespace sluice::query {
namespace {

constexpr size_t kMaxWarnings = 100;
// Documents whose migration fails. More of them say that the migration is wrong, not they.
constexpr size_t kMaxLeftOut = 100;
constexpr size_t kMaxRegexes = 1000;
constexpr int64_t kRegexMemory = 8 << 20;
// The largest single value that a function may make.
constexpr size_t kMaxFunctionResult = 20 << 20;

}  // namespace

Context::Context(const Layout& layout, db::Reader& reader, const RunOptions& options)
    : layout_(layout),
      reader_(reader),
      options_(options),
      frame_(layout.slots()),
      sources_(layout.sources().size()),
      subqueries_(layout.subqueries()) {}

Context::Context(SharedScan& scan)
    : layout_(scan.whole.layout_),
      reader_(scan.whole.reader_),
      options_(scan.whole.options_),
      scan_(&scan),
      frame_(scan.whole.frame_),
      sources_(scan.whole.sources_),
      subqueries_(scan.whole.layout_.subqueries()) {}

uint64_t Context::Random() {
  if (random_ == nullptr) random_ = std::make_unique<std::mt19937_64>(std::random_device{}());
  return (*random_)();
}

Context::~Context() {
  if (charged_ > 0) options_.memory->Give(charged_);
}

void Context::SetDocument(size_t source, std::string_view key, const db::DocumentView& document) {
  SourceRow& row = sources_[source];
  row.present = true;
  row.loaded = 0;
  row.key = key;
  row.body = document.body;
  row.meta = {.cas = document.cas,
              .expiry_ms = document.expiry_ms,
              .flags = document.flags,
              .datatype = document.datatype,
              .xattrs = document.xattrs};
}

void Context::SetAbsent(size_t source) {
  SourceRow& row = sources_[source];
  row = SourceRow{};
}

void Context::LoadNow(size_t source, GroupNumber group) {
  SourceRow& row = sources_[source];
  const SourceLayout& layout = layout_.sources()[source];
  const PathGroup& paths = layout.groups[static_cast<size_t>(group)];
  row.loaded |= static_cast<uint8_t>(1u << static_cast<unsigned>(group));
  const bool readable = row.present && row.meta.datatype == db::Datatype::kJson;
  if (group == GroupNumber::kRest && layout.whole) {
    Value& whole = frame_[layout.variable];
    if (!readable) {
      whole = row.present ? Value::Bytes(row.body) : Value();
    } else if (auto parsed = json::Parse(row.body)) {
      whole = std::move(*parsed);
    } else {
      Fail(parsed.error().Prefixed(fmt::format("document '{}'", row.key)));
    }
  }
  if (paths.paths.empty()) return;
  if (!readable) {
    for (const PathSlot& path : paths.paths) frame_[path.slot] = Value();
    return;
  }
  extracted_.resize(std::max(extracted_.size(), paths.paths.size()));
  const Status status = paths.extractor->Values(row.body, extracted_);
  if (!status.ok()) Fail(status.Prefixed(fmt::format("document '{}'", row.key)));
  for (size_t i = 0; i < paths.paths.size(); ++i) frame_[paths.paths[i].slot].Swap(extracted_[i]);
}

int64_t Context::wall_time_us() const {
  return static_cast<int64_t>(options_.clock->WallNs() / 1000);
}

bool Context::IsCancelled() const {
  return options_.cancelled != nullptr && options_.cancelled->load(std::memory_order_relaxed);
}

bool Context::IsLate() const {
  return options_.deadline_ms != UINT64_MAX && options_.clock->WallMs() >= options_.deadline_ms;
}

void Context::CheckLimits() {
  ticks_ = 0;
  if (options_.turn != nullptr) {
    options_.turn->Check([this] { return IsCancelled() || IsLate(); });
  }
  if (IsCancelled()) {
    Fail(QueryError(QueryCode::kCancelled, "the statement was cancelled"));
  } else if (IsLate()) {
    Fail(QueryError(QueryCode::kTimeout, "Timeout exceeded: the statement ran out of its time"));
  } else if (part_ != nullptr && scan_->first_failed < part_->number) {
    Fail(QueryError(QueryCode::kCancelled, "an earlier part of the scan has failed"));
  }
}

UserFunctionRunner* Context::user_functions() {
  if (user_functions_ == nullptr && options_.new_function_runner) {
    user_functions_ = options_.new_function_runner();
  }
  if (user_functions_ == nullptr) {
    Fail(QueryError(QueryCode::kInternal, "there are no functions of users here"));
  }
  return user_functions_.get();
}

bool Context::Charge(size_t bytes) {
  charged_ += bytes;
  if (options_.memory->Take(bytes)) return !failed_;
  Fail(QueryError(QueryCode::kMemoryQuota,
                  "the statement needs more than its memory limit of {} MiB: filter earlier, add a "
                  "LIMIT or an index, or raise the limit",
                  options_.memory->limit() >> 20));
  return false;
}

void Context::Release(size_t bytes) {
  charged_ -= bytes;
  options_.memory->Give(bytes);
}

void Context::Warn(QueryCode code, std::string message) {
  Warning warning{.code = code, .message = std::move(message)};
  if (warnings_.size() >= kMaxWarnings ||
      std::ranges::find(warnings_, warning) != warnings_.end()) {
    return;
  }
  warnings_.push_back(std::move(warning));
}

bool Context::LeaveOut(std::string_view key, const Status& why) {
  CheckLimits();  // the failed part may have taken long
  if (failed_) return false;
  if (!left_out_.emplace(key).second) return true;
  if (left_out_.size() > kMaxLeftOut) {
    Fail(QueryError(QueryCode::kUnreadable, "more than {} documents can't be read, such as: {}",
                    kMaxLeftOut, why.ToString()));
    return false;
  }
  Warn(QueryCode::kUnreadable, "left out: " + why.ToString());
  return true;
}

void Context::Fail(Status status) {
  if (failed_) return;
  failed_ = true;
  status_ = std::move(status);
}

bool Context::Allow(size_t bytes) {
  if (bytes <= kMaxFunctionResult) return !failed_;
  Fail(QueryError(QueryCode::kTooLarge,
                  "a function's result would have {} bytes; at most {} MiB are possible", bytes,
                  kMaxFunctionResult >> 20));
  return false;
}

const re2::RE2* Context::Regex(std::string_view pattern, Match match) {
  std::string key(1, match == Match::kWhole ? 'w' : 'a');
  key += pattern;
  const auto found = regexes_.find(key);
  if (found != regexes_.end()) return found->second.get();
  if (regexes_.size() >= kMaxRegexes) regexes_.clear();
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_max_mem(kRegexMemory);
  std::string text(pattern);
  if (match == Match::kWhole) text = "\\A(?:" + text + ")\\z";
  auto regex = std::make_unique<re2::RE2>(text, options);
  if (!regex->ok()) {
    Fail(QueryError(QueryCode::kEvaluation, "'{}' is not a regular expression: {}", pattern,
                    regex->error()));
    return nullptr;
  }
  return regexes_.emplace(std::move(key), std::move(regex)).first->second.get();
}

}  // namespace sluice::query
