// Declarative migration steps, each one key with its arguments. Paths are those of field_path.h;
// where the field is missing, a step does nothing.
//
//   rename:  {old: new, ...}                         a name in its place
//   move:    {from: path, to: path}                  to another object
//   split:   {from: path, to: [a, b], by: " "}       a string into parts; the last has the rest
//   join:    {from: [a, b], to: name, by: " "}       the way back
//   wrap:    {path: p, to: name, as: f, with: {..}}  into an array of one; to, as and with optional
//   unwrap:  {path: p, to: name, as: f}              the way back: the first element
//   default: {path: value, ...}                      where it is missing
//   drop:    path, or a list of them
//   cast:    {path: how, ...}
//
// Casts: string, number, integer, boolean; epoch_ms, epoch_s, epoch_days (from RFC 3339), date
// (from "Dec 14, 2018"), seconds (from milliseconds), guid (without dashes).
#pragma once

#include "base/status.h"
#include "doctype/type.h"
#include "json/value.h"

namespace sluice::doctype {

// Whether the arguments are right: type.invalid, type.bad_path.
Status CheckStep(const MigrationStep& step);

// Changes the document. Requires CheckStep. migration.mismatch when a value is of a type that the
// step can't work with, or a field is in the way.
Status ApplyStep(const MigrationStep& step, json::Value* document);

}  // namespace sluice::doctype
