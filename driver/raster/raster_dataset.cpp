#include "driver/raster/raster_dataset.h"

#include <cpl_string.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "driver/conventions/crs.h"
#include "driver/error_guard.h"
#include "driver/multidim/attribute.h"

namespace gdal_zarr {
namespace {

// Coordinates of more cells than that are not read to find their spacing.
constexpr std::uint64_t kMaxCoordinates = 50'000'000;

std::vector<double> read_coordinates(const GDALDimension& dimension) {
  const auto variable = dimension.GetIndexingVariable();
  if (!variable || dimension.GetSize() > kMaxCoordinates ||
      variable->GetDataType().GetClass() != GEDTC_NUMERIC) {
    return {};
  }
  std::vector<double> values(dimension.GetSize());
  const GUInt64 start = 0;
  const std::size_t count = values.size();
  if (!variable->Read(&start, &count, nullptr, nullptr, GDALExtendedDataType::Create(GDT_Float64),
                      values.data())) {
    return {};
  }
  const double scale = variable->GetScale();
  const double offset = variable->GetOffset();
  for (double& value : values) value = value * scale + offset;
  return values;
}

bool is_evenly_stepped(int length, int buffer_length) {
  return buffer_length > 0 && length % buffer_length == 0;
}

}  // namespace

RasterDataset::RasterDataset(RasterView view, const std::string& name,
                             const std::string& subdataset)
    : view_(std::move(view)) {
  nRasterXSize = view_.width();
  nRasterYSize = view_.height();
  eAccess = GA_ReadOnly;
  for (int band = 1; band <= view_.band_count(); ++band) SetBand(band, new RasterBand(this, band));

  crs_ = view_.array().crs();
  if (crs_) set_axis_mapping(*crs_, 1, 2);
  find_geotransform();
  set_metadata();

  SetDescription(name.c_str());
  SetPhysicalFilename(view_.array().session()->path().c_str());
  if (!subdataset.empty()) SetSubdatasetName(subdataset.c_str());
  TryLoadXML();
}

void RasterDataset::find_geotransform() {
  const Array& array = view_.array();
  if (!view_.x_axis() || !view_.y_axis()) return;
  const std::string grid_mapping = grid_mapping_variable(array.core().metadata().attributes);
  if (!grid_mapping.empty()) geotransform_ = parse_geotransform(array.find_variable(grid_mapping));
  if (geotransform_) return;
  const auto& dimensions = array.GetDimensions();
  const auto x = find_regular_axis(read_coordinates(*dimensions[*view_.x_axis()]));
  if (!x) return;
  const auto y = find_regular_axis(read_coordinates(*dimensions[*view_.y_axis()]));
  if (y) geotransform_ = make_geotransform(*x, *y);
}

void RasterDataset::set_metadata() {
  for (const auto& [name, value] : view_.array().shown_attributes().items()) {
    // Not the one of GDALPamDataset: what the store says need not go to an .aux.xml file.
    GDALDataset::SetMetadataItem(name.c_str(), attribute_text(value).c_str(), "");
  }
}

const OGRSpatialReference* RasterDataset::GetSpatialRef() const {
  return crs_ ? crs_.get() : GDALPamDataset::GetSpatialRef();
}

#if GDAL_ZARR_AT_LEAST(3, 12)
CPLErr RasterDataset::GetGeoTransform(GDALGeoTransform& transform) const {
  if (!geotransform_) return GDALPamDataset::GetGeoTransform(transform);
  transform = GDALGeoTransform(geotransform_->data());
  return CE_None;
}
#else
CPLErr RasterDataset::GetGeoTransform(double* transform) {
  if (!geotransform_) return GDALPamDataset::GetGeoTransform(transform);
  std::copy(geotransform_->begin(), geotransform_->end(), transform);
  return CE_None;
}
#endif

std::optional<CPLErr> RasterDataset::read_directly(int x, int y, int columns, int rows,
                                                   void* buffer, int buffer_columns,
                                                   int buffer_rows, GDALDataType type,
                                                   std::span<const int> bands, GSpacing pixel_space,
                                                   GSpacing line_space, GSpacing band_space,
                                                   const GDALRasterIOExtraArg* extra) const {
  const bool is_exact = buffer_columns == columns && buffer_rows == rows;
  const bool is_stepped = extra->eResampleAlg == GRIORA_NearestNeighbour &&
                          extra->bFloatingPointWindowValidity == FALSE &&
                          is_evenly_stepped(columns, buffer_columns) &&
                          is_evenly_stepped(rows, buffer_rows);
  if (!is_exact && !is_stepped) return std::nullopt;
  RasterRequest request;
  request.x_step = static_cast<std::uint64_t>(columns / buffer_columns);
  request.y_step = static_cast<std::uint64_t>(rows / buffer_rows);
  // Nearest neighbour takes the pixel under the centre of each pixel of the buffer.
  request.x = static_cast<std::uint64_t>(x) + request.x_step / 2;
  request.y = static_cast<std::uint64_t>(y) + request.y_step / 2;
  request.columns = static_cast<std::uint64_t>(buffer_columns);
  request.rows = static_cast<std::uint64_t>(buffer_rows);
  request.buffer = buffer;
  request.type = type;
  request.pixel_space = pixel_space;
  request.line_space = line_space;
  request.band_space = band_space;
  return view_.read(request, bands) ? CE_None : CE_Failure;
}

CPLErr RasterDataset::IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer,
                                int buffer_columns, int buffer_rows, GDALDataType type,
                                int band_count, BandMap band_map, GSpacing pixel_space,
                                GSpacing line_space, GSpacing band_space,
                                GDALRasterIOExtraArg* extra) {
  if (flag == GF_Read) {
    std::vector<int> bands(band_map, band_map + band_count);
    for (int& band : bands) --band;
    if (const auto result =
            read_directly(x, y, columns, rows, buffer, buffer_columns, buffer_rows, type, bands,
                          pixel_space, line_space, band_space, extra)) {
      return *result;
    }
  }
  return GDALPamDataset::IRasterIO(flag, x, y, columns, rows, buffer, buffer_columns, buffer_rows,
                                   type, band_count, band_map, pixel_space, line_space, band_space,
                                   extra);
}

RasterBand::RasterBand(RasterDataset* dataset, int band) {
  poDS = dataset;
  nBand = band;
  eDataType = view().array().GetDataType().GetNumericDataType();
  std::tie(nBlockXSize, nBlockYSize) = view().block_size();
  const zarrcore::Json& attributes = view().array().core().metadata().attributes;
  const zarrcore::Json* long_name = zarrcore::find_member(attributes, "long_name");
  GDALRasterBand::SetDescription(long_name != nullptr && long_name->is_string()
                                     ? long_name->get_ref<const std::string&>().c_str()
                                     : view().array().GetName().c_str());
}

const RasterView& RasterBand::view() const {
  return static_cast<RasterDataset*>(poDS)->view();
}

template <typename Number>
bool RasterBand::read_nodata(Number& value) const {
  const void* raw = view().array().GetRawNoDataValue();
  if (raw == nullptr || GDALDataTypeIsComplex(eDataType) != 0) return false;
  constexpr GDALDataType kType = std::is_same_v<Number, double>         ? GDT_Float64
                                 : std::is_same_v<Number, std::int64_t> ? GDT_Int64
                                                                        : GDT_UInt64;
  GDALCopyWords(raw, eDataType, 0, &value, kType, 0, 1);
  return true;
}

double RasterBand::GetNoDataValue(int* success) {
  double value = 0;
  if (!read_nodata(value)) return GDALPamRasterBand::GetNoDataValue(success);
  if (success != nullptr) *success = TRUE;
  return value;
}

int64_t RasterBand::GetNoDataValueAsInt64(int* success) {
  std::int64_t value = 0;
  if (!read_nodata(value)) return GDALPamRasterBand::GetNoDataValueAsInt64(success);
  if (success != nullptr) *success = TRUE;
  return value;
}

uint64_t RasterBand::GetNoDataValueAsUInt64(int* success) {
  std::uint64_t value = 0;
  if (!read_nodata(value)) return GDALPamRasterBand::GetNoDataValueAsUInt64(success);
  if (success != nullptr) *success = TRUE;
  return value;
}

double RasterBand::GetOffset(int* success) {
  const auto& offset = view().array().packing().offset;
  if (!offset) return GDALPamRasterBand::GetOffset(success);
  if (success != nullptr) *success = TRUE;
  return *offset;
}

double RasterBand::GetScale(int* success) {
  const auto& scale = view().array().packing().scale;
  if (!scale) return GDALPamRasterBand::GetScale(success);
  if (success != nullptr) *success = TRUE;
  return *scale;
}

const char* RasterBand::GetUnitType() {
  const std::string& unit = view().array().GetUnit();
  return unit.empty() ? GDALPamRasterBand::GetUnitType() : unit.c_str();
}

// GDAL's own attribute: one name, or one for each band.
GDALColorInterp RasterBand::GetColorInterpretation() {
  const zarrcore::Json* value =
      zarrcore::find_member(view().array().core().metadata().attributes, "COLOR_INTERPRETATION");
  if (value != nullptr && value->is_array() && static_cast<int>(value->size()) >= nBand) {
    value = &(*value)[static_cast<std::size_t>(nBand - 1)];
  }
  if (value == nullptr || !value->is_string()) return GDALPamRasterBand::GetColorInterpretation();
  return GDALGetColorInterpretationByName(value->get_ref<const std::string&>().c_str());
}

void RasterBand::make_dimension_metadata() {
  if (has_dimension_metadata_) return;
  has_dimension_metadata_ = true;
  const std::vector<std::uint64_t> indexes = view().other_indexes(nBand - 1);
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    const GDALDimension& dimension = *view().array().GetDimensions()[view().other_axes()[i]];
    const std::string prefix = "DIM_" + dimension.GetName();
    const auto set = [&](const char* suffix, const std::string& value) {
      GDALRasterBand::SetMetadataItem((prefix + suffix).c_str(), value.c_str(), "");
    };
    set("_INDEX", std::to_string(indexes[i]));
    const auto variable = dimension.GetIndexingVariable();
    if (!variable) continue;
    const GUInt64 start = indexes[i];
    const std::size_t count = 1;
    char* text = nullptr;
    if (variable->GetDataType().CanConvertTo(GDALExtendedDataType::CreateString()) &&
        variable->Read(&start, &count, nullptr, nullptr, GDALExtendedDataType::CreateString(),
                       &text)) {
      if (text != nullptr) set("_VALUE", text);
      CPLFree(text);
    }
    if (!variable->GetUnit().empty()) set("_UNIT", variable->GetUnit());
  }
}

MetadataList RasterBand::GetMetadata(const char* domain) {
  if (domain == nullptr || domain[0] == '\0') make_dimension_metadata();
  return GDALPamRasterBand::GetMetadata(domain);
}

const char* RasterBand::GetMetadataItem(const char* name, const char* domain) {
  if ((domain == nullptr || domain[0] == '\0') && name != nullptr && STARTS_WITH_CI(name, "DIM_")) {
    make_dimension_metadata();
  }
  return GDALPamRasterBand::GetMetadataItem(name, domain);
}

CPLErr RasterBand::IReadBlock(int block_x, int block_y, void* buffer) {
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
  return view().read(request, {&band, 1}) ? CE_None : CE_Failure;
}

CPLErr RasterBand::IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer,
                             int buffer_columns, int buffer_rows, GDALDataType type,
                             GSpacing pixel_space, GSpacing line_space,
                             GDALRasterIOExtraArg* extra) {
  if (flag == GF_Read) {
    const int band = nBand - 1;
    if (const auto result = static_cast<RasterDataset*>(poDS)->read_directly(
            x, y, columns, rows, buffer, buffer_columns, buffer_rows, type, {&band, 1}, pixel_space,
            line_space, 0, extra)) {
      return *result;
    }
  }
  return GDALPamRasterBand::IRasterIO(flag, x, y, columns, rows, buffer, buffer_columns,
                                      buffer_rows, type, pixel_space, line_space, extra);
}

}  // namespace gdal_zarr
