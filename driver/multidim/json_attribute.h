// A JSON value as a GDAL attribute: the object that attribute.h makes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/multidim/attribute_owner.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

class JsonAttribute final : public GDALAttribute {
 public:
  // `texts` are the values of a string type, `elements` those of another type, in C order of an
  // array of this shape (empty for a scalar). `owner_name` is the full name of what has the
  // attribute. Without an owner the attribute is read-only.
  JsonAttribute(const std::string& owner_name, const std::string& name,
                const GDALExtendedDataType& type, std::vector<std::byte> elements,
                std::vector<std::string> texts, const std::vector<GUInt64>& shape,
                std::shared_ptr<AttributeOwner> owner);

  const std::vector<std::shared_ptr<GDALDimension>>& GetDimensions() const override {
    return dimensions_;
  }
  const GDALExtendedDataType& GetDataType() const override { return type_; }
#if GDAL_ZARR_AT_LEAST(3, 8)
  bool Rename(const std::string& name) override;
#endif

  // The value as JSON. Throws zarrcore::Error when a text of subtype JSON is none.
  zarrcore::Json json() const;
  bool shows(const zarrcore::Json& value) const;

  // Called by LiveAttributes.
  void set_name(const std::string& name);
  void set_owner_name(const std::string& owner_name);
  void set_deleted() { is_deleted_ = true; }

 protected:
  bool IRead(const GUInt64* start, const size_t* count, const GInt64* step,
             const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
             void* buffer) const override;
  bool IWrite(const GUInt64* start, const size_t* count, const GInt64* step,
              const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
              const void* buffer) override;

 private:
  bool is_text() const { return type_.GetClass() == GEDTC_STRING; }
  zarrcore::Json element_json(std::size_t i) const;
  // The elements of a request, with the offset of each in the buffer, in elements of the buffer.
  // Ends when `visit(i, offset)` returns false, and returns that.
  template <typename Visit>
  bool visit_elements(const GUInt64* start, const size_t* count, const GInt64* step,
                      const GPtrDiff_t* stride, const Visit& visit) const;
  // Throw zarrcore::Error.
  void check_exists() const;
  void check_is_writable() const;
  void set_element(std::size_t i, const void* source, const GDALExtendedDataType& source_type);

  GDALExtendedDataType type_;
  std::vector<std::string> texts_;
  std::vector<std::byte> elements_;  // of a string type: pointers to texts_
  std::vector<std::shared_ptr<GDALDimension>> dimensions_;
  std::shared_ptr<AttributeOwner> owner_;
  bool is_deleted_ = false;
};

}  // namespace gdal_zarr
