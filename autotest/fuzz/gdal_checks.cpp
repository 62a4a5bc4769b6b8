#include "autotest/fuzz/gdal_checks.h"

#include <gdal_priv.h>
#include <ogrsf_frmts.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "autotest/cpp/support/npy.h"
#include "autotest/fuzz/input.h"

extern "C" void GDALRegister_Zarr();

namespace zarrcore::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxSubdatasets = 3;
constexpr int kMaxBands = 3;
constexpr int kMaxWindow = 32;
constexpr int kMaxArrays = 8;
constexpr int kMaxDepth = 4;
constexpr std::uint64_t kMaxElements = 1024;

using Dataset = std::unique_ptr<GDALDataset>;

Dataset open(const std::string& name, unsigned kind) {
  static const char* const kDrivers[] = {"Zarr", nullptr};
  return Dataset(GDALDataset::Open(name.c_str(), kind | GDAL_OF_READONLY, kDrivers));
}

// Bytes, for NaN equals nothing.
bool is_same(double a, double b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

void check_band(GDALRasterBand& band) {
  band.GetNoDataValue(nullptr);
  band.GetScale();
  band.GetUnitType();
  band.GetMetadata();
  band.GetColorInterpretation();
  band.GetOverviewCount();
  int width = 0;
  int height = 0;
  band.GetBlockSize(&width, &height);
  check(width > 0 && height > 0, "blocks have pixels");

  width = std::min(band.GetXSize(), kMaxWindow);
  height = std::min(band.GetYSize(), kMaxWindow);
  std::vector<double> whole(static_cast<std::size_t>(width) * height);
  const auto read = [&](int x, int columns, std::vector<double>& pixels) {
    return band.RasterIO(GF_Read, x, 0, columns, height, pixels.data(), columns, height,
                         GDT_Float64, 0, 0, nullptr) == CE_None;
  };
  if (!read(0, width, whole)) return;
  const int first = width / 3;
  const int columns = width - first;
  std::vector<double> part(static_cast<std::size_t>(columns) * height);
  check(read(first, columns, part), "a part of what can be read can be read");
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < columns; ++x) {
      check(is_same(part[y * columns + x], whole[y * width + first + x]),
            "a part has the pixels of the whole");
    }
  }
}

void check_dataset(GDALDataset& dataset) {
  double geotransform[6];
  dataset.GetGeoTransform(geotransform);
  dataset.GetSpatialRef();
  dataset.GetMetadata();
  CSLDestroy(dataset.GetFileList());
  for (int i = 1; i <= std::min(dataset.GetRasterCount(), kMaxBands); ++i) {
    check_band(*dataset.GetRasterBand(i));
  }
}

void read_attributes(const std::vector<std::shared_ptr<GDALAttribute>>& attributes) {
  for (const auto& attribute : attributes) {
    attribute->ReadAsStringArray();
    attribute->ReadAsDoubleArray();
    attribute->ReadAsRaw();
  }
}

void check_numbers(const GDALMDArray& array, std::vector<std::size_t> count) {
  const GDALExtendedDataType type = GDALExtendedDataType::Create(GDT_CFloat64);
  std::size_t size = 1;
  for (const std::size_t length : count) size *= length;
  std::vector<double> whole(2 * size);
  std::vector<GUInt64> start(count.size(), 0);
  if (!array.Read(start.data(), count.data(), nullptr, nullptr, type, whole.data())) return;
  if (count.empty() || count[0] < 2) return;
  const std::size_t row = whole.size() / count[0];
  start[0] = count[0] / 2;
  count[0] -= start[0];
  std::vector<double> part(row * count[0]);
  check(array.Read(start.data(), count.data(), nullptr, nullptr, type, part.data()),
        "a part of what can be read can be read");
  check(std::equal(part.begin(), part.end(), whole.end() - static_cast<std::ptrdiff_t>(part.size()),
                   is_same),
        "a part has the elements of the whole");
}

// Texts, and structures with texts.
void read_others(const GDALMDArray& array, const std::vector<std::size_t>& count) {
  const GDALExtendedDataType& type = array.GetDataType();
  std::size_t size = 1;
  for (const std::size_t length : count) size *= length;
  std::vector<GByte> elements(size * type.GetSize());
  const std::vector<GUInt64> start(count.size(), 0);
  array.Read(start.data(), count.data(), nullptr, nullptr, type, elements.data());
  for (std::size_t i = 0; i < size; ++i) {
    type.FreeDynamicMemory(elements.data() + i * type.GetSize());
  }
}

void check_array(const GDALMDArray& array) {
  read_attributes(array.GetAttributes());
  array.GetSpatialRef();
  array.GetUnit();
  array.GetNoDataValueAsDouble();
  array.GetScale();
  array.GetBlockSize();
  array.GetStructuralInfo();
  std::vector<std::size_t> count;
  std::uint64_t left = std::max<std::uint64_t>(
      1, std::min<std::uint64_t>(kMaxElements, (1 << 20) / array.GetDataType().GetSize()));
  for (const auto& dimension : array.GetDimensions()) {
    dimension->GetIndexingVariable();
    count.push_back(static_cast<std::size_t>(std::min<std::uint64_t>(dimension->GetSize(), left)));
    left /= std::max<std::size_t>(1, count.back());
    left = std::max<std::uint64_t>(1, left);
  }
  if (array.GetDataType().GetClass() == GEDTC_NUMERIC) {
    check_numbers(array, std::move(count));
  } else {
    read_others(array, count);
  }
}

void check_group(const GDALGroup& group, int depth, int& arrays) {
  read_attributes(group.GetAttributes());
  group.GetDimensions();
  for (const std::string& name : group.GetMDArrayNames()) {
    if (++arrays > kMaxArrays) return;
    if (const auto array = group.OpenMDArray(name)) check_array(*array);
  }
  if (depth == kMaxDepth) return;
  for (const std::string& name : group.GetGroupNames()) {
    if (const auto below = group.OpenGroup(name)) check_group(*below, depth + 1, arrays);
  }
}

}  // namespace

void prepare_gdal() {
  static const bool is_ready = [] {
    CPLSetErrorHandler(CPLQuietErrorHandler);
    GDALRegister_Zarr();
    GDALRegister_GTiff();
    RegisterOGRSQLite();
    CPLSetConfigOption("GDAL_PAM_ENABLED", "NO");
    CPLSetConfigOption("GDAL_NUM_THREADS", "1");
    // A proxy that does not answer stands before the network.
    CPLSetConfigOption("GDAL_HTTP_PROXY", "127.0.0.1:1");
    CPLSetConfigOption("GDAL_HTTP_MAX_RETRY", "0");
    CPLSetConfigOption("GDAL_DISABLE_READDIR_ON_OPEN", "EMPTY_DIR");
    return true;
  }();
  check(is_ready, "GDAL is ready");
}

MemoryFolder::MemoryFolder(std::string name) : path_("/vsimem/" + std::move(name)) {
  VSIMkdir(path_.c_str(), 0755);
}

MemoryFolder::~MemoryFolder() {
  VSIRmdirRecursive(path_.c_str());
}

void MemoryFolder::add(const std::string& name, std::string_view content) {
  VSILFILE* file = VSIFOpenL((path_ + '/' + name).c_str(), "wb");
  if (file == nullptr) return;
  VSIFWriteL(content.data(), 1, content.size(), file);
  VSIFCloseL(file);
}

void MemoryFolder::add(const StoreValues& values) {
  for (const auto& [name, content] : values) add(name, content);
}

void check_raster(const std::string& name) {
  const Dataset dataset = open(name, GDAL_OF_RASTER);
  if (dataset == nullptr) return;
  check_dataset(*dataset);
  for (int i = 1; i <= kMaxSubdatasets; ++i) {
    const std::string key = "SUBDATASET_" + std::to_string(i) + "_NAME";
    const char* subdataset = dataset->GetMetadataItem(key.c_str(), "SUBDATASETS");
    if (subdataset == nullptr) break;
    if (const Dataset opened = open(subdataset, GDAL_OF_RASTER)) check_dataset(*opened);
  }
}

void check_multidimensional(const std::string& name) {
  const Dataset dataset = open(name, GDAL_OF_MULTIDIM_RASTER);
  if (dataset == nullptr) return;
  int arrays = 0;
  if (const auto root = dataset->GetRootGroup()) check_group(*root, 0, arrays);
}

const std::map<std::string, StoreValues>& fixture_stores() {
  static const std::map<std::string, StoreValues> stores = [] {
    std::map<std::string, StoreValues> all;
    const fs::path folder = FIXTURES_FOLDER "/stores";
    for (const auto& file : fs::recursive_directory_iterator(folder)) {
      if (!file.is_regular_file()) continue;
      const fs::path path = file.path().lexically_relative(folder);
      const fs::path store = *path.begin();
      all[store][path.lexically_relative(store)] = test::read_file(file.path());
    }
    return all;
  }();
  return stores;
}

}  // namespace zarrcore::fuzz
