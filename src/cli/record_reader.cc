#include "cli/record_reader.h"

#include <cstring>

namespace sluice::cli {
namespace {

constexpr size_t kBufferBytes = 256 << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool IsSpace(int c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

bool RecordReader::Fill() {
  if (at_ < buffer_.size()) return true;
  buffer_.resize(kBufferBytes);
  in_.read(buffer_.data(), static_cast<std::streamsize>(kBufferBytes));
  buffer_.resize(static_cast<size_t>(in_.gcount()));
  at_ = bytes_read_ == 0 && buffer_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  bytes_read_ += buffer_.size();
  return at_ < buffer_.size();
}

int RecordReader::Peek() { return Fill() ? static_cast<unsigned char>(buffer_[at_]) : -1; }

int RecordReader::PeekPastSpace() {
  while (IsSpace(Peek())) Take();
  return Peek();
}

void RecordReader::Keep(std::string_view bytes, Record* record) {
  if (too_large_) return;
  if (record->text.size() + bytes.size() > max_record_bytes_) {
    too_large_ = true;
    record->text.clear();
    record->problem = Error(Code::kTooLarge, "import.record_too_large",
                            "the document has more than {} bytes", max_record_bytes_);
    return;
  }
  record->text += bytes;
}

Result<bool> RecordReader::Next(Record* record) {
  record->text.clear();
  record->problem = OkStatus();
  too_large_ = false;
  ASSIGN_OR_RETURN(const bool found,
                   format_ == RecordFormat::kLines ? NextLine(record) : NextElement(record));
  if (in_.bad()) return Fail(Code::kIo, "file.unreadable", "can't read the input to its end");
  return found;
}

Result<bool> RecordReader::NextLine(Record* record) {
  while (Fill()) {
    ++number_;
    for (bool complete = false; !complete && Fill();) {
      const std::string_view rest = std::string_view(buffer_).substr(at_);
      const size_t end = std::min(rest.find('\n'), rest.size());
      Keep(rest.substr(0, end), record);
      complete = end < rest.size();
      at_ += end + (complete ? 1 : 0);
    }
    record->number = number_;
    if (!record->problem.ok()) return true;
    if (record->text.ends_with('\r')) record->text.pop_back();
    if (!IsBlank(record->text)) return true;
    record->text.clear();
  }
  return false;
}

std::unexpected<Status> RecordReader::BadList(std::string_view expected) {
  const int found = Peek();
  return Fail(Code::kInvalidArgument, "import.bad_list", "expected {} after element {}, found {}",
              expected, number_,
              found < 0 ? std::string("the end of the input")
                        : fmt::format("'{}'", static_cast<char>(found)));
}

// Reads '['; false when the list is empty.
Result<bool> RecordReader::EnterList() {
  started_ = true;
  if (PeekPastSpace() != '[') {
    const std::string found =
        Peek() < 0 ? "nothing" : fmt::format("'{}'", static_cast<char>(Peek()));
    return Fail(Code::kInvalidArgument, "import.bad_list",
                "expected a JSON array that begins with '[', found {}; is it one document per line "
                "(--format lines)?",
                found);
  }
  Take();
  return PeekPastSpace() != ']';
}

Result<bool> RecordReader::NextElement(Record* record) {
  if (ended_) return false;
  bool more = true;
  if (!started_) {
    ASSIGN_OR_RETURN(more, EnterList());
  } else {
    const int next = PeekPastSpace();
    if (next != ',' && next != ']') return BadList("',' or ']'");
    more = next == ',';
    if (more) Take();
  }
  if (!more) {
    Take();
    ended_ = true;
    if (PeekPastSpace() >= 0) return BadList("nothing");
    return false;
  }
  PeekPastSpace();
  ++number_;
  record->number = number_;
  RETURN_IF_ERROR(ReadElement(record));
  return true;
}

// From an opening quote to its closing one.
Status RecordReader::ReadString(Record* record) {
  Keep("\"", record);
  Take();
  while (Fill()) {
    const std::string_view rest = std::string_view(buffer_).substr(at_);
    const size_t end = std::min(rest.find_first_of("\"\\"), rest.size());
    Keep(rest.substr(0, end), record);
    at_ += end;
    if (end == rest.size()) continue;
    if (rest[end] == '"') {
      Keep("\"", record);
      Take();
      return OkStatus();
    }
    Keep("\\", record);
    Take();
    if (Peek() < 0) break;
    Keep(std::string_view(buffer_).substr(at_, 1), record);
    Take();
  }
  return BadList("the end of a string").error();
}

// Up to, and not including, the ',' or ']' that ends the element. Brackets are only counted: the
// parser checks whether they match.
Status RecordReader::ReadElement(Record* record) {
  uint64_t depth = 0;
  for (int next = Peek(); next >= 0; next = Peek()) {
    if (next == '"') {
      RETURN_IF_ERROR(ReadString(record));
      continue;
    }
    if (depth == 0 && (next == ',' || next == ']')) {
      if (record->text.empty() && !too_large_) return BadList("an element").error();
      return OkStatus();
    }
    if (next == '{' || next == '[') ++depth;
    if ((next == '}' || next == ']') && depth > 0) --depth;
    // A line break is white space here, and must not end a line of the output.
    const char kept = next == '\n' || next == '\r' ? ' ' : static_cast<char>(next);
    Keep(std::string_view(&kept, 1), record);
    Take();
  }
  return BadList("',' or ']'").error();
}

}  // namespace sluice::cli
