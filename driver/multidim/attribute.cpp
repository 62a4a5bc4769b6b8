#include "driver/multidim/attribute.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "driver/multidim/json_attribute.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;

// More would make a document too large to be read.
constexpr std::uint64_t kMaxElements = 10'000'000;

bool is_all(const Json& list, bool (*test)(const Json&)) {
  return list.is_array() && !list.empty() && std::all_of(list.begin(), list.end(), test);
}

bool is_string(const Json& value) {
  return value.is_string();
}
bool is_json_number(const Json& value) {
  return value.is_number();
}

// The narrowest of the types above that holds every number of a list.
GDALDataType common_type(const Json& numbers) {
  bool fits_int32 = true;
  bool has_negative = false;
  bool needs_uint64 = false;
  for (const Json& number : numbers) {
    if (number.is_number_float()) return GDT_Float64;
    if (number.is_number_unsigned()) {
      const auto value = number.get<std::uint64_t>();
      fits_int32 = fits_int32 && value <= std::numeric_limits<std::int32_t>::max();
      needs_uint64 = needs_uint64 || value > std::numeric_limits<std::int64_t>::max();
    } else {
      const auto value = number.get<std::int64_t>();
      fits_int32 = fits_int32 && value >= std::numeric_limits<std::int32_t>::min() &&
                   value <= std::numeric_limits<std::int32_t>::max();
      has_negative = has_negative || value < 0;
    }
  }
  if (fits_int32) return GDT_Int32;
  if (!needs_uint64) return GDT_Int64;
  return has_negative ? GDT_Float64 : GDT_UInt64;
}

template <typename Number>
void append(const Json& number, std::vector<std::byte>& bytes) {
  const auto value = number.get<Number>();
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(Number));
}

std::vector<std::byte> number_bytes(const Json& numbers, GDALDataType type) {
  std::vector<std::byte> bytes;
  for (const Json& number : numbers) {
    switch (type) {
      case GDT_Int32:
        append<std::int32_t>(number, bytes);
        break;
      case GDT_Int64:
        append<std::int64_t>(number, bytes);
        break;
      case GDT_UInt64:
        append<std::uint64_t>(number, bytes);
        break;
      default:
        append<double>(number, bytes);
    }
  }
  return bytes;
}

// The name and owner of an attribute of any kind.
struct Identity {
  const std::string& owner_name;
  const std::string& name;
  std::shared_ptr<AttributeOwner> owner;
};

// The shape of an attribute of `count` elements that is no list if it is a scalar.
std::vector<GUInt64> shape_of(bool is_list, std::size_t count) {
  return is_list ? std::vector<GUInt64>{count} : std::vector<GUInt64>();
}

std::shared_ptr<JsonAttribute> make_text(const Identity& identity, std::vector<std::string> texts,
                                         bool is_list, GDALExtendedDataTypeSubType subtype) {
  const auto shape = shape_of(is_list, texts.size());
  return std::make_shared<JsonAttribute>(
      identity.owner_name, identity.name, GDALExtendedDataType::CreateString(0, subtype),
      std::vector<std::byte>(), std::move(texts), shape, identity.owner);
}

std::shared_ptr<JsonAttribute> make_numbers(const Identity& identity, const Json& numbers,
                                            GDALDataType type, bool is_list) {
  return std::make_shared<JsonAttribute>(identity.owner_name, identity.name,
                                         GDALExtendedDataType::Create(type),
                                         number_bytes(numbers, type), std::vector<std::string>(),
                                         shape_of(is_list, numbers.size()), identity.owner);
}

std::string number_text(const Json& number) {
  return zarrcore::dump_json(number);
}

// Numbers stay as they are in the document, and so in copies.
std::string json_text(const Json& value) {
  return zarrcore::dump_json(value, {.as_read = true});
}

std::shared_ptr<JsonAttribute> make_of_kind(const Identity& identity, const Json& value) {
  if (value.is_string()) {
    return make_text(identity, {value.get<std::string>()}, false, GEDTST_NONE);
  }
  if (value.is_null()) return make_text(identity, {""}, false, GEDTST_JSON);
  if (value.is_number()) {
    const Json numbers = Json::array({value});
    return make_numbers(identity, numbers, common_type(numbers), false);
  }
  if (is_all(value, is_string)) {
    return make_text(identity, value.get<std::vector<std::string>>(), true, GEDTST_NONE);
  }
  if (is_all(value, is_json_number)) return make_numbers(identity, value, common_type(value), true);
  return make_text(identity, {json_text(value)}, false, GEDTST_JSON);
}

bool has_text_members(const GDALExtendedDataType& type) {
  if (type.GetClass() != GEDTC_COMPOUND) return false;
  const auto& members = type.GetComponents();
  return std::any_of(members.begin(), members.end(), [](const auto& member) {
    return member->GetType().GetClass() == GEDTC_STRING || has_text_members(member->GetType());
  });
}

}  // namespace

std::shared_ptr<GDALAttribute> make_attribute(const std::string& owner_name,
                                              const std::string& name, const Json& value,
                                              const std::shared_ptr<AttributeOwner>& owner) {
  if (!owner) return make_of_kind({owner_name, name, nullptr}, value);
  if (auto live = owner->live_attributes().find(name, value)) return live;
  auto attribute = make_of_kind({owner_name, name, owner}, value);
  owner->live_attributes().add(attribute);
  return attribute;
}

std::shared_ptr<GDALAttribute> create_attribute(const std::string& owner_name,
                                                const Json& attributes, const std::string& name,
                                                const std::vector<GUInt64>& dimensions,
                                                const GDALExtendedDataType& type,
                                                const std::shared_ptr<AttributeOwner>& owner) {
  if (!owner) {
    throw Error("attribute \"" + name + "\" of " + owner_name +
                " cannot be created: the store was opened for reading only");
  }
  if (attributes.contains(name)) {
    throw Error("attribute \"" + name + "\" of " + owner_name + " already exists");
  }
  if (name.empty() || has_text_members(type)) {
    throw Error("attribute \"" + name + "\" of " + owner_name + " cannot be created: " +
                (name.empty() ? "it needs a name" : "structures with strings are not supported"));
  }
  std::uint64_t count = 1;  // an empty list counts as one value
  for (std::size_t i = 0; i < dimensions.size() && count <= kMaxElements; ++i) {
    const GUInt64 length = std::max(dimensions[i], GUInt64{1});
    count = length > kMaxElements ? length : count * length;
  }
  if (count > kMaxElements) {
    throw Error("attribute \"" + name + "\" of " + owner_name + " would have " +
                std::to_string(count) + " values, too many for JSON");
  }
  std::vector<std::byte> elements;
  std::vector<std::string> texts;
  if (type.GetClass() == GEDTC_STRING) {
    texts.assign(count, "");
  } else {
    elements.assign(count * type.GetSize(), std::byte{0});
  }
  const auto attribute = std::make_shared<JsonAttribute>(
      owner_name, name, type, std::move(elements), std::move(texts), dimensions, owner);
  owner->set_attribute(name, attribute->json());
  owner->live_attributes().add(attribute);
  return attribute;
}

Json with_renamed_attribute(const Json& attributes, const std::string& name,
                            const std::string& new_name) {
  if (!attributes.contains(name)) throw Error("attribute \"" + name + "\" does not exist");
  if (new_name.empty() || attributes.contains(new_name)) {
    throw Error("attribute \"" + name + "\" cannot be renamed to \"" + new_name +
                (new_name.empty() ? "\"" : "\", which already exists"));
  }
  Json renamed = Json::object();
  for (const auto& [key, value] : attributes.items()) {
    zarrcore::copy_member(attributes, key, renamed, key == name ? new_name : std::string(key));
  }
  return renamed;
}

std::vector<std::shared_ptr<GDALAttribute>> make_attributes(
    const std::string& owner_name, const Json& attributes,
    const std::shared_ptr<AttributeOwner>& owner) {
  std::vector<std::shared_ptr<GDALAttribute>> all;
  for (const auto& [name, value] : attributes.items()) {
    all.push_back(make_attribute(owner_name, name, value, owner));
  }
  return all;
}

std::shared_ptr<GDALAttribute> find_attribute(const std::string& owner_name, const Json& attributes,
                                              const std::string& name,
                                              const std::shared_ptr<AttributeOwner>& owner) {
  const Json* value = zarrcore::find_member(attributes, name);
  return value == nullptr ? nullptr : make_attribute(owner_name, name, *value, owner);
}

std::string attribute_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!is_all(value, is_json_number)) return json_text(value);
  std::string text = "{";
  for (const Json& number : value) {
    if (text.size() > 1) text += ',';
    text += number_text(number);
  }
  return text + '}';
}

// Made at once: GDAL moves half of its list for each item that is added.
CPLStringList attribute_items(const Json& attributes) {
  using Item = std::pair<std::string, std::string>;  // a name in lower case, NAME=text
  std::vector<Item> items;
  for (const auto& [name, value] : attributes.items()) {
    const std::string shown = name.substr(0, name.find('\0'));
    items.emplace_back(zarrcore::lower_case(shown), shown + '=' + attribute_text(value));
  }
  std::ranges::stable_sort(items, {}, &Item::first);
  CPLStringList list;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i + 1 < items.size() && items[i].first == items[i + 1].first) continue;
    list.AddString(items[i].second.c_str());
  }
  return list;
}

}  // namespace gdal_zarr
