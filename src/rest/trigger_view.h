// Triggers and their dead letters as REST shows them.
#pragma once

#include "json/value.h"
#include "procedure/trigger/triggers.h"

namespace sluice::rest {

json::Value TriggerView(const procedure::TriggerStatus& status);
// The same with the event at the head.
json::Value TriggerDetails(const procedure::TriggerStatus& status);
json::Value DeadLetterView(const failure::FailureList::Item& item);

}  // namespace sluice::rest
