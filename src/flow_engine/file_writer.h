// Writes the files that mappings of flows name, when their step is taken.
//
// A durable run's step is stored first, with a row that has its files (run_rows.h). A crash before
// all files are written leaves the row, and the server writes the files again when it starts.
// Replacing or removing a file twice does no harm. To append bytes only once, the writer first
// stores in the row at which offset they go, and no other run appends until they are written.
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

  // Logs errors.
  void Write(const App& app, const std::string& run, const std::vector<StepFile>& files);
  // The same for a durable run, whose row has exactly these files.
  void WriteOnce(const App& app, const std::string& run, std::vector<StepFile> files);

 private:
  // Decides at which offsets bytes are appended, and stores that. False: the commit failed, or
  // another owner of the run appends them.
  bool DecidePlaces(const App& app, const std::string& run, std::vector<StepFile>* files)
      REQUIRES(append_mutex_);
  // Some of them are appended to.
  void AppendOnce(const App& app, const std::string& run, std::vector<StepFile> files)
      REQUIRES(append_mutex_);

  db::Database& database_;
  Mutex append_mutex_;  // held from the decision where to append until that is done
};

}  // namespace sluice::flow_engine
