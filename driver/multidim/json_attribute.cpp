#include "driver/multidim/json_attribute.h"

#include <cpl_conv.h>

#include <cstring>
#include <utility>

#include "driver/gdal/error_guard.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;

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

}  // namespace

JsonAttribute::JsonAttribute(const std::string& owner_name, const std::string& name,
                             const GDALExtendedDataType& type, std::vector<std::byte> elements,
                             std::vector<std::string> texts, bool is_list,
                             std::shared_ptr<AttributeOwner> owner)
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

#if GDAL_ZARR_AT_LEAST(3, 8)
bool JsonAttribute::Rename(const std::string& name) {
  return guarded(false, [&] {
    check_is_writable();
    const std::string old_name = GetName();  // which changes meanwhile
    owner_->rename_attribute(old_name, name);
    return true;
  });
}
#endif

Json JsonAttribute::json() const {
  const auto element = [this](std::size_t i) -> Json {
    if (!is_text()) {
      return number_json(elements_.data() + i * type_.GetSize(), type_.GetNumericDataType());
    }
    if (type_.GetSubType() != GEDTST_JSON) return texts_[i];
    return texts_[i].empty() ? Json(nullptr) : zarrcore::parse_json(texts_[i]);
  };
  if (dimensions_.empty()) return element(0);
  Json list = Json::array();
  for (std::size_t i = 0; i < dimensions_[0]->GetSize(); ++i) list.push_back(element(i));
  return list;
}

bool JsonAttribute::shows(const Json& value) const {
  try {
    return json() == value;
  } catch (const Error&) {
    return false;
  }
}

#if GDAL_ZARR_AT_LEAST(3, 8)
void JsonAttribute::set_name(const std::string& name) {
  BaseRename(name);
}

void JsonAttribute::set_owner_name(const std::string& owner_name) {
  ParentRenamed(owner_name);
}
#else
// Nothing can be renamed.
void JsonAttribute::set_name(const std::string& /*name*/) {}
void JsonAttribute::set_owner_name(const std::string& /*owner_name*/) {}
#endif

void JsonAttribute::check_exists() const {
  if (is_deleted_) throw Error("attribute " + GetFullName() + " has been deleted");
}

void JsonAttribute::check_is_writable() const {
  check_exists();
  if (!owner_) {
    throw Error("attribute " + GetFullName() + " cannot be changed: the store is read-only");
  }
}

std::size_t JsonAttribute::position(const GUInt64* start, const GInt64* step, std::size_t i) const {
  if (dimensions_.empty()) return 0;
  return static_cast<std::size_t>(static_cast<GInt64>(start[0]) + static_cast<GInt64>(i) * step[0]);
}

bool JsonAttribute::IRead(const GUInt64* start, const size_t* count, const GInt64* step,
                          const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                          void* buffer) const {
  return guarded(false, [&] {
    check_exists();
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

bool JsonAttribute::IWrite(const GUInt64* start, const size_t* count, const GInt64* step,
                           const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                           const void* buffer) {
  return guarded(false, [&] {
    check_is_writable();
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

void JsonAttribute::set_element(std::size_t i, const void* source,
                                const GDALExtendedDataType& source_type) {
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

}  // namespace gdal_zarr
