#include "query/exec/fetch.h"

#include <algorithm>
#include <utility>

namespace sluice::query {

void Fetcher::Fill(Context& context, std::vector<std::string> keys) {
  keys_ = std::move(keys);
  position_ = 0;
  batch_ = std::min(batch_ * 4, kLargestBatch);
  if (keys_.size() == 1) {
    documents_.resize(1);
    auto found = context.reader().Get(target_.keyspace, keys_[0], &documents_[0]);
    if (!found) context.Fail(found.error());
    found_.assign(1, found && *found);
    return;
  }
  views_.assign(keys_.begin(), keys_.end());
  const Status status = context.reader().GetMany(target_.keyspace, views_, &documents_, &found_);
  if (!status.ok()) context.Fail(status);
}

bool Fetcher::Next(Context& context, std::vector<std::string>* missing) {
  while (position_ < keys_.size() && context.Tick()) {
    const size_t at = position_++;
    if (found_[at]) {
      context.SetDocument(target_.source, keys_[at], documents_[at].view());
      return true;
    }
    if (missing != nullptr) missing->push_back(keys_[at]);
  }
  return false;
}

}  // namespace sluice::query
