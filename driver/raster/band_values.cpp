#include "driver/raster/band_values.h"

#include <algorithm>

#include "zarrcore/base/error.h"
#include "zarrcore/metadata/fill_value.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;

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
                           std::all_of(values->begin(), values->end(), [&](const Json& value) {
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
         std::all_of(list.begin(), list.end(), [&](const Json& other) { return other == value; });
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
