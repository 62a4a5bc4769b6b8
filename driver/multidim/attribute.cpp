#include "driver/multidim/attribute.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "driver/error_guard.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;

bool is_all(const Json& list, bool (*test)(const Json&)) {
  return list.is_array() && !list.empty() && std::all_of(list.begin(), list.end(), test);
}

bool is_text(const Json& value) {
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

class JsonAttribute final : public GDALAttribute {
 public:
  JsonAttribute(const std::string& owner, const std::string& name, const GDALExtendedDataType& type,
                std::vector<std::byte> elements, std::vector<std::string> texts, bool is_list)
      : GDALAbstractMDArray(owner, name),
        GDALAttribute(owner, name),
        type_(type),
        texts_(std::move(texts)),
        elements_(texts_.empty() ? std::move(elements) : pointer_bytes(texts_)) {
    if (is_list) {
      dimensions_.push_back(std::make_shared<GDALDimension>(
          std::string(), "dim0", std::string(), std::string(), elements_.size() / type_.GetSize()));
    }
  }

  const std::vector<std::shared_ptr<GDALDimension>>& GetDimensions() const override {
    return dimensions_;
  }
  const GDALExtendedDataType& GetDataType() const override { return type_; }

 protected:
  bool IRead(const GUInt64* start, const size_t* count, const GInt64* step,
             const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
             void* buffer) const override {
    const bool is_list = !dimensions_.empty();
    const std::size_t elements = is_list ? count[0] : 1;
    auto* destination = static_cast<GByte*>(buffer);
    for (std::size_t i = 0; i < elements; ++i) {
      const std::int64_t index =
          is_list ? static_cast<std::int64_t>(start[0]) + static_cast<std::int64_t>(i) * step[0]
                  : 0;
      const std::byte* source =
          elements_.data() + index * static_cast<std::int64_t>(type_.GetSize());
      if (!GDALExtendedDataType::CopyValue(source, type_, destination, buffer_type)) return false;
      if (is_list) {
        destination += stride[0] * static_cast<GPtrDiff_t>(buffer_type.GetSize());
      }
    }
    return true;
  }

 private:
  GDALExtendedDataType type_;
  std::vector<std::string> texts_;
  std::vector<std::byte> elements_;
  std::vector<std::shared_ptr<GDALDimension>> dimensions_;
};

std::shared_ptr<GDALAttribute> make_text(const std::string& owner, const std::string& name,
                                         std::vector<std::string> texts, bool is_list,
                                         GDALExtendedDataTypeSubType subtype) {
  return std::make_shared<JsonAttribute>(owner, name,
                                         GDALExtendedDataType::CreateString(0, subtype),
                                         std::vector<std::byte>(), std::move(texts), is_list);
}

std::shared_ptr<GDALAttribute> make_numbers(const std::string& owner, const std::string& name,
                                            const Json& numbers, GDALDataType type, bool is_list) {
  return std::make_shared<JsonAttribute>(owner, name, GDALExtendedDataType::Create(type),
                                         number_bytes(numbers, type), std::vector<std::string>(),
                                         is_list);
}

std::string number_text(const Json& number) {
  return zarrcore::dump_json(number);
}

}  // namespace

std::shared_ptr<GDALAttribute> make_attribute(const std::string& owner, const std::string& name,
                                              const Json& value) {
  if (value.is_string())
    return make_text(owner, name, {value.get<std::string>()}, false, GEDTST_NONE);
  if (value.is_boolean()) return make_numbers(owner, name, Json::array({value}), GDT_Byte, false);
  if (value.is_number()) {
    const Json numbers = Json::array({value});
    return make_numbers(owner, name, numbers, common_type(numbers), false);
  }
  if (is_all(value, is_text)) {
    return make_text(owner, name, value.get<std::vector<std::string>>(), true, GEDTST_NONE);
  }
  if (is_all(value, is_number)) {
    return make_numbers(owner, name, value, common_type(value), true);
  }
  return make_text(owner, name, {zarrcore::dump_json(value)}, false, GEDTST_JSON);
}

std::vector<std::shared_ptr<GDALAttribute>> make_attributes(const std::string& owner,
                                                            const Json& attributes) {
  std::vector<std::shared_ptr<GDALAttribute>> all;
  for (const auto& [name, value] : attributes.items()) {
    all.push_back(make_attribute(owner, name, value));
  }
  return all;
}

std::shared_ptr<GDALAttribute> find_attribute(const std::string& owner, const Json& attributes,
                                              const std::string& name) {
  const Json* value = zarrcore::find_member(attributes, name);
  return value == nullptr ? nullptr : make_attribute(owner, name, *value);
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
