#include "query/exec/fetch.h"

#include <algorithm>

namespace sluice::query {

void Fetcher::Clear() {
  single_ = false;
  bytes_.clear();
  views_.clear();
  position_ = 0;
}

void Fetcher::Add(std::string_view key) {
  bytes_.append(key);
  views_.push_back(key);
}

bool Fetcher::Fetch(Context& context) {
  if (views_.empty()) return false;
  batch_ = std::min(batch_ * 4, kLargestBatch);
  // The bytes no longer move.
  size_t at = 0;
  for (std::string_view& view : views_) {
    view = std::string_view(bytes_).substr(at, view.size());
    at += view.size();
  }
  if (views_.size() == 1) {
    FetchOne(context, views_[0], false);
    return true;
  }
  const Status status = context.reader().GetMany(target_.keyspace, views_, &documents_, &found_);
  if (!status.ok()) context.Fail(status);
  return status.ok();
}

void Fetcher::FetchOne(Context& context, std::string_view key, bool only) {
  position_ = 0;
  single_ = true;
  single_key_ = key;
  db::Reader& reader = context.reader();
  auto found = only ? reader.GetOnly(target_.keyspace, key, &single_document_)
                    : reader.Get(target_.keyspace, key, &single_document_);
  if (!found) context.Fail(found.error());
  single_found_ = found && *found;
}

bool Fetcher::Next(Context& context, std::vector<std::string>* missing) {
  while (position_ < count() && context.Tick()) {
    const size_t at = position_++;
    const std::string_view key = single_ ? single_key_ : views_[at];
    if (single_ ? single_found_ : found_[at]) {
      const db::PinnedDocument& document = single_ ? single_document_ : documents_[at];
      context.SetDocument(target_.source, key, document.view());
      return true;
    }
    if (missing != nullptr) missing->emplace_back(key);
  }
  if (!context.failed()) Clear();
  return false;
}

}  // namespace sluice::query
