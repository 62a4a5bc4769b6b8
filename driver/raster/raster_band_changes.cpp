// What a band does for those who write. What Zarr keeps for an array counts for all its bands.
#include <cmath>
#include <cstring>
#include <type_traits>

#include "driver/error_guard.h"
#include "driver/messages.h"
#include "driver/raster/raster_band.h"
#include "driver/raster/slice_description.h"
#include "zarrcore/base/error.h"

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

void RasterBand::warn_of_change(const char* what, bool was_set, bool is_same) const {
  if (view().band_count() == 1 || view().arrays().size() > 1 || !was_set || is_same) return;
  report(CE_Warning, CPLE_AppDefined,
         "Zarr: the bands of array %s share one %s, which is changed for all of them",
         array().GetFullName().c_str(), what);
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
    const void* old = array().GetRawNoDataValue();
    // No pixel has such a value: it is kept for those who ask, beside the store.
    if (GDALDataTypeIsComplex(eDataType) != 0 || !is_exact(value, eDataType, stored)) {
      if (old != nullptr && !array().SetRawNoDataValue(nullptr)) return CE_Failure;
      return set_nodata_of_pam(value);
    }
    int is_beside = FALSE;
    GDALPamRasterBand::GetNoDataValue(&is_beside);
    if (is_beside != FALSE) GDALPamRasterBand::DeleteNoDataValue();
    const auto size = static_cast<std::size_t>(GDALGetDataTypeSizeBytes(eDataType));
    warn_of_change("nodata value", old != nullptr,
                   old != nullptr && std::memcmp(old, stored, size) == 0);
    return array().SetRawNoDataValue(stored) ? CE_None : CE_Failure;
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
  if (!is_writable() || array().GetRawNoDataValue() == nullptr) {
    return GDALPamRasterBand::DeleteNoDataValue();
  }
  return array().SetRawNoDataValue(nullptr) ? CE_None : CE_Failure;
}

CPLErr RasterBand::SetOffset(double offset) {
  if (!is_writable()) return GDALPamRasterBand::SetOffset(offset);
  const auto& old = array().packing().offset;
  if (!old && offset == 0) return CE_None;
  warn_of_change("offset", old.has_value(), old == offset);
  return array().SetOffset(offset, GDT_Unknown) ? CE_None : CE_Failure;
}

CPLErr RasterBand::SetScale(double scale) {
  if (!is_writable()) return GDALPamRasterBand::SetScale(scale);
  const auto& old = array().packing().scale;
  if (!old && scale == 1) return CE_None;
  warn_of_change("scale", old.has_value(), old == scale);
  return array().SetScale(scale, GDT_Unknown) ? CE_None : CE_Failure;
}

CPLErr RasterBand::SetUnitType(const char* unit) {
  if (!is_writable()) return GDALPamRasterBand::SetUnitType(unit);
  return guarded(CE_Failure, [&] {
    const std::string text = unit != nullptr ? unit : "";
    const std::string& old = array().GetUnit();
    warn_of_change("unit", !old.empty(), old == text);
    return old == text || array().SetUnit(text) ? CE_None : CE_Failure;
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
