// Embed or reference: for each array of objects and each object inside documents, whether it should
// stay there, with the numbers and the rule behind the verdict.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace sluice::doctype {

// The observed use of a path; all 0 if none was observed.
struct PathTraffic {
  uint64_t updates_alone = 0;   // updates of the document that changed nothing else
  uint64_t updates_longer = 0;  // updates that added elements to it
  uint64_t updates = 0;         // of its documents
  uint64_t joins = 0;           // statements that joined its documents with others by it
};

struct EmbedVerdict {
  std::string path;
  bool reference = false;  // else embed
  std::string rule;        // of the guide
  uint64_t documents = 0;
  double mean_elements = 0;  // 1 for an object
  uint64_t longest = 0;
  double share_of_bytes = 0;  // of the documents it is in
  double duplicated = 0;      // share of its objects that are in other documents, too
  PathTraffic traffic;
};

class EmbedAdvice {
 public:
  static constexpr size_t kMaxPaths = 1000;
  static constexpr size_t kMaxObjects = 200'000;  // that are remembered to find duplicates
  static constexpr uint64_t kManyElements = 100;
  static constexpr uint64_t kFewElements = 20;
  // Smaller objects, such as {"count":1}, are equal by chance.
  static constexpr size_t kLeastDuplicateBytes = 32;

  // As SampleStatistics has it: a map is like an array of its values.
  void SetMaps(std::set<std::string> maps) { maps_ = std::move(maps); }
  Status Add(std::string_view document);
  std::vector<EmbedVerdict> Finish(const std::map<std::string, PathTraffic>& traffic = {}) const;

 private:
  struct Candidate {
    uint64_t documents = 0;
    uint64_t arrays = 0;
    uint64_t objects = 0;
    uint64_t longest = 0;
    uint64_t bytes = 0;
    uint64_t document_bytes = 0;
    uint64_t duplicates = 0;
    uint64_t seen_by = 0;
    std::unordered_map<uint64_t, uint64_t> hashes;  // to the first document that has it
  };

  void Visit(const json::Value& value, const std::string& path);
  void AddCandidate(const json::Value& value, const std::string& path);
  void AddObject(const json::Value& object, Candidate* candidate);
  EmbedVerdict Judge(const std::string& path, const Candidate& candidate,
                     const PathTraffic& traffic) const;

  std::set<std::string> maps_;
  std::map<std::string, Candidate> candidates_;
  size_t remembered_ = 0;
  uint64_t documents_ = 0;
  uint64_t document_bytes_ = 0;
};

std::string ToText(const std::vector<EmbedVerdict>& verdicts);
json::Value ToJson(const std::vector<EmbedVerdict>& verdicts);

}  // namespace sluice::doctype
