// Where the password of the first admin is kept until somebody has read it: a file of the data
// directory that nobody else may read. What a server prints ends in journals, for good.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice::server {

std::string FirstPasswordFile(std::string_view data_directory);

// On disk when this returns. Error server.first_password.
Status KeepFirstPassword(const std::string& file, std::string_view password);

}  // namespace sluice::server
