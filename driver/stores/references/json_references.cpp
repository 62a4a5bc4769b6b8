#include "driver/stores/references/json_references.h"

#include <algorithm>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/metadata/document_names.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;
using zarrcore::Json;

// As in GDAL's built-in driver, because some documents are written by hand.
constexpr auto kTrailingComma = zarrcore::TrailingComma::accepted;

// Returns true if the member of the references, or of a document of version 0, is metadata of a
// node.
bool is_zarr_document(const zarrcore::JsonMembers& member) {
  return zarrcore::is_document_name(zarrcore::last_segment(member.raw_key())) &&
         member.rest().find_first_of("\"{[") == 0;
}

// The text of a template in a document; an integer counts as its digits. `name` is for errors.
std::string template_text(const Json& value, const std::string& name) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  throw Error(name + " is " + std::string(zarrcore::describe_kind(value)) +
              " where text is expected");
}

std::int64_t as_integer(const Json& value, const std::string& name) {
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
  if (!fits) throw Error(name + " is " + zarrcore::excerpt(value) + ", not an integer of 64 bits");
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

std::uint64_t rendered_number(const std::string& text, const char* name) {
  if (const auto number = zarrcore::parse_number<std::uint64_t>(text)) return *number;
  throw Error(std::string(name) + " becomes \"" + text + "\", which is not a number of bytes");
}

}  // namespace

Generator::Generator(const Json& json)
    : key_(template_text(zarrcore::required_member(json, "key"), "\"key\"")),
      url_(template_text(zarrcore::required_member(json, "url"), "\"url\"")) {
  const Json* offset = zarrcore::find_member(json, "offset");
  const Json* length = zarrcore::find_member(json, "length");
  if ((offset == nullptr) != (length == nullptr)) {
    throw Error("one of \"offset\" and \"length\" is given without the other");
  }
  if (offset != nullptr) {
    offset_ = template_text(*offset, "\"offset\"");
    length_ = template_text(*length, "\"length\"");
  }
  const Json& dimensions = zarrcore::required_member(json, "dimensions");
  if (!dimensions.is_object()) throw Error("\"dimensions\" is not an object");
  for (const auto& [name, values] : dimensions.items()) {
    dimensions_.push_back(read_dimension(name, values));
  }
}

Generator::Dimension Generator::read_dimension(const std::string& name, const Json& json) {
  Dimension dimension;
  dimension.name = name;
  if (json.is_array()) {
    for (const Json& value : json) {
      dimension.values.push_back(value.is_string()
                                     ? TemplateValue(value.get<std::string>())
                                     : TemplateValue(as_integer(value, "dimension " + name)));
    }
    dimension.count = dimension.values.size();
  } else {
    const std::int64_t stop = as_integer(zarrcore::required_member(json, "stop"), "\"stop\"");
    dimension.start = integer_member(json, "start", 0);
    dimension.step = integer_member(json, "step", 1);
    dimension.count = range_count(dimension.start, stop, dimension.step);
  }
  return dimension;
}

std::optional<std::uint64_t> Generator::count() const {
  std::vector<std::uint64_t> counts;
  counts.reserve(dimensions_.size());
  for (const Dimension& dimension : dimensions_) counts.push_back(dimension.count);
  return zarrcore::checked_product(counts);
}

TemplateVariables Generator::variables(std::uint64_t number) const {
  TemplateVariables variables;
  // The last dimension varies fastest.
  for (auto dimension = dimensions_.rbegin(); dimension != dimensions_.rend(); ++dimension) {
    const std::uint64_t index = number % dimension->count;
    number /= dimension->count;
    // Within the range, so the sum fits 64 bits.
    variables[dimension->name] = dimension->values.empty()
                                     ? TemplateValue(static_cast<std::int64_t>(
                                           static_cast<std::uint64_t>(dimension->start) +
                                           index * static_cast<std::uint64_t>(dimension->step)))
                                     : dimension->values[index];
  }
  return variables;
}

std::string Generator::key(std::uint64_t number, const Templates& templates) const {
  return render_template(key_, templates, variables(number));
}

Reference Generator::reference(std::uint64_t number, const Templates& templates) const {
  const TemplateVariables values = variables(number);
  const auto render = [&](const std::string& text) {
    return render_template(text, templates, values);
  };
  Reference reference;
  reference.target = render(url_);
  if (reference.target.empty()) throw Error("it names no file");
  if (length_) {
    reference.offset = rendered_number(render(offset_), "the offset");
    reference.length = rendered_number(render(*length_), "the length");
  }
  return reference;
}

JsonReferences::JsonReferences(Buffer document, Version version) : document_(std::move(document)) {
  read(version);
  sort_entries();
}

void JsonReferences::read(Version version) {
  if (version == Version::zero) {
    add_entries(document_.text());
    return;
  }
  std::string_view references;
  std::string_view generators;
  bool has_references = false;
  bool has_version = false;
  for (zarrcore::JsonMembers members(document_.text(), kTrailingComma); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "version") {
      const auto number = members.value();
      if (number != "1" && number != "0") {
        throw Error("version " + std::string(number.substr(0, 20)) +
                    " of Kerchunk's format is not known");
      }
      has_version = true;
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
  if (has_version && !has_references) throw Error("\"refs\" is missing or not an object");
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
  for (const Json& generator : list) generators_.emplace_back(generator);
}

void JsonReferences::add_entries(std::string_view json) {
  for (zarrcore::JsonMembers members(json, kTrailingComma); members.next();) {
    const std::string_view raw = members.raw_key();
    const bool is_plain = raw.find('\\') == std::string_view::npos;
    entries_.push_back({is_plain ? raw : own(zarrcore::unescape_json(raw)), members.value()});
  }
}

std::string_view JsonReferences::own(std::string text) {
  return own_keys_.emplace_back(std::move(text));
}

void JsonReferences::generate_keys() {
  std::uint64_t total = 0;
  std::uint64_t bytes = 0;
  for (const Generator& generator : generators_) {
    const auto count = generator.count();
    if (!count || *count > kMaxGeneratedKeys - total) {
      throw Error("it generates more than " + std::to_string(kMaxGeneratedKeys) + " keys");
    }
    total += *count;
    for (std::uint64_t number = 0; number < *count; ++number) {
      std::string key = generator.key(number, templates_);
      bytes += key.size();
      if (bytes > kMaxGeneratedKeyBytes) {
        throw Error("it generates keys of more than " + std::to_string(kMaxGeneratedKeyBytes) +
                    " bytes");
      }
      entries_.push_back({own(std::move(key)), {}, &generator, number});
    }
  }
}

// Among entries with the same key, the last one stays.
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
  return zarrcore::with_context([] { return "its reference"; },
                                [&] {
                                  return it->generator != nullptr
                                             ? it->generator->reference(it->number, templates_)
                                             : parse(*it);
                                });
}

Reference JsonReferences::parse(const Entry& entry) const {
  constexpr std::string_view kBase64 = "base64:";
  Reference reference;
  // Some writers store the object instead of its text.
  if (entry.value.starts_with('{')) {
    const Json json = zarrcore::parse_json(entry.value);
    reference.value = Buffer::copy_of(zarrcore::dump_json(json, {.as_read = true}));
    return reference;
  }
  const Json json = zarrcore::parse_json(entry.value);
  if (const auto* text = json.get_ptr<const std::string*>()) {
    if (!text->starts_with(kBase64)) {
      reference.value = Buffer::copy_of(*text);
      return reference;
    }
    const auto bytes = zarrcore::decode_base64(std::string_view(*text).substr(kBase64.size()));
    if (!bytes) throw Error("the text after \"base64:\" is not base64");
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
    const std::uint64_t length = zarrcore::as_unsigned(json[2], "the length");
    // As in references in Parquet, where each row has both numbers.
    if (reference.offset != 0 || length != 0) reference.length = length;
  }
  return reference;
}

void JsonReferences::check() const {
  bool has_node = false;
  for_each_key([&](std::string_view key) {
    zarrcore::with_context({key}, [&] { find(key); });
    has_node = has_node || zarrcore::is_document_name(zarrcore::last_segment(key));
  });
  if (!has_node) throw Error("no reference is the metadata of a Zarr group or array");
}

std::uint64_t JsonReferences::byte_count() const {
  std::uint64_t bytes = document_.size() + entries_.size() * sizeof(Entry);
  for (const std::string& key : own_keys_) bytes += sizeof(std::string) + key.size();
  return bytes;
}

// The first entry that is not before `key`.
std::vector<JsonReferences::Entry>::const_iterator JsonReferences::lower_bound(
    std::string_view key) const {
  return std::lower_bound(
      entries_.begin(), entries_.end(), key,
      [](const Entry& entry, std::string_view wanted) { return entry.key < wanted; });
}

bool JsonReferences::has_below(std::string_view prefix) const {
  if (prefix.empty()) return !entries_.empty();
  const std::string start = std::string(prefix) + '/';
  const auto it = lower_bound(start);
  return it != entries_.end() && it->key.starts_with(start);
}

zarrcore::DirectoryListing JsonReferences::list(std::string_view prefix,
                                                std::uint64_t /*max_chunks*/) const {
  zarrcore::DirectoryListing listing = zarrcore::list_sorted(
      prefix, [this](std::string_view key) { return lower_bound(key); }, entries_.end(),
      [](const auto& entry) { return entry->key; });
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
    // The text ends early or is not JSON.
    if (is_complete || !has_version || !has_part) return false;
    return std::nullopt;
  }
}

}  // namespace gdal_zarr
