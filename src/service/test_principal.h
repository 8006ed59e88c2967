// For tests: somebody who has been recognised.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "auth/roles.h"

namespace sluice::service {

// `grants` as "reader:shop".
inline std::shared_ptr<const auth::Principal> Somebody(
    std::string user, std::initializer_list<std::string_view> grants) {
  auto who = std::make_shared<auth::Principal>();
  who->user = std::move(user);
  for (const std::string_view grant : grants) who->grants.push_back(*auth::Grant::Parse(grant));
  return who;
}

}  // namespace sluice::service
