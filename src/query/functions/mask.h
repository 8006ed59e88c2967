// MASK(text [, options]): covers a part of a string. Options, all of them optional:
//   mask    what is laid over the text ("********")
//   hole    characters of the mask through which the text shows (" ")
//   inject  characters of the mask that are put in between, without covering one of the text ("")
//   anchor  where the mask begins: "start", "end", a position (negative ones from the end), or a
//           regular expression; text that it is not in stays as it is
//   length  "source" keeps the text's length; else the result ends with the mask
#pragma once

#include "query/functions/function.h"

namespace sluice::query {

Value Mask(FunctionContext& context, Args args);

}  // namespace sluice::query
