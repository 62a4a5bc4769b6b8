#include "driver/raster/raster_dataset.h"

#include <cpl_string.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <tuple>

#include "driver/conventions/axis.h"
#include "driver/conventions/cf_time.h"
#include "driver/conventions/crs.h"
#include "driver/conventions/shown_attributes.h"
#include "driver/error_guard.h"
#include "driver/multidim/attribute.h"
#include "driver/open_store.h"
#include "driver/raster/georeferencing.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

// Halving a raster as often leaves nothing of it.
constexpr std::size_t kMaxOverviews = 31;

bool is_evenly_stepped(int length, int buffer_length) {
  return buffer_length > 0 && length % buffer_length == 0;
}

struct DimensionValue {
  std::string text;
  std::string time;  // ISO 8601, of CF times
};

DimensionValue read_dimension_value(const GDALMDArray& variable, std::uint64_t index) {
  DimensionValue value;
  const auto text_type = GDALExtendedDataType::CreateString();
  const GUInt64 start = index;
  const std::size_t count = 1;
  char* text = nullptr;
  if (variable.GetDataType().CanConvertTo(text_type) &&
      variable.Read(&start, &count, nullptr, nullptr, text_type, &text)) {
    if (text != nullptr) value.text = text;
    CPLFree(text);
  }
  double number = 0;
  if (is_time_unit(variable.GetUnit()) && variable.GetDataType().GetClass() == GEDTC_NUMERIC &&
      variable.Read(&start, &count, nullptr, nullptr, GDALExtendedDataType::Create(GDT_Float64),
                    &number)) {
    const auto attribute = variable.GetAttribute("calendar");
    const char* calendar = attribute ? attribute->ReadAsString() : nullptr;
    number = number * variable.GetScale() + variable.GetOffset();
    value.time = iso_time(number, variable.GetUnit(), calendar != nullptr ? calendar : "")
                     .value_or(std::string());
  }
  return value;
}

}  // namespace

RasterDataset::RasterDataset(RasterView view, const std::string& name,
                             const std::string& subdataset, double metadata_seconds)
    : view_(std::move(view)), metadata_seconds_(metadata_seconds) {
  make_bands();
  crs_ = view_.array().crs();
  if (crs_) set_axis_mapping(*crs_, 1, 2);
  geotransform_ = find_geotransform(view_);
  CPLStringList geolocation = find_geolocation(view_, crs_.get());
  if (!geolocation.empty()) GDALDataset::SetMetadata(geolocation.List(), "GEOLOCATION");
  set_metadata();

  SetDescription(name.c_str());
  const std::string& path = view_.array().session()->path();
  SetPhysicalFilename(path.c_str());
  if (!subdataset.empty()) SetSubdatasetName(subdataset.c_str());
  TryLoadXML();
  // Overviews in a file of their own, beside the store.
  if (subdataset.empty() && VSIIsLocal(path.c_str())) oOvManager.Initialize(this, path.c_str());
}

RasterDataset::RasterDataset(RasterView view, const RasterDataset& fine)
    : view_(std::move(view)), crs_(fine.crs_), overviews_(std::in_place) {
  make_bands();
  if (fine.geotransform_) {
    geotransform_ = coarser_geotransform(*fine.geotransform_, fine.nRasterXSize, fine.nRasterYSize,
                                         nRasterXSize, nRasterYSize);
  }
  // Nothing of an overview is kept beside the store.
  nPamFlags |= GPF_DISABLED;
}

void RasterDataset::make_bands() {
  nRasterXSize = view_.width();
  nRasterYSize = view_.height();
  eAccess = GA_ReadOnly;
  for (int band = 1; band <= view_.band_count(); ++band) SetBand(band, new RasterBand(this, band));
}

// Attributes of the root, and before them those of the array.
void RasterDataset::set_metadata() {
  const auto set = [this](const zarrcore::Json& attributes) {
    for (const auto& [name, value] : attributes.items()) {
      if (name == "COLOR_INTERPRETATION") continue;  // the bands say it
      // Not the one of GDALPamDataset: what the store says need not go to an .aux.xml file.
      GDALDataset::SetMetadataItem(name.c_str(), attribute_text(value).c_str(), "");
    }
  };
  const Session& session = *view_.array().session();
  if (!session.root_is_array()) set(shown_attributes(*session.attributes("")));
  set(view_.array().shown_attributes());
}

char** RasterDataset::GetFileList() {
  return guarded<char**>(nullptr, [this] {
    const Session& session = *view_.array().session();
    // The folders of the array and of its coordinates, and the groups around the array.
    std::set<std::string> nodes{""};
    for (std::string path = view_.array().node_path(); !path.empty();
         path = zarrcore::parent_path(path)) {
      nodes.insert(path);
    }
    for (const auto& dimension : view_.array().GetDimensions()) {
      if (const auto variable = dimension->GetIndexingVariable()) {
        nodes.insert(session.node_path(variable->GetFullName()));
      }
    }
    const std::string root = session.hierarchy().store()->description();
    const CPLStringList of_pam(GDALPamDataset::GetFileList());
    CPLStringList files;
    for (const char* file : of_pam) {
      files.AddString(has_reference_prefix(file) ? root.c_str() : file);
    }
    for (const std::string& key : session.hierarchy().documents_read()) {
      if (!nodes.contains(std::string(zarrcore::parent_path(key)))) continue;
      // Documents that stand in references are no files.
      const std::string file = root + '/' + key;
      VSIStatBufL status;
      if (VSIStatExL(file.c_str(), &status, VSI_STAT_EXISTS_FLAG) == 0) {
        files.AddString(file.c_str());
      }
    }
    return files.StealList();
  });
}

const std::vector<std::unique_ptr<RasterDataset>>& RasterDataset::overviews() {
  if (overviews_) return *overviews_;
  overviews_.emplace();
  guarded(false, [this] {
    for (const auto& array : view_.array().overviews()) {
      if (array->GetDimensions().size() != view_.array().GetDimensions().size()) continue;
      RasterView coarse = view_.of(array);
      const RasterDataset& finer = overviews_->empty() ? *this : *overviews_->back();
      const bool is_coarser =
          coarse.width() <= finer.nRasterXSize && coarse.height() <= finer.nRasterYSize &&
          (coarse.width() < finer.nRasterXSize || coarse.height() < finer.nRasterYSize);
      if (!is_coarser || coarse.band_count() != nBands || overviews_->size() >= kMaxOverviews) {
        CPLError(CE_Warning, CPLE_AppDefined, "Zarr: array %s is no overview of %s",
                 array->GetFullName().c_str(), view_.array().GetFullName().c_str());
        continue;
      }
      overviews_->push_back(
          std::unique_ptr<RasterDataset>(new RasterDataset(std::move(coarse), *this)));
    }
    return true;
  });
  return *overviews_;
}

RasterDataset* RasterDataset::best_overview(int& x, int& y, int& columns, int& rows,
                                            int buffer_columns, int buffer_rows,
                                            GDALRasterIOExtraArg* extra) {
  const bool is_decimated = buffer_columns < columns || buffer_rows < rows;
  if (!is_decimated || overviews().empty()) return nullptr;
  const int level = GDALBandGetBestOverviewLevel2(GetRasterBand(1), x, y, columns, rows,
                                                  buffer_columns, buffer_rows, extra);
  return level < 0 ? nullptr : (*overviews_)[static_cast<std::size_t>(level)].get();
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
    GDALRasterIOExtraArg overview_extra = *extra;
    if (RasterDataset* overview =
            best_overview(x, y, columns, rows, buffer_columns, buffer_rows, &overview_extra)) {
      return overview->IRasterIO(flag, x, y, columns, rows, buffer, buffer_columns, buffer_rows,
                                 type, band_count, band_map, pixel_space, line_space, band_space,
                                 &overview_extra);
    }
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
  const std::vector<std::uint64_t> indexes = view().other_indexes(nBand - 1);
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    const GDALDimension& dimension = *view().array().GetDimensions()[view().other_axes()[i]];
    const std::string prefix = "DIM_" + dimension.GetName();
    const auto set = [&](const char* suffix, const std::string& value) {
      GDALRasterBand::SetMetadataItem((prefix + suffix).c_str(), value.c_str(), "");
    };
    set("_INDEX", std::to_string(indexes[i]));
    const auto variable = dimension.GetIndexingVariable();
    if (!variable || dataset().metadata_seconds_ <= 0) continue;
    const auto start = std::chrono::steady_clock::now();
    const DimensionValue value = read_dimension_value(*variable, indexes[i]);
    dataset().metadata_seconds_ -=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!value.text.empty()) set("_VALUE", value.text);
    if (!value.time.empty()) set("_DATETIME", value.time);
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
    GDALRasterIOExtraArg overview_extra = *extra;
    if (RasterDataset* overview = dataset().best_overview(x, y, columns, rows, buffer_columns,
                                                          buffer_rows, &overview_extra)) {
      return overview->GetRasterBand(nBand)->RasterIO(flag, x, y, columns, rows, buffer,
                                                      buffer_columns, buffer_rows, type,
                                                      pixel_space, line_space, &overview_extra);
    }
    const int band = nBand - 1;
    if (const auto result =
            dataset().read_directly(x, y, columns, rows, buffer, buffer_columns, buffer_rows, type,
                                    {&band, 1}, pixel_space, line_space, 0, extra)) {
      return *result;
    }
  }
  return GDALPamRasterBand::IRasterIO(flag, x, y, columns, rows, buffer, buffer_columns,
                                      buffer_rows, type, pixel_space, line_space, extra);
}

}  // namespace gdal_zarr
