#include "driver/raster/raster_band.h"

#include <cpl_string.h>

#include <chrono>
#include <tuple>

#include "driver/conventions/cf/time.h"
#include "driver/gdal/error_guard.h"
#include "driver/raster/slice_description.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/metadata/fill_value.h"

namespace gdal_zarr {
namespace {

struct DimensionValue {
  std::string text;
  std::string time;  // ISO 8601, of CF times
};

DimensionValue read_dimension_value(const Array& variable, std::uint64_t index) {
  DimensionValue value;
  const auto text_type = GDALExtendedDataType::CreateString();
  char* text = nullptr;
  if (variable.GetDataType().CanConvertTo(text_type) &&
      variable.read_coordinates(index, 1, text_type, &text)) {
    if (text != nullptr) value.text = text;
    CPLFree(text);
  }
  double number = 0;
  if (is_time_unit(variable.GetUnit()) && variable.GetDataType().GetClass() == GEDTC_NUMERIC &&
      variable.read_coordinates(index, 1, GDALExtendedDataType::Create(GDT_Float64), &number)) {
    const auto attribute = variable.GetAttribute("calendar");
    const char* calendar = attribute ? attribute->ReadAsString() : nullptr;
    number = number * variable.GetScale(nullptr, nullptr) + variable.GetOffset(nullptr, nullptr);
    value.time = iso_time(number, variable.GetUnit(), calendar != nullptr ? calendar : "")
                     .value_or(std::string());
  }
  return value;
}

}  // namespace

RasterBand::RasterBand(RasterDataset* dataset, int band) {
  poDS = dataset;
  nBand = band;
  eDataType = array().GetDataType().GetNumericDataType();
  std::tie(nBlockXSize, nBlockYSize) = view().block_size();
}

const RasterView& RasterBand::view() const {
  return static_cast<RasterDataset*>(poDS)->view();
}

Array& RasterBand::array() const {
  return view().array_of(nBand - 1);
}

const zarrcore::Json* RasterBand::own_value(BandItem item) const {
  return dataset().values_of_bands(nBand - 1).find(item, view().slice_number(nBand - 1));
}

template <typename Number>
bool RasterBand::read_nodata(Number& value) const {
  const void* raw = array().GetRawNoDataValue();
  GByte own[2 * sizeof(double)] = {};
  if (const zarrcore::Json* own_nodata = own_value(BandItem::nodata)) {
    raw = nullptr;
    if (!own_nodata->is_null()) {
      const zarrcore::DataType& type = array().core().data_type();
      const auto element = zarrcore::parse_fill_value(*own_nodata, type);
      if (const auto converter = make_converter(type, array().GetDataType())) {
        converter->convert(element.data(), 0, reinterpret_cast<std::byte*>(own), 0, 1);
      } else {
        std::copy(element.begin(), element.end(), reinterpret_cast<std::byte*>(own));
      }
      raw = own;
    }
  }
  if (raw == nullptr) return false;
  if (GDALDataTypeIsComplex(eDataType) != 0) {
    double parts[2] = {};
    GDALCopyWords(raw, eDataType, 0, parts, GDT_CFloat64, 0, 1);
    if (parts[1] != 0) return false;  // there is no real number for it
  }
  constexpr GDALDataType kType = std::is_same_v<Number, double>         ? GDT_Float64
                                 : std::is_same_v<Number, std::int64_t> ? GDT_Int64
                                                                        : GDT_UInt64;
  GDALCopyWords(raw, eDataType, 0, &value, kType, 0, 1);
  return true;
}

double RasterBand::GetNoDataValue(int* success) {
  double value = 0;
  if (!guarded(false, [&] { return read_nodata(value); })) {
    return GDALPamRasterBand::GetNoDataValue(success);
  }
  if (success != nullptr) *success = TRUE;
  return value;
}

int64_t RasterBand::GetNoDataValueAsInt64(int* success) {
  std::int64_t value = 0;
  if (!guarded(false, [&] { return read_nodata(value); })) {
    return GDALPamRasterBand::GetNoDataValueAsInt64(success);
  }
  if (success != nullptr) *success = TRUE;
  return value;
}

uint64_t RasterBand::GetNoDataValueAsUInt64(int* success) {
  std::uint64_t value = 0;
  if (!guarded(false, [&] { return read_nodata(value); })) {
    return GDALPamRasterBand::GetNoDataValueAsUInt64(success);
  }
  if (success != nullptr) *success = TRUE;
  return value;
}

std::optional<double> RasterBand::number(BandItem item) const {
  return guarded<std::optional<double>>(std::nullopt, [&]() -> std::optional<double> {
    if (const zarrcore::Json* own = own_value(item)) {
      return own->is_null() ? std::nullopt : std::optional(own->get<double>());
    }
    const Packing& packing = array().packing();
    return item == BandItem::scale ? packing.scale : packing.offset;
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
    const zarrcore::Json* value = own_value(BandItem::unit);
    if (value == nullptr) return &array().GetUnit();
    return value->is_string() ? &value->get_ref<const std::string&>() : nullptr;
  });
  return own == nullptr || own->empty() ? GDALPamRasterBand::GetUnitType() : own->c_str();
}

GDALColorInterp RasterBand::GetColorInterpretation() {
  const zarrcore::Json* value =
      zarrcore::find_member(array().metadata().attributes, kColorInterpretation);
  if (value != nullptr && value->is_array() && static_cast<int>(value->size()) >= nBand) {
    value = &(*value)[static_cast<std::size_t>(nBand - 1)];
  }
  if (value == nullptr || !value->is_string()) return GDALPamRasterBand::GetColorInterpretation();
  return GDALGetColorInterpretationByName(value->get_ref<const std::string&>().c_str());
}

int RasterBand::GetOverviewCount() {
  const auto count = static_cast<int>(dataset().overviews().size());
  return count > 0 ? count : GDALPamRasterBand::GetOverviewCount();
}

GDALRasterBand* RasterBand::GetOverview(int index) {
  const auto& overviews = dataset().overviews();
  if (overviews.empty()) return GDALPamRasterBand::GetOverview(index);
  if (index < 0 || index >= static_cast<int>(overviews.size())) return nullptr;
  return overviews[static_cast<std::size_t>(index)]->GetRasterBand(nBand);
}

void RasterBand::make_dimension_metadata() {
  if (has_dimension_metadata_) return;
  has_dimension_metadata_ = true;
  CPLStringList items;
  const std::vector<std::uint64_t> indexes = view().other_indexes(nBand - 1);
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    const GDALDimension& dimension = *array().GetDimensions()[view().other_axes()[i]];
    const std::string prefix = "DIM_" + dimension.GetName();
    const auto set = [&](const char* suffix, const std::string& value) {
      items.SetNameValue((prefix + suffix).c_str(), value.c_str());
      GDALRasterBand::SetMetadataItem((prefix + suffix).c_str(), value.c_str(), "");
    };
    set("_INDEX", std::to_string(indexes[i]));
    const auto variable = std::dynamic_pointer_cast<const Array>(dataset().variables_of_bands()[i]);
    if (!variable || dataset().metadata_seconds_ <= 0) continue;
    const auto start = std::chrono::steady_clock::now();
    const DimensionValue value = read_dimension_value(*variable, indexes[i]);
    dataset().metadata_seconds_ -=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!value.text.empty()) set("_VALUE", value.text);
    if (!value.time.empty()) set("_DATETIME", value.time);
    if (!variable->GetUnit().empty()) set("_UNIT", variable->GetUnit());
  }
  slice_description_ = describe_slice(items.List());
}

const char* RasterBand::GetDescription() const {
  const char* name = GDALPamRasterBand::GetDescription();
  if (name[0] != '\0' || is_serialized_) return name;
  return guarded("", [this] {
    return static_cast<RasterBand*>(poDS->GetRasterBand(nBand))->make_description();
  });
}

const char* RasterBand::make_description() {
  const zarrcore::Json* long_name =
      zarrcore::find_member(array().metadata().attributes, "long_name");
  description_ = long_name != nullptr ? name_in_list(*long_name) : std::string();
  if (!description_.empty()) return description_.c_str();
  make_dimension_metadata();
  description_ = slice_description_;
  if (description_.empty()) {
    description_ = long_name != nullptr && long_name->is_string() ? long_name->get<std::string>()
                                                                  : array().GetName();
  }
  return description_.c_str();
}

std::string RasterBand::name_in_list(const zarrcore::Json& names) const {
  if (!names.is_array() || view().other_axes().size() != 1) return {};
  if (names.size() != array().core().shape()[view().other_axes()[0]]) return {};
  const zarrcore::Json& name = names[view().other_indexes(nBand - 1)[0]];
  return name.is_string() ? name.get<std::string>() : std::string();
}

// What the store says by itself is not kept beside it: there it would outlive a change of the
// store.
CPLXMLNode* RasterBand::SerializeToXML(const char* path) {
  is_serialized_ = true;
  CPLXMLNode* node = GDALPamRasterBand::SerializeToXML(path);
  is_serialized_ = false;
  return node;
}

void RasterBand::load_dimension_metadata() {
  guarded(false, [this] {
    make_dimension_metadata();
    return true;
  });
}

MetadataList RasterBand::GetMetadata(const char* domain) {
  if (domain == nullptr || domain[0] == '\0') load_dimension_metadata();
  return GDALPamRasterBand::GetMetadata(domain);
}

const char* RasterBand::GetMetadataItem(const char* name, const char* domain) {
  if ((domain == nullptr || domain[0] == '\0') && name != nullptr && STARTS_WITH_CI(name, "DIM_")) {
    load_dimension_metadata();
  }
  return GDALPamRasterBand::GetMetadataItem(name, domain);
}

CPLErr RasterBand::transfer_block(GDALRWFlag flag, int block_x, int block_y, void* buffer) {
  const auto pixel = static_cast<std::ptrdiff_t>(GDALGetDataTypeSizeBytes(eDataType));
  RasterRequest request;
  request.x = static_cast<std::uint64_t>(block_x) * static_cast<std::uint64_t>(nBlockXSize);
  request.y = static_cast<std::uint64_t>(block_y) * static_cast<std::uint64_t>(nBlockYSize);
  request.columns = std::min(static_cast<std::uint64_t>(nBlockXSize),
                             static_cast<std::uint64_t>(nRasterXSize) - request.x);
  request.rows = std::min(static_cast<std::uint64_t>(nBlockYSize),
                          static_cast<std::uint64_t>(nRasterYSize) - request.y);
  request.buffer = buffer;
  request.type = eDataType;
  request.pixel_space = pixel;
  request.line_space = pixel * nBlockXSize;
  const int band = nBand - 1;
  return guarded(CE_Failure, [&] {
    if (flag == GF_Write) dataset().store_values_of_bands();
    return view().transfer(flag, request, {&band, 1}) ? CE_None : CE_Failure;
  });
}

CPLErr RasterBand::IReadBlock(int block_x, int block_y, void* buffer) {
  return transfer_block(GF_Read, block_x, block_y, buffer);
}

CPLErr RasterBand::IWriteBlock(int block_x, int block_y, void* buffer) {
  return transfer_block(GF_Write, block_x, block_y, buffer);
}

CPLErr RasterBand::IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer,
                             int buffer_columns, int buffer_rows, GDALDataType type,
                             GSpacing pixel_space, GSpacing line_space,
                             GDALRasterIOExtraArg* extra) {
  return guarded(CE_Failure, [&] {
    if (flag == GF_Read) {
      GDALRasterIOExtraArg overview_extra = *extra;
      if (RasterDataset* overview = dataset().best_overview(x, y, columns, rows, buffer_columns,
                                                            buffer_rows, &overview_extra)) {
        return overview->GetRasterBand(nBand)->RasterIO(flag, x, y, columns, rows, buffer,
                                                        buffer_columns, buffer_rows, type,
                                                        pixel_space, line_space, &overview_extra);
      }
    }
    const int band = nBand - 1;
    if (const auto result = dataset().transfer_directly(
            flag, x, y, columns, rows, buffer, buffer_columns, buffer_rows, type, {&band, 1},
            pixel_space, line_space, 0, extra)) {
      return *result;
    }
    return GDALPamRasterBand::IRasterIO(flag, x, y, columns, rows, buffer, buffer_columns,
                                        buffer_rows, type, pixel_space, line_space, extra);
  });
}

}  // namespace gdal_zarr
