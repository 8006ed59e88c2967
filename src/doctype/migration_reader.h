// The key `migrations` of a type file:
//
//   migrations: user.migrations.js            # a file with functions
//   migrations:
//     - user.migrations.js                    # or several, and steps without code
//     - {file: name.js, code: "..."}          # a file's text itself, as JSON has it
//     - from: "1.0"
//       to: "2.0"
//       steps:
//         - split: {from: name, to: [firstName, lastName], by: " "}
//       back:
//         - join: {from: [firstName, lastName], to: name, by: " "}
//
// steps.h describes the steps' arguments.
#pragma once

#include <string>
#include <vector>

#include "doctype/node_reader.h"
#include "doctype/type.h"
#include "doctype/type_reader.h"

namespace sluice::doctype {

std::vector<MigrationSource> ReadMigrations(const yaml::Node& node, const std::string& where,
                                            const FileReader& files, NodeReader* reader);

std::string_view StepName(MigrationStep::Kind kind);

}  // namespace sluice::doctype
