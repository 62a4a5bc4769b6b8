#include "driver/multidim/json_attribute.h"

#include <cpl_conv.h>

#include <cstring>
#include <utility>

#include "driver/gdal/error_guard.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/strided.h"

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

template <typename Number>
Json number_json(const std::byte* element, GDALDataType type, GDALDataType json_type) {
  Number value = 0;
  GDALCopyWords(element, type, 0, &value, json_type, 0, 1);
  return value;
}

// A number as JSON: integers in full, all others as float64, complex ones as [real, imaginary].
Json number_json(const std::byte* element, GDALDataType type) {
  if (GDALDataTypeIsComplex(type) != 0) {
    double parts[2] = {};
    GDALCopyWords(element, type, 0, parts, GDT_CFloat64, 0, 1);
    return Json::array({parts[0], parts[1]});
  }
  if (GDALDataTypeIsInteger(type) == 0) return number_json<double>(element, type, GDT_Float64);
  return GDALDataTypeIsSigned(type) == 0 ? number_json<std::uint64_t>(element, type, GDT_UInt64)
                                         : number_json<std::int64_t>(element, type, GDT_Int64);
}

// Structures as objects. No member is a string.
Json value_json(const std::byte* element, const GDALExtendedDataType& type) {
  if (type.GetClass() != GEDTC_COMPOUND) return number_json(element, type.GetNumericDataType());
  Json members = Json::object();
  for (const auto& member : type.GetComponents()) {
    members[member->GetName()] = value_json(element + member->GetOffset(), member->GetType());
  }
  return members;
}

}  // namespace

JsonAttribute::JsonAttribute(const std::string& owner_name, const std::string& name,
                             const GDALExtendedDataType& type, std::vector<std::byte> elements,
                             std::vector<std::string> texts, const std::vector<GUInt64>& shape,
                             std::shared_ptr<AttributeOwner> owner)
    : GDALAbstractMDArray(owner_name, name),
      GDALAttribute(owner_name, name),
      type_(type),
      texts_(std::move(texts)),
      elements_(is_text() ? pointer_bytes(texts_) : std::move(elements)),
      owner_(std::move(owner)) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    dimensions_.push_back(std::make_shared<GDALDimension>(std::string(), "dim" + std::to_string(i),
                                                          std::string(), std::string(), shape[i]));
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

Json JsonAttribute::element_json(std::size_t i) const {
  if (!is_text()) return value_json(elements_.data() + i * type_.GetSize(), type_);
  if (type_.GetSubType() != GEDTST_JSON) return texts_[i];
  return texts_[i].empty() ? Json(nullptr) : zarrcore::parse_json(texts_[i]);
}

Json JsonAttribute::json() const {
  std::size_t next = 0;
  const auto lists = [&](const auto& self, std::size_t dimension) -> Json {
    if (dimension == dimensions_.size()) return element_json(next++);
    Json list = Json::array();
    for (GUInt64 i = 0; i < dimensions_[dimension]->GetSize(); ++i) {
      list.push_back(self(self, dimension + 1));
    }
    return list;
  };
  return lists(lists, 0);
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

template <typename Visit>
bool JsonAttribute::visit_elements(const GUInt64* start, const size_t* count, const GInt64* step,
                                   const GPtrDiff_t* stride, const Visit& visit) const {
  const std::size_t rank = dimensions_.size();
  std::vector<GPtrDiff_t> steps(rank);  // in elements
  GPtrDiff_t element = 0;
  GPtrDiff_t size = 1;
  for (std::size_t i = rank; i-- > 0;) {
    if (count[i] == 0) return true;
    steps[i] = static_cast<GPtrDiff_t>(step[i]) * size;
    element += static_cast<GPtrDiff_t>(start[i]) * size;
    size *= static_cast<GPtrDiff_t>(dimensions_[i]->GetSize());
  }
  GPtrDiff_t offset = 0;
  std::vector<std::uint64_t> position(rank);
  bool has_more = true;
  while (has_more) {
    if (!visit(static_cast<std::size_t>(element), offset)) return false;
    has_more = zarrcore::advance_position(
        position, [count](std::size_t i) { return count[i]; },
        [&](std::size_t i, std::ptrdiff_t moved) {
          element += moved * steps[i];
          offset += moved * stride[i];
        });
  }
  return true;
}

bool JsonAttribute::IRead(const GUInt64* start, const size_t* count, const GInt64* step,
                          const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                          void* buffer) const {
  return guarded(false, [&] {
    check_exists();
    const auto size = static_cast<GPtrDiff_t>(buffer_type.GetSize());
    return visit_elements(start, count, step, stride, [&](std::size_t i, GPtrDiff_t offset) {
      return GDALExtendedDataType::CopyValue(elements_.data() + i * type_.GetSize(), type_,
                                             static_cast<GByte*>(buffer) + offset * size,
                                             buffer_type);
    });
  });
}

bool JsonAttribute::IWrite(const GUInt64* start, const size_t* count, const GInt64* step,
                           const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                           const void* buffer) {
  return guarded(false, [&] {
    check_is_writable();
    const auto size = static_cast<GPtrDiff_t>(buffer_type.GetSize());
    visit_elements(start, count, step, stride, [&](std::size_t i, GPtrDiff_t offset) {
      set_element(i, static_cast<const GByte*>(buffer) + offset * size, buffer_type);
      return true;
    });
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
