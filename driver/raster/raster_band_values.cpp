// Nodata, scale, offset and unit of a band, and their place in the attributes of the array.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "driver/gdal/messages.h"
#include "driver/raster/raster_band.h"
#include "zarrcore/base/error.h"
#include "zarrcore/metadata/fill_value.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;

template <typename Number>
constexpr GDALDataType kNumberType = std::is_same_v<Number, double>         ? GDT_Float64
                                     : std::is_same_v<Number, std::int64_t> ? GDT_Int64
                                                                            : GDT_UInt64;

// Returns true if the type of the band holds the value as it is.
template <typename Number>
bool is_exact(Number value, GDALDataType type, GByte* stored) {
  GDALCopyWords(&value, kNumberType<Number>, 0, stored, type, 0, 1);
  Number back = 0;
  GDALCopyWords(stored, type, 0, &back, kNumberType<Number>, 0, 1);
  if constexpr (std::is_same_v<Number, double>) {
    if (std::isnan(value)) return std::isnan(back);
    // For a float32, the float64 that is nearest to it counts as exact.
    if (GDALDataTypeIsFloating(type) != 0) return std::isfinite(back) == std::isfinite(value);
  }
  return back == value;
}

constexpr const char* kItemNames[] = {"scale", "offset", "unit", "nodata"};
constexpr BandItem kItemsInOrder[] = {BandItem::scale, BandItem::offset, BandItem::unit,
                                      BandItem::nodata};

std::size_t index_of(BandItem item) {
  return static_cast<std::size_t>(item);
}

bool is_value(BandItem item, const Json& value, const zarrcore::DataType& type) {
  if (value.is_null()) return true;
  if (item == BandItem::unit) return value.is_string();
  if (item != BandItem::nodata) return value.is_number();
  try {
    zarrcore::parse_fill_value(value, type);
    return true;
  } catch (const zarrcore::Error&) {
    return false;
  }
}

}  // namespace

const Json* RasterBand::own_value(BandItem item) const {
  return dataset().values_of_bands(nBand - 1).find(item, view().slice_number(nBand - 1));
}

void RasterBand::set_value(BandItem item, Json value) {
  dataset().values_of_bands(nBand - 1).set(item, view().slice_number(nBand - 1), std::move(value));
}

template <typename Number>
bool RasterBand::read_nodata(Number& value) const {
  const void* raw = array().GetRawNoDataValue();
  GByte own[2 * sizeof(double)] = {};
  if (const Json* own_nodata = own_value(BandItem::nodata)) {
    if (own_nodata->is_null()) return false;
    array().gdal_element(zarrcore::parse_fill_value(*own_nodata, array().core().data_type()), own);
    raw = own;
  }
  if (raw == nullptr) return false;
  if (GDALDataTypeIsComplex(eDataType) != 0) {
    double parts[2] = {};
    GDALCopyWords(raw, eDataType, 0, parts, GDT_CFloat64, 0, 1);
    if (parts[1] != 0) return false;  // not a real number
  }
  GDALCopyWords(raw, eDataType, 0, &value, kNumberType<Number>, 0, 1);
  return true;
}

template <typename Number>
CPLErr RasterBand::write_nodata(Number value) {
  if constexpr (std::is_same_v<Number, double>) {
    // The nearest floats of the largest integers.
    if (eDataType == GDT_UInt64 && value == 0x1p64) return write_nodata(std::uint64_t{UINT64_MAX});
    if (eDataType == GDT_Int64 && value == 0x1p63) return write_nodata(std::int64_t{INT64_MAX});
  }
  return guarded(CE_Failure, [&] {
    GByte element[2 * sizeof(double)] = {};
    // No pixel can have such a value, so it is stored in the sidecar, for programs that ask for it.
    // Not for 64-bit integers: GDAL returns their nodata as an integer, which this value may not
    // be.
    if (GDALDataTypeIsComplex(eDataType) != 0 || !is_exact(value, eDataType, element)) {
      if (eDataType == GDT_Int64 || eDataType == GDT_UInt64) {
        throw Error("array " + array().GetFullName() + ": the data type " +
                    GDALGetDataTypeName(eDataType) + " has no value " +
                    zarrcore::excerpt(Json(value)) + " that could be nodata");
      }
      set_value(BandItem::nodata, nullptr);
      return set_nodata_of_pam(value);
    }
    int is_in_sidecar = FALSE;
    GDALPamRasterBand::GetNoDataValue(&is_in_sidecar);
    if (is_in_sidecar != FALSE) GDALPamRasterBand::DeleteNoDataValue();
    set_value(BandItem::nodata, zarrcore::format_fill_value(array().stored_element(element),
                                                            array().core().data_type()));
    return CE_None;
  });
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

template <typename Number, typename Fallback>
Number RasterBand::nodata_or(int* success, const Fallback& fallback) const {
  Number value = 0;
  if (!guarded(false, [&] { return read_nodata(value); })) return fallback(success);
  if (success != nullptr) *success = TRUE;
  return value;
}

double RasterBand::GetNoDataValue(int* success) {
  return nodata_or<double>(success,
                           [this](int* found) { return GDALPamRasterBand::GetNoDataValue(found); });
}

int64_t RasterBand::GetNoDataValueAsInt64(int* success) {
  return nodata_or<std::int64_t>(
      success, [this](int* found) { return GDALPamRasterBand::GetNoDataValueAsInt64(found); });
}

uint64_t RasterBand::GetNoDataValueAsUInt64(int* success) {
  return nodata_or<std::uint64_t>(
      success, [this](int* found) { return GDALPamRasterBand::GetNoDataValueAsUInt64(found); });
}

CPLErr RasterBand::SetNoDataValue(double value) {
  dataset().forget_nodata();
  return is_writable() ? write_nodata(value) : set_nodata_of_pam(value);
}

CPLErr RasterBand::SetNoDataValueAsInt64(int64_t value) {
  dataset().forget_nodata();
  return is_writable() ? write_nodata<std::int64_t>(value) : set_nodata_of_pam(value);
}

CPLErr RasterBand::SetNoDataValueAsUInt64(uint64_t value) {
  dataset().forget_nodata();
  return is_writable() ? write_nodata<std::uint64_t>(value) : set_nodata_of_pam(value);
}

CPLErr RasterBand::DeleteNoDataValue() {
  dataset().forget_nodata();
  return guarded(CE_Failure, [&] {
    double value = 0;
    if (!is_writable() || !read_nodata(value)) return GDALPamRasterBand::DeleteNoDataValue();
    set_value(BandItem::nodata, nullptr);
    return CE_None;
  });
}

std::optional<double> RasterBand::number(BandItem item) const {
  return guarded<std::optional<double>>(std::nullopt, [&]() -> std::optional<double> {
    if (const Json* own = own_value(item)) {
      return own->is_null() ? std::nullopt : std::optional(own->get<double>());
    }
    return item == BandItem::scale ? array().scale() : array().offset();
  });
}

double RasterBand::GetOffset(int* success) {
  const auto offset = number(BandItem::offset);
  if (!offset) return GDALPamRasterBand::GetOffset(success);
  if (success != nullptr) *success = TRUE;
  return *offset;
}

double RasterBand::GetScale(int* success) {
  const auto scale = number(BandItem::scale);
  if (!scale) return GDALPamRasterBand::GetScale(success);
  if (success != nullptr) *success = TRUE;
  return *scale;
}

const char* RasterBand::GetUnitType() {
  const std::string* own = guarded<const std::string*>(nullptr, [&]() -> const std::string* {
    const Json* value = own_value(BandItem::unit);
    if (value == nullptr) return &array().GetUnit();
    return value->is_string() ? &value->get_ref<const std::string&>() : nullptr;
  });
  return own == nullptr || own->empty() ? GDALPamRasterBand::GetUnitType() : own->c_str();
}

CPLErr RasterBand::set_number(BandItem item, double number, double default_number) {
  return guarded(CE_Failure, [&] {
    if (!std::isfinite(number)) throw Error("scale and offset must be finite");
    if (number != default_number || this->number(item)) set_value(item, number);
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
    set_value(BandItem::unit, has_unit ? Json(unit) : Json(nullptr));
  });
}

BandValues::BandValues(Array& array, std::size_t band_count)
    : array_(array), band_count_(band_count), lists_(read_lists()) {}

std::array<BandValues::List, BandValues::kItems> BandValues::read_lists() const {
  std::array<List, kItems> lists;
  const Json* stored = zarrcore::find_member(array_.metadata().attributes, kBandsAttribute);
  if (stored == nullptr) return lists;
  for (const BandItem item : kItemsInOrder) {
    const Json* values = zarrcore::find_member(*stored, kItemNames[index_of(item)]);
    const bool is_usable = values != nullptr && values->is_array() &&
                           values->size() == band_count_ &&
                           std::ranges::all_of(*values, [&](const Json& value) {
                             return is_value(item, value, array_.core().data_type());
                           });
    if (is_usable) lists[index_of(item)].assign(values->begin(), values->end());
  }
  return lists;
}

const Json* BandValues::find(BandItem item, std::size_t band) const {
  const List& list = lists_[index_of(item)];
  return list.empty() ? nullptr : &list[band];
}

void BandValues::set(BandItem item, std::size_t band, Json value) {
  List& list = lists_[index_of(item)];
  if (list.empty()) {
    const Json shared = value_of_array(array_, item);
    if (shared == value) return;
    if (band_count_ > kMaxBands) {
      throw zarrcore::Error(
          "array " + array_.GetFullName() +
          " has too many slices for them to differ in scale, offset, unit or nodata");
    }
    list.assign(band_count_, shared);
    try {
      set_of_array(item, nullptr);
    } catch (...) {
      list.clear();
      throw;
    }
  }
  list[band] = std::move(value);
  changed_bands_[index_of(item)].insert(band);
  has_changed_ = true;
  if (!is_same_everywhere(list, band)) return;
  set_of_array(item, list[band]);
  list.clear();
}

// Bands are usually set in order, so the neighbours are compared first.
bool BandValues::is_same_everywhere(const List& list, std::size_t band) const {
  const Json& value = list[band];
  return list[(band + 1) % band_count_] == value &&
         list[(band + band_count_ - 1) % band_count_] == value &&
         std::ranges::all_of(list, [&](const Json& other) { return other == value; });
}

void BandValues::store() {
  if (!has_changed_) return;
  array_.refresh_metadata();
  std::array<List, kItems> known = read_lists();
  const Json* before = zarrcore::find_member(array_.metadata().attributes, kBandsAttribute);
  Json stored = before != nullptr && before->is_object() ? *before : Json::object();
  for (const BandItem item : kItemsInOrder) {
    List& list = lists_[index_of(item)];
    List& others = known[index_of(item)];
    const auto& changed = changed_bands_[index_of(item)];
    if (changed.empty()) {  // what is stored may be other programs' work
      list = std::move(others);
    } else if (list.empty()) {
      stored.erase(kItemNames[index_of(item)]);
    } else {
      if (!others.empty()) {
        for (const std::size_t band : changed) others[band] = list[band];
        list = std::move(others);
      }
      stored[kItemNames[index_of(item)]] = list;
    }
  }
  if (!stored.empty()) {
    array_.set_attribute(kBandsAttribute, stored);
  } else if (array_.metadata().attributes.contains(kBandsAttribute)) {
    array_.erase_attribute(kBandsAttribute);
  }
  for (auto& bands : changed_bands_) bands.clear();
  has_changed_ = false;
}

void BandValues::set_of_array(BandItem item, const Json& value) {
  if (value_of_array(array_, item) == value) return;
  array_.change_packing([&](Packing& packing) {
    if (item == BandItem::unit) {
      packing.unit = value.is_null() ? std::string() : value.get<std::string>();
    } else if (item == BandItem::nodata) {
      packing.nodata.reset();
      if (value.is_null()) return;
      packing.nodata = zarrcore::parse_fill_value(value, array_.core().data_type());
    } else {
      auto& number = item == BandItem::scale ? packing.scale : packing.offset;
      number = value.is_null() ? std::nullopt : std::optional(value.get<double>());
    }
  });
}

Json value_of_array(const Array& array, BandItem item) {
  const Packing& packing = array.packing();
  if (item == BandItem::unit) return packing.unit.empty() ? Json(nullptr) : Json(packing.unit);
  if (item == BandItem::nodata) {
    if (!packing.nodata) return nullptr;
    return zarrcore::format_fill_value(*packing.nodata, array.core().data_type());
  }
  const auto& number = item == BandItem::scale ? packing.scale : packing.offset;
  return number ? Json(*number) : Json(nullptr);
}

}  // namespace gdal_zarr
