#include "driver/multidim/attribute.h"

#include <cpl_conv.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "driver/gdal/error_guard.h"
#include "zarrcore/base/error.h"

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
bool is_number(const Json& value) {
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
      case GDT_Byte:
        append<bool>(number, bytes);
        break;
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

// Elements of a string type are pointers to their text.
std::vector<std::byte> pointer_bytes(const std::vector<std::string>& texts) {
  std::vector<std::byte> bytes(texts.size() * sizeof(const char*));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const char* text = texts[i].c_str();
    std::memcpy(bytes.data() + i * sizeof(text), &text, sizeof(text));
  }
  return bytes;
}

// A number as JSON: integers in full, all others as float64.
Json number_json(const std::byte* element, GDALDataType type) {
  if (GDALDataTypeIsInteger(type) == 0) {
    double value = 0;
    GDALCopyWords(element, type, 0, &value, GDT_Float64, 0, 1);
    return value;
  }
  if (GDALDataTypeIsSigned(type) == 0) {
    std::uint64_t value = 0;
    GDALCopyWords(element, type, 0, &value, GDT_UInt64, 0, 1);
    return value;
  }
  std::int64_t value = 0;
  GDALCopyWords(element, type, 0, &value, GDT_Int64, 0, 1);
  return value;
}

class JsonAttribute final : public GDALAttribute {
 public:
  JsonAttribute(const std::string& owner_name, const std::string& name,
                const GDALExtendedDataType& type, std::vector<std::byte> elements,
                std::vector<std::string> texts, bool is_list, std::shared_ptr<AttributeOwner> owner)
      : GDALAbstractMDArray(owner_name, name),
        GDALAttribute(owner_name, name),
        type_(type),
        texts_(std::move(texts)),
        elements_(is_text() ? pointer_bytes(texts_) : std::move(elements)),
        owner_(std::move(owner)) {
    if (is_list) {
      dimensions_.push_back(std::make_shared<GDALDimension>(
          std::string(), "dim0", std::string(), std::string(), elements_.size() / type_.GetSize()));
    }
  }

  const std::vector<std::shared_ptr<GDALDimension>>& GetDimensions() const override {
    return dimensions_;
  }
  const GDALExtendedDataType& GetDataType() const override { return type_; }
#if GDAL_ZARR_AT_LEAST(3, 8)
  bool Rename(const std::string& name) override {
    return guarded(false, [&] {
      check_owner();
      owner_->rename_attribute(GetName(), name);
      BaseRename(name);
      return true;
    });
  }
#endif

  Json json() const {
    const auto element = [this](std::size_t i) -> Json {
      if (!is_text()) return number_json(elements_.data() + i * type_.GetSize(), numeric_type());
      return type_.GetSubType() == GEDTST_JSON ? zarrcore::parse_json(texts_[i]) : Json(texts_[i]);
    };
    if (dimensions_.empty()) return element(0);
    Json list = Json::array();
    for (std::size_t i = 0; i < dimensions_[0]->GetSize(); ++i) list.push_back(element(i));
    return list;
  }

 protected:
  bool IRead(const GUInt64* start, const size_t* count, const GInt64* step,
             const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
             void* buffer) const override {
    return guarded(false, [&] {
      const std::size_t elements = dimensions_.empty() ? 1 : count[0];
      auto* destination = static_cast<GByte*>(buffer);
      for (std::size_t i = 0; i < elements; ++i) {
        const std::byte* source = elements_.data() + position(start, step, i) * type_.GetSize();
        if (!GDALExtendedDataType::CopyValue(source, type_, destination, buffer_type)) return false;
        if (!dimensions_.empty()) {
          destination += stride[0] * static_cast<GPtrDiff_t>(buffer_type.GetSize());
        }
      }
      return true;
    });
  }

  bool IWrite(const GUInt64* start, const size_t* count, const GInt64* step,
              const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
              const void* buffer) override {
    return guarded(false, [&] {
      check_owner();
      const std::size_t elements = dimensions_.empty() ? 1 : count[0];
      const auto* source = static_cast<const GByte*>(buffer);
      for (std::size_t i = 0; i < elements; ++i) {
        set_element(position(start, step, i), source, buffer_type);
        if (!dimensions_.empty()) {
          source += stride[0] * static_cast<GPtrDiff_t>(buffer_type.GetSize());
        }
      }
      if (is_text()) elements_ = pointer_bytes(texts_);
      owner_->set_attribute(GetName(), json());
      return true;
    });
  }

 private:
  bool is_text() const { return type_.GetClass() == GEDTC_STRING; }
  GDALDataType numeric_type() const { return type_.GetNumericDataType(); }

  std::size_t position(const GUInt64* start, const GInt64* step, std::size_t i) const {
    if (dimensions_.empty()) return 0;
    return static_cast<std::size_t>(static_cast<GInt64>(start[0]) +
                                    static_cast<GInt64>(i) * step[0]);
  }

  void check_owner() const {
    if (!owner_) {
      throw Error("attribute " + GetFullName() + " cannot be changed: the store is read-only");
    }
  }

  void set_element(std::size_t i, const void* source, const GDALExtendedDataType& source_type) {
    if (!is_text()) {
      if (!GDALExtendedDataType::CopyValue(source, source_type,
                                           elements_.data() + i * type_.GetSize(), type_)) {
        throw Error("attribute " + GetFullName() + " cannot hold a value of this type");
      }
      return;
    }
    char* text = nullptr;
    if (!GDALExtendedDataType::CopyValue(source, source_type, &text,
                                         GDALExtendedDataType::CreateString())) {
      throw Error("attribute " + GetFullName() + " cannot hold a value of this type");
    }
    texts_[i] = text != nullptr ? text : "";
    CPLFree(text);
  }

  GDALExtendedDataType type_;
  std::vector<std::string> texts_;
  std::vector<std::byte> elements_;
  std::vector<std::shared_ptr<GDALDimension>> dimensions_;
  std::shared_ptr<AttributeOwner> owner_;
};

// The name and owner of an attribute of any kind.
struct Identity {
  const std::string& owner_name;
  const std::string& name;
  std::shared_ptr<AttributeOwner> owner;
};

std::shared_ptr<GDALAttribute> make_text(const Identity& identity, std::vector<std::string> texts,
                                         bool is_list, GDALExtendedDataTypeSubType subtype) {
  return std::make_shared<JsonAttribute>(
      identity.owner_name, identity.name, GDALExtendedDataType::CreateString(0, subtype),
      std::vector<std::byte>(), std::move(texts), is_list, identity.owner);
}

std::shared_ptr<GDALAttribute> make_numbers(const Identity& identity, const Json& numbers,
                                            GDALDataType type, bool is_list) {
  return std::make_shared<JsonAttribute>(
      identity.owner_name, identity.name, GDALExtendedDataType::Create(type),
      number_bytes(numbers, type), std::vector<std::string>(), is_list, identity.owner);
}

std::string number_text(const Json& number) {
  return zarrcore::dump_json(number);
}

}  // namespace

std::shared_ptr<GDALAttribute> make_attribute(const std::string& owner_name,
                                              const std::string& name, const Json& value,
                                              std::shared_ptr<AttributeOwner> owner) {
  const Identity identity{owner_name, name, std::move(owner)};
  if (value.is_string()) {
    return make_text(identity, {value.get<std::string>()}, false, GEDTST_NONE);
  }
  if (value.is_boolean()) return make_numbers(identity, Json::array({value}), GDT_Byte, false);
  if (value.is_number()) {
    const Json numbers = Json::array({value});
    return make_numbers(identity, numbers, common_type(numbers), false);
  }
  if (is_all(value, is_string)) {
    return make_text(identity, value.get<std::vector<std::string>>(), true, GEDTST_NONE);
  }
  if (is_all(value, is_number)) return make_numbers(identity, value, common_type(value), true);
  return make_text(identity, {zarrcore::dump_json(value)}, false, GEDTST_JSON);
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
  const bool is_complex =
      type.GetClass() == GEDTC_NUMERIC && GDALDataTypeIsComplex(type.GetNumericDataType()) != 0;
  if (name.empty() || dimensions.size() > 1 || type.GetClass() == GEDTC_COMPOUND || is_complex) {
    throw Error("attribute \"" + name + "\" of " + owner_name +
                " cannot be created: it needs a name, at most one dimension, and strings or real "
                "numbers");
  }
  const std::uint64_t count = dimensions.empty() ? 1 : dimensions[0];
  if (count > kMaxElements) {
    throw Error("attribute \"" + name + "\" of " + owner_name + " would have " +
                std::to_string(count) + " values, too many for JSON");
  }
  std::vector<std::byte> elements;
  std::vector<std::string> texts;
  if (type.GetClass() == GEDTC_STRING) {
    texts.assign(count, type.GetSubType() == GEDTST_JSON ? "null" : "");
  } else {
    elements.assign(count * type.GetSize(), std::byte{0});
  }
  const auto attribute = std::make_shared<JsonAttribute>(
      owner_name, name, type, std::move(elements), std::move(texts), !dimensions.empty(), owner);
  owner->set_attribute(name, attribute->json());
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
    renamed[key == name ? new_name : std::string(key)] = value;
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
                                              std::shared_ptr<AttributeOwner> owner) {
  const Json* value = zarrcore::find_member(attributes, name);
  return value == nullptr ? nullptr : make_attribute(owner_name, name, *value, std::move(owner));
}

std::string attribute_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!is_all(value, is_number)) return zarrcore::dump_json(value);
  std::string text = "{";
  for (const Json& number : value) {
    if (text.size() > 1) text += ',';
    text += number_text(number);
  }
  return text + '}';
}

}  // namespace gdal_zarr
