// Cuts a stream of JSON lines, or of one JSON array, into the texts of its documents, in memory
// that depends on the largest document only. The texts are not parsed, so they may be invalid JSON.
// One thread.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice::cli {

enum class RecordFormat : uint8_t {
  kLines,  // one document per line; empty lines are skipped
  kList,   // an array; line breaks anywhere
};

struct Record {
  uint64_t number = 0;  // line, or place in the list, from 1
  std::string text;
  Status problem;  // import.record_too_large: the text is left out, and reading continues
};

class RecordReader {
 public:
  RecordReader(std::istream& in, RecordFormat format, size_t max_record_bytes)
      : in_(in), format_(format), max_record_bytes_(max_record_bytes) {}

  // False at the end. An error (file.unreadable, import.bad_list) ends the reading.
  Result<bool> Next(Record* record);

  uint64_t bytes_read() const { return bytes_read_; }

 private:
  Result<bool> NextLine(Record* record);
  Result<bool> NextElement(Record* record);
  Result<bool> EnterList();
  Status ReadElement(Record* record);
  Status ReadString(Record* record);

  // The next byte, or -1 at the end.
  int Peek();
  int PeekPastSpace();
  void Take() { ++at_; }
  bool Fill();
  void Keep(std::string_view bytes, Record* record);
  std::unexpected<Status> BadList(std::string_view expected);

  std::istream& in_;
  const RecordFormat format_;
  const size_t max_record_bytes_;
  std::string buffer_;
  size_t at_ = 0;
  uint64_t bytes_read_ = 0;
  uint64_t number_ = 0;
  bool started_ = false;
  bool ended_ = false;
  bool too_large_ = false;
};

}  // namespace sluice::cli
