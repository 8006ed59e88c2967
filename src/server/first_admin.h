// The file with the password of the first admin, in the data directory, readable only by the
// server's user. The password is not printed, because a server's output stays in journals.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice::server {

std::string FirstPasswordFile(std::string_view data_directory);

// On disk when this returns. Error server.first_password.
Status KeepFirstPassword(const std::string& file, std::string_view password);

}  // namespace sluice::server
