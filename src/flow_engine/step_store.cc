#include "flow_engine/step_store.h"

#include <utility>

#include "flow_engine/run_rows.h"

namespace sluice::flow_engine {
namespace {

// Handing an answer to another thread takes longer than the answer. But the database's thread has
// no time for listeners, nor for the end of the last run of an app, and so of its functions.
bool MayAnswerHere(const LiveRun& run) {
  return run.listened == nullptr && run.app.use_count() > 1;
}

}  // namespace

void StepStore::Submit(const LiveRunPtr& run, StoreRequest request) {
  submitted_.Add();
  request.commit.shard = database_.ShardOfKey(run->id);
  database_.Submit(std::move(request.commit),
                   [this, run, number = request.number, only_answers = request.only_answers,
                    before = std::move(request.version_before),
                    after = std::move(request.version_after)](db::CommitResult made) mutable {
                     if (made.status.ok() && only_answers && MayAnswerHere(*run)) {
                       on_stored_(run, number, {});
                     } else {
                       threads_.Post([this, run, number, status = std::move(made.status),
                                      before = std::move(before), after = std::move(after)] {
                         on_stored_(run, number, ResultOf(run->id, status, before, after));
                       });
                     }
                     submitted_.Done();
                   });
}

StoreResult StepStore::ResultOf(const std::string& run, const Status& status,
                                const std::optional<std::string>& version_before,
                                const std::optional<std::string>& version_after) const {
  using Kind = StoreResult::Kind;
  if (status.ok()) return {};
  if (status.id() == db::kNotOwner || status.id() == "commit.shard_lost") {
    return {Kind::kLost, status};
  }
  if (status.code() != Code::kConflict) return {Kind::kRefused, status};
  const db::Rows& rows = database_.rows();
  const db::ShardId shard = database_.ShardOfKey(run);
  std::string version;
  const auto live = rows.Get(db::RowFamily::kRun, shard, LiveKey(run), &version);
  if (!live) return {Kind::kRefused, status};
  const std::optional<std::string> present = *live ? std::optional(version) : std::nullopt;
  if (version_after && present == version_after) return {};
  if (version_before) return {present == version_before ? Kind::kRefused : Kind::kLost, status};
  // A run that is not begun has no head.
  std::string head;
  const auto begun = rows.Get(db::RowFamily::kRun, shard, HeadKey(run), &head);
  return {begun && *begun ? Kind::kLost : Kind::kRefused, status};
}

}  // namespace sluice::flow_engine
