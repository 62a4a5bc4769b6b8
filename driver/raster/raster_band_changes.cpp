// What a band does for those who write.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "driver/gdal/error_guard.h"
#include "driver/raster/raster_band.h"
#include "driver/raster/slice_description.h"
#include "driver/types/element_encoder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/metadata/fill_value.h"

namespace gdal_zarr {
namespace {

template <typename Number>
constexpr GDALDataType kNumberType = std::is_same_v<Number, double>         ? GDT_Float64
                                     : std::is_same_v<Number, std::int64_t> ? GDT_Int64
                                                                            : GDT_UInt64;

// Whether the type of the band holds the value as it is.
template <typename Number>
bool is_exact(Number value, GDALDataType type, GByte* stored) {
  GDALCopyWords(&value, kNumberType<Number>, 0, stored, type, 0, 1);
  Number back = 0;
  GDALCopyWords(stored, type, 0, &back, kNumberType<Number>, 0, 1);
  if constexpr (std::is_same_v<Number, double>) {
    if (std::isnan(value)) return std::isnan(back);
    // A float32 stands for the float64 that is nearest to it.
    if (GDALDataTypeIsFloating(type) != 0) return std::isfinite(back) == std::isfinite(value);
  }
  return back == value;
}

}  // namespace

void RasterBand::set_value(BandItem item, zarrcore::Json value) {
  dataset().values_of_bands(nBand - 1).set(item, view().slice_number(nBand - 1), std::move(value));
}

CPLErr RasterBand::set_nodata_of_pam(double value) {
  return GDALPamRasterBand::SetNoDataValue(value);
}
CPLErr RasterBand::set_nodata_of_pam(std::int64_t value) {
  return GDALPamRasterBand::SetNoDataValueAsInt64(value);
}
CPLErr RasterBand::set_nodata_of_pam(std::uint64_t value) {
  return GDALPamRasterBand::SetNoDataValueAsUInt64(value);
}

template <typename Number>
CPLErr RasterBand::write_nodata(Number value) {
  return guarded(CE_Failure, [&] {
    GByte stored[2 * sizeof(double)] = {};
    // No pixel has such a value: it is kept for those who ask, beside the store.
    if (GDALDataTypeIsComplex(eDataType) != 0 || !is_exact(value, eDataType, stored)) {
      set_value(BandItem::nodata, nullptr);
      return set_nodata_of_pam(value);
    }
    int is_beside = FALSE;
    GDALPamRasterBand::GetNoDataValue(&is_beside);
    if (is_beside != FALSE) GDALPamRasterBand::DeleteNoDataValue();
    const zarrcore::DataType& type = array().core().data_type();
    std::vector<std::byte> element(type.item_size);
    const auto* from = reinterpret_cast<const std::byte*>(stored);
    if (const auto encoder = make_element_encoder(array().GetDataType(), type)) {
      encoder->convert(from, 0, element.data(), 0, 1);
    } else {
      std::copy(from, from + element.size(), element.begin());
    }
    set_value(BandItem::nodata, zarrcore::format_fill_value(element, type));
    return CE_None;
  });
}

CPLErr RasterBand::SetNoDataValue(double value) {
  return is_writable() ? write_nodata(value) : set_nodata_of_pam(value);
}

CPLErr RasterBand::SetNoDataValueAsInt64(int64_t value) {
  return is_writable() ? write_nodata<std::int64_t>(value) : set_nodata_of_pam(value);
}

CPLErr RasterBand::SetNoDataValueAsUInt64(uint64_t value) {
  return is_writable() ? write_nodata<std::uint64_t>(value) : set_nodata_of_pam(value);
}

CPLErr RasterBand::DeleteNoDataValue() {
  return guarded(CE_Failure, [&] {
    double value = 0;
    if (!is_writable() || !read_nodata(value)) return GDALPamRasterBand::DeleteNoDataValue();
    set_value(BandItem::nodata, nullptr);
    return CE_None;
  });
}

CPLErr RasterBand::set_number(BandItem item, double number, double default_number) {
  return guarded(CE_Failure, [&] {
    if (!std::isfinite(number)) throw zarrcore::Error("scale and offset have to be finite");
    if (number != default_number || this->number(item)) set_value(item, number);
    return CE_None;
  });
}

CPLErr RasterBand::SetOffset(double offset) {
  return is_writable() ? set_number(BandItem::offset, offset, 0)
                       : GDALPamRasterBand::SetOffset(offset);
}

CPLErr RasterBand::SetScale(double scale) {
  return is_writable() ? set_number(BandItem::scale, scale, 1) : GDALPamRasterBand::SetScale(scale);
}

CPLErr RasterBand::SetUnitType(const char* unit) {
  if (!is_writable()) return GDALPamRasterBand::SetUnitType(unit);
  return guarded(CE_Failure, [&] {
    const bool has_unit = unit != nullptr && unit[0] != '\0';
    set_value(BandItem::unit, has_unit ? zarrcore::Json(unit) : zarrcore::Json(nullptr));
    return CE_None;
  });
}

CPLErr RasterBand::SetColorInterpretation(GDALColorInterp interpretation) {
  if (!is_writable()) return GDALPamRasterBand::SetColorInterpretation(interpretation);
  return guarded(CE_Failure, [&] {
    const bool is_shared = view().arrays().size() == 1 && view().band_count() > 1;
    zarrcore::Json names = GDALGetColorInterpretationName(interpretation);
    if (is_shared) {
      zarrcore::Json list = zarrcore::Json::array();
      for (int band = 1; band <= view().band_count(); ++band) {
        const GDALColorInterp of_band =
            band == nBand ? interpretation : poDS->GetRasterBand(band)->GetColorInterpretation();
        list.push_back(GDALGetColorInterpretationName(of_band));
      }
      names = std::move(list);
    }
    array().set_attribute(kColorInterpretation, names);
    return CE_None;
  });
}

void RasterBand::SetDescription(const char* description) {
  guarded(false, [&] {
    change_description(description);
    return true;
  });
}

void RasterBand::change_description(const char* description) {
  // Programs that copy a slice copy its name: that of the array stays.
  const bool is_of_slice = describe_slice(GDALPamRasterBand::GetMetadata()) == description;
  if (!is_writable() || !view().bands_are_arrays() || (is_of_slice && description[0] != '\0')) {
    set_name_beside_store(description);
    return;
  }
  set_name_beside_store("");
  if (description[0] == '\0' || array().GetName() == description) {
    array().erase_attribute("long_name");
  } else {
    array().set_attribute("long_name", description);
  }
}

}  // namespace gdal_zarr
