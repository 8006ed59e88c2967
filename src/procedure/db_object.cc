#include "procedure/db_object.h"

namespace sluice::procedure {

const lua::HostClass& DbObject::Class() {
  static const lua::HostClass type = [] {
    lua::HostClass made{.name = "db",
                        .methods = {},
                        .constants = {{"err_dup", Value(kDuplicate)},
                                      {"err_verify", Value(kVerify)},
                                      {"err_fkey", Value(kForeignKey)},
                                      {"err_null_constraint", Value(kNullConstraint)},
                                      {"err_check_constraint", Value(kCheckConstraint)},
                                      {"err_conv", Value(kConversion)}}};
    for (const auto& methods : {StatementMethods(), EmitMethods(), ValueMethods(), SettingMethods(),
                                EventMethods(), ConsumerMethods(), FlowMethods()}) {
      made.methods.insert(made.methods.end(), methods.begin(), methods.end());
    }
    return made;
  }();
  return type;
}

}  // namespace sluice::procedure
