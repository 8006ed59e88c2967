// Writes the files that mappings of flows name, when their step is taken.
//
// A durable run's step is stored first, with a row that has its files (run_rows.h). A crash before
// they are all written leaves the row, and they are written again when the server starts. Replacing
// and removing a file twice does no harm. Bytes are appended once: where is decided, and stored in
// the row, before they are written, and no other run appends in between.
//
// Concurrency: any thread. Waits for the disk.
#pragma once

#include <string>
#include <vector>

#include "base/mutex.h"
#include "db/database.h"
#include "flow_engine/app.h"
#include "flow_engine/run_rows.h"

namespace sluice::flow_engine {

class FileWriter {
 public:
  explicit FileWriter(db::Database& database) : database_(database) {}

  // What goes wrong is in the log.
  void Write(const App& app, const std::string& run, const std::vector<StepFile>& files);
  // Of a durable run, whose row has exactly these.
  void WriteOnce(const App& app, const std::string& run, std::vector<StepFile> files);

 private:
  // Says where bytes are appended, and stores it. False: they can't be appended now, or another
  // owner of the run does it.
  bool DecidePlaces(const App& app, const std::string& run, std::vector<StepFile>* files)
      REQUIRES(append_mutex_);
  // Some of them are appended to.
  void AppendOnce(const App& app, const std::string& run, std::vector<StepFile> files)
      REQUIRES(append_mutex_);

  db::Database& database_;
  Mutex append_mutex_;  // held from the decision where to append until that is done
};

}  // namespace sluice::flow_engine
