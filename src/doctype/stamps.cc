#include "doctype/stamps.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  json::AppendQuoted(text, &out);
  return out;
}

std::string TimeText(const Properties& properties, uint64_t ms) {
  return fmt::format("{}", properties.seconds ? ms / 1000 : ms);
}

// ISO 3166-1, and XK, which many use for Kosovo.
constexpr std::string_view kCountries =
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR "
    "BS "
    "BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC "
    "EE "
    "EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK "
    "HM "
    "HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB "
    "LC "
    "LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ "
    "NA "
    "NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU "
    "RW "
    "SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN "
    "TO "
    "TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW";

bool IsCountry(std::string_view code) {
  if (code.size() != 2 || code[0] == ' ' || code[1] == ' ') return false;
  const size_t at = kCountries.find(code);
  return at != std::string_view::npos && at % 3 == 0;
}

class Stamper {
 public:
  Stamper(const Type& type, const StampInput& input, const StampSpans& spans)
      : properties_(type.properties),
        type_(type),
        input_(input),
        spans_(spans),
        edit_(type.properties, spans) {}

  // `present` is null for a new document.
  Result<Stamped> Run(const StampSpans* present) {
    edit_.Set(Stamp::kType, Quoted(type_.name));
    if (!spans_.Text(Stamp::kSchema) && !type_.schema.empty()) {
      edit_.Set(Stamp::kSchema, Quoted(type_.schema));
    }
    Stamped stamped;
    SetVersion(present, &stamped);
    const std::string now = TimeText(properties_, input_.now_ms);
    const std::string actor = input_.actor.empty() ? "" : Quoted(input_.actor);
    SetOnce(Stamp::kCreated, present, now);
    SetOnce(Stamp::kCreatedBy, present, actor);
    SetOwn(Stamp::kModified, now);
    SetOwn(Stamp::kModifiedBy, actor);
    SetOnce(Stamp::kAccessed, present, "");
    RETURN_IF_ERROR(CheckCountry());
    stamped.document = edit_.Apply();
    return stamped;
  }

 private:
  bool ClientMay(Stamp stamp) const {
    return properties_.is_writable(stamp) && !spans_.Raw(stamp).empty();
  }

  void SetVersion(const StampSpans* present, Stamped* stamped) {
    if (!properties_.uses(Stamp::kVersion)) return;
    const uint64_t last = input_.last_revision;
    if (present != nullptr) {
      const uint64_t had = present->Count(Stamp::kVersion);
      stamped->previous_version = had > last ? had : last + 1;
      stamped->version = stamped->previous_version + 1;
    } else {
      stamped->version = last + 1;
    }
    edit_.Set(Stamp::kVersion, fmt::format("{}", stamped->version));
  }

  void SetOwn(Stamp stamp, const std::string& value) {
    if (!ClientMay(stamp)) edit_.Set(stamp, value);
  }

  void SetOnce(Stamp stamp, const StampSpans* present, const std::string& value) {
    if (ClientMay(stamp)) return;
    edit_.Set(stamp, present == nullptr ? value : std::string(present->Raw(stamp)));
  }

  Status CheckCountry() {
    if (!properties_.uses(Stamp::kGeo)) return OkStatus();
    const std::string_view raw = spans_.Raw(Stamp::kGeo);
    if (raw.empty()) return OkStatus();
    const auto text = spans_.Text(Stamp::kGeo);
    if (raw == "null" || (raw.front() == '"' && text && IsCountry(*text))) return OkStatus();
    return Error(Code::kInvalidArgument, "type.bad_country",
                 "'{}': expected a country as two capital letters (ISO 3166), such as \"DE\"",
                 properties_.PathOf(Stamp::kGeo));
  }

  const Properties& properties_;
  const Type& type_;
  const StampInput& input_;
  const StampSpans& spans_;
  StampEdit edit_;
};

}  // namespace

Result<Stamped> ApplyStamps(const Type& type, const StampInput& input) {
  ASSIGN_OR_RETURN(const StampSpans spans, StampSpans::Find(input.document, type.properties));
  return ApplyStamps(type, input, spans);
}

Result<Stamped> ApplyStamps(const Type& type, const StampInput& input, const StampSpans& spans) {
  Stamper stamper(type, input, spans);
  if (!input.present) return stamper.Run(nullptr);
  const auto present = StampSpans::Find(*input.present, type.properties);
  // The replaced document is not an object, so it has no properties to keep.
  if (!present) {
    const StampSpans nothing;
    return stamper.Run(&nothing);
  }
  return stamper.Run(&*present);
}

std::optional<std::string> Touch(const Type& type, std::string_view document, uint64_t now_ms) {
  const Properties& properties = type.properties;
  if (!properties.uses(Stamp::kAccessed)) return std::nullopt;
  const auto spans = StampSpans::Find(document, properties);
  if (!spans) return std::nullopt;
  const uint64_t last_ms = spans->Count(Stamp::kAccessed) * (properties.seconds ? 1000 : 1);
  const uint64_t step = properties.accessed_precision_ms;
  const uint64_t rounded = now_ms - now_ms % step;
  if (last_ms >= rounded) return std::nullopt;
  StampEdit edit(properties, *spans);
  edit.Set(Stamp::kAccessed, TimeText(properties, rounded));
  return edit.Apply();
}

std::string SchemaVersion(const Type& type, std::string_view document) {
  return VersionOr(type, document, "");
}

std::string VersionOr(const Type& type, std::string_view document, std::string_view unversioned) {
  if (!type.properties.uses(Stamp::kSchema)) return "";
  const auto spans = StampSpans::Find(document, type.properties);
  return spans ? spans->Text(Stamp::kSchema).value_or(std::string(unversioned)) : "";
}

std::string WithVersion(const Type& type, std::string_view document, std::string_view version) {
  const auto spans = StampSpans::Find(document, type.properties);
  CHECK(spans.has_value());
  StampEdit edit(type.properties, *spans);
  edit.Set(Stamp::kSchema, Quoted(version));
  return edit.Apply();
}

bool MeansNoVersion(std::string_view version) {
  constexpr std::string_view kNames[] = {"none", "null", "missing", "undefined", "~"};
  return std::ranges::find(kNames, version) != std::end(kNames);
}

}  // namespace sluice::doctype
