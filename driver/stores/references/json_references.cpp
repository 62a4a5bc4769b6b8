#include "driver/stores/references/json_references.h"

#include <algorithm>
#include <array>

#include "zarrcore/base/base64.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/directory_listing.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/json_members.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/metadata/members.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;
using zarrcore::Json;

// GDAL's driver accepts one in the document and its references, some of which are made by hand.
constexpr auto kTrailingComma = zarrcore::TrailingComma::accepted;

// A template, for which a number may stand that has nothing to be replaced.
std::string template_text(const Json& value, const std::string& what) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  throw Error(what + " is " + std::string(zarrcore::describe_kind(value)) +
              " where text is expected");
}

std::int64_t as_integer(const Json& value, const std::string& what) {
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
  if (!fits) throw Error(what + " is " + zarrcore::excerpt(value) + ", no integer of 64 bits");
  return value.get<std::int64_t>();
}

std::int64_t integer_member(const Json& object, const char* name, std::int64_t fallback) {
  const Json* member = zarrcore::find_member(object, name);
  return member == nullptr ? fallback : as_integer(*member, '"' + std::string(name) + '"');
}

// The number of elements of range(start, stop, step).
std::uint64_t range_count(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step == 0) throw Error("\"step\" is zero");
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const auto unsigned_of = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  const std::uint64_t distance =
      step > 0 ? unsigned_of(stop) - unsigned_of(start) : unsigned_of(start) - unsigned_of(stop);
  return zarrcore::ceil_divide(distance, step > 0 ? unsigned_of(step) : -unsigned_of(step));
}

std::uint64_t rendered_number(const std::string& text, const char* what) {
  if (const auto number = zarrcore::parse_number<std::uint64_t>(text)) return *number;
  throw Error(std::string(what) + " becomes \"" + text + "\", which is no number of bytes");
}

// Whether the member of references or of an older document is the metadata of a node.
bool is_zarr_document(const zarrcore::JsonMembers& member) {
  static constexpr std::array<std::string_view, 5> kDocuments{".zgroup", ".zarray", ".zattrs",
                                                              ".zmetadata", "zarr.json"};
  const std::string_view name = zarrcore::last_segment(member.raw_key());
  return std::find(kDocuments.begin(), kDocuments.end(), name) != kDocuments.end() &&
         member.rest().find_first_of("\"{[") == 0;
}

}  // namespace

JsonReferences::JsonReferences(Buffer document) : document_(std::move(document)) {
  std::string_view references;
  std::string_view generators;
  bool has_references = false;
  for (zarrcore::JsonMembers members(document_.text(), kTrailingComma); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "version") {
      if (const auto version = members.value(); version != "1" && version != "0") {
        throw Error("version " + std::string(version.substr(0, 20)) +
                    " of Kerchunk's format is not known");
      }
    } else if (key == "templates") {
      zarrcore::with_context("templates", [&] { read_templates(members.value()); });
    } else if (key == "gen") {
      generators = members.value();
      has_references = true;
    } else if (key == "refs" && members.rest().starts_with('{')) {
      references = members.value();
      has_references = true;
    }
  }
  if (has_references) {
    if (!references.empty()) add_entries(references);
    zarrcore::with_context("gen", [&] {
      if (!generators.empty()) read_generators(generators);
      generate_keys();
    });
  } else {
    templates_.clear();  // version 0 has none
    add_entries(document_.text());
  }
  sort_entries();
}

void JsonReferences::read_templates(std::string_view json) {
  for (zarrcore::JsonMembers members(json, kTrailingComma); members.next();) {
    const Json text = zarrcore::parse_json(members.value());
    const std::string name = zarrcore::unescape_json(members.raw_key());
    templates_.insert_or_assign(name, template_text(text, name));
  }
}

void JsonReferences::read_generators(std::string_view json) {
  const Json list = zarrcore::parse_json(json);
  if (!list.is_array()) throw Error("this is not a list");
  for (const Json& generator : list) generators_.push_back(read_generator(generator));
}

JsonReferences::Generator JsonReferences::read_generator(const Json& json) {
  Generator generator;
  generator.key = template_text(zarrcore::required_member(json, "key"), "\"key\"");
  generator.url = template_text(zarrcore::required_member(json, "url"), "\"url\"");
  const Json* offset = zarrcore::find_member(json, "offset");
  const Json* length = zarrcore::find_member(json, "length");
  if ((offset == nullptr) != (length == nullptr)) {
    throw Error("one of \"offset\" and \"length\" is there without the other");
  }
  if (offset != nullptr) {
    generator.offset = template_text(*offset, "\"offset\"");
    generator.length = template_text(*length, "\"length\"");
  }
  const Json& dimensions = zarrcore::required_member(json, "dimensions");
  if (!dimensions.is_object()) throw Error("\"dimensions\" is not an object");
  for (const auto& [name, values] : dimensions.items()) {
    Dimension dimension;
    dimension.name = name;
    if (values.is_array()) {
      for (const Json& value : values) {
        dimension.values.push_back(value.is_string()
                                       ? TemplateValue(value.get<std::string>())
                                       : TemplateValue(as_integer(value, "dimension " + name)));
      }
      dimension.count = dimension.values.size();
    } else {
      const std::int64_t stop = as_integer(zarrcore::required_member(values, "stop"), "\"stop\"");
      dimension.start = integer_member(values, "start", 0);
      dimension.step = integer_member(values, "step", 1);
      dimension.count = range_count(dimension.start, stop, dimension.step);
    }
    generator.dimensions.push_back(std::move(dimension));
  }
  return generator;
}

void JsonReferences::add_entries(std::string_view json) {
  for (zarrcore::JsonMembers members(json, kTrailingComma); members.next();) {
    const std::string_view raw = members.raw_key();
    const bool is_plain = raw.find('\\') == std::string_view::npos;
    entries_.push_back({is_plain ? raw : keep(zarrcore::unescape_json(raw)), members.value()});
  }
}

std::string_view JsonReferences::keep(std::string text) {
  return kept_keys_.emplace_back(std::move(text));
}

TemplateVariables JsonReferences::Generator::variables(std::uint64_t ordinal) const {
  TemplateVariables variables;
  // The last dimension runs fastest.
  for (auto dimension = dimensions.rbegin(); dimension != dimensions.rend(); ++dimension) {
    const std::uint64_t index = ordinal % dimension->count;
    ordinal /= dimension->count;
    // Inside the range, so no step leaves 64 bits.
    variables[dimension->name] = dimension->values.empty()
                                     ? TemplateValue(static_cast<std::int64_t>(
                                           static_cast<std::uint64_t>(dimension->start) +
                                           index * static_cast<std::uint64_t>(dimension->step)))
                                     : dimension->values[index];
  }
  return variables;
}

void JsonReferences::generate_keys() {
  std::uint64_t total = 0;
  std::uint64_t bytes = 0;
  for (const Generator& generator : generators_) {
    std::vector<std::uint64_t> counts;
    for (const Dimension& dimension : generator.dimensions) counts.push_back(dimension.count);
    const auto count = zarrcore::checked_product(counts);
    if (!count || *count > kMaxGeneratedKeys - total) {
      throw Error("more than " + std::to_string(kMaxGeneratedKeys) + " keys come out of it");
    }
    total += *count;
    for (std::uint64_t ordinal = 0; ordinal < *count; ++ordinal) {
      std::string key = render_template(generator.key, templates_, generator.variables(ordinal));
      bytes += key.size();
      if (bytes > kMaxGeneratedKeyBytes) {
        throw Error("keys of more than " + std::to_string(kMaxGeneratedKeyBytes) +
                    " bytes come out of it");
      }
      entries_.push_back({keep(std::move(key)), {}, &generator, ordinal});
    }
  }
}

// Of entries with the same key the last one stays.
void JsonReferences::sort_entries() {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.key < b.key; });
  const auto first = std::unique(entries_.rbegin(), entries_.rend(),
                                 [](const Entry& a, const Entry& b) { return a.key == b.key; });
  entries_.erase(entries_.begin(), first.base());
}

std::optional<Reference> JsonReferences::find(std::string_view key) const {
  const auto it = lower_bound(key);
  if (it == entries_.end() || it->key != key) return std::nullopt;
  return zarrcore::with_context("its reference",
                                [&] { return it->generator ? generate(*it) : parse(*it); });
}

Reference JsonReferences::parse(const Entry& entry) const {
  constexpr std::string_view kBase64 = "base64:";
  Reference reference;
  // Some writers put the object where its text should stand.
  if (entry.value.starts_with('{')) {
    reference.value = Buffer::copy_of(entry.value);
    return reference;
  }
  const Json json = zarrcore::parse_json(entry.value);
  if (const auto* text = json.get_ptr<const std::string*>()) {
    if (!text->starts_with(kBase64)) {
      reference.value = Buffer::copy_of(*text);
      return reference;
    }
    const auto bytes = zarrcore::decode_base64(std::string_view(*text).substr(kBase64.size()));
    if (!bytes) throw Error("what follows \"base64:\" is not base64");
    reference.value = Buffer::copy_of(*bytes);
    return reference;
  }
  const bool has_form =
      json.is_array() && (json.size() == 1 || json.size() == 3) && json[0].is_string();
  if (!has_form) {
    throw Error(zarrcore::excerpt(json) + " is neither text nor [url] nor [url, offset, length]");
  }
  reference.target = json[0].get<std::string>();
  if (!templates_.empty()) reference.target = render_template(reference.target, templates_, {});
  if (reference.target.empty()) throw Error("it names no file");
  if (json.size() == 3) {
    reference.offset = zarrcore::as_unsigned(json[1], "the offset");
    reference.length = zarrcore::as_unsigned(json[2], "the length");
  }
  return reference;
}

Reference JsonReferences::generate(const Entry& entry) const {
  const Generator& generator = *entry.generator;
  const TemplateVariables variables = generator.variables(entry.ordinal);
  const auto render = [&](const std::string& text) {
    return render_template(text, templates_, variables);
  };
  Reference reference;
  reference.target = render(generator.url);
  if (reference.target.empty()) throw Error("it names no file");
  if (generator.length) {
    reference.offset = rendered_number(render(generator.offset), "the offset");
    reference.length = rendered_number(render(*generator.length), "the length");
  }
  return reference;
}

// The first entry that is not before `key`.
std::vector<JsonReferences::Entry>::const_iterator JsonReferences::lower_bound(
    std::string_view key) const {
  return std::lower_bound(
      entries_.begin(), entries_.end(), key,
      [](const Entry& entry, std::string_view wanted) { return entry.key < wanted; });
}

zarrcore::DirectoryListing JsonReferences::list(std::string_view prefix) const {
  zarrcore::DirectoryListing listing = zarrcore::list_sorted(
      prefix, [this](std::string_view key) { return lower_bound(key); }, entries_.end(),
      [](const Entry& entry) { return entry.key; });
  const auto is_invalid = [](const std::string& name) { return !zarrcore::is_valid_segment(name); };
  std::erase_if(listing.keys, is_invalid);
  std::erase_if(listing.prefixes, is_invalid);
  return listing;
}

std::optional<bool> is_reference_document(std::string_view text, bool is_complete) {
  bool has_version = false;
  bool has_part = false;
  try {
    for (zarrcore::JsonMembers members(text, kTrailingComma); members.next();) {
      const std::string_view key = members.raw_key();
      if (is_zarr_document(members)) return true;
      if (key == "version") has_version = members.value() == "1";
      if (key == "templates" || key == "gen") has_part = true;
      if (key == "refs" && members.rest().starts_with('{')) {
        has_part = true;
        for (zarrcore::JsonMembers references(members.rest(), kTrailingComma); references.next();) {
          if (is_zarr_document(references)) return true;
        }
      }
    }
    return false;
  } catch (const Error&) {
    // The text ended, or goes wrong.
    if (is_complete || !has_version || !has_part) return false;
    return std::nullopt;
  }
}

}  // namespace gdal_zarr
