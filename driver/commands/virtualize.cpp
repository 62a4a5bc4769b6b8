#include <cpl_conv.h>
#include <cpl_string.h>
#include <ogrsf_frmts.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/commands/examined.h"
#include "driver/entry/create.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/virtual/cube.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

using zarrcore::Error;

namespace {

using Names = std::vector<std::string>;

constexpr double kOpening = 0.9;  // of the time

void add_listed(const std::string& list, Names& files) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;
  const File file = open_file(list);
  if (!file) throw Error(list + " cannot be opened");
  const std::uint64_t size = file_size(file.get());
  if (size > kMaxBytes) throw Error(list + " is too long for a list of files");
  const zarrcore::Buffer bytes = read_bytes(file.get(), 0, size);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string_view rest = bytes.text();
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) files.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// The field is that of gdaltindex, or the one that the index names for GDAL's driver GTI, which
// looks for files beside the index first as well.
void add_indexed(const std::string& index, Names& files) {
  const std::unique_ptr<GDALDataset> dataset(
      GDALDataset::Open(index.c_str(), GDAL_OF_VECTOR | GDAL_OF_VERBOSE_ERROR));
  OGRLayer* const layer = dataset ? dataset->GetLayer(0) : nullptr;
  if (layer == nullptr) throw Error(index + " is not a tile index");
  const char* const named = layer->GetMetadataItem("LOCATION_FIELD");
  const std::string field = named != nullptr ? named : "location";
  const int number = layer->GetLayerDefn()->GetFieldIndex(field.c_str());
  if (number < 0) throw Error(index + " has no field " + field + " with the names of files");
  const std::string folder = std::string(CPLGetPath(index.c_str())) + '/';
  for (const auto& feature : *layer) {
    const std::string name = feature->GetFieldAsString(number);
    if (name.empty()) throw Error(index + ": a feature names no file");
    const bool is_relative = CPLIsFilenameRelative(name.c_str()) != FALSE;
    files.push_back(is_relative && path_exists(folder + name) ? folder + name : name);
  }
}

// What one input becomes: all of its arrays, or its raster.
GDALDataset* virtualize_one(const std::string& store, const std::string& input,
                            CPLStringList options, const std::string& array,
                            const CommandProgress& progress) {
  std::unique_ptr<GDALDataset> source(
      GDALDataset::Open(input.c_str(), GDAL_OF_RASTER | GDAL_OF_MULTIDIM_RASTER));
  if (source && source->GetRasterCount() > 0) {
    options.SetNameValue("ARRAY_NAME", array.empty() ? "data" : array.c_str());
  } else {
    source.reset(GDALDataset::Open(input.c_str(), GDAL_OF_MULTIDIM_RASTER | GDAL_OF_VERBOSE_ERROR));
    if (!source) throw Error(input + " cannot be opened: " + CPLGetLastErrorMsg());
    if (!array.empty()) throw Error(input + ": its arrays keep their names, without --var");
  }
  return create_copy(store.c_str(), source.get(), TRUE, options.List(), call_progress,
                     as_progress_data(progress));
}

}  // namespace

CommandResult run_virtualize(const Arguments& arguments, const CommandProgress& progress) {
  const std::string store = arguments.text("store");
  Names files = arguments.list("inputs");
  if (arguments.has("list")) add_listed(arguments.text("list"), files);
  if (arguments.has("index")) add_indexed(arguments.text("index"), files);
  if (files.empty()) throw Error("there are no inputs");
  for (std::string& file : files) file = path_of_url(file);
  if (!is_icechunk_name(store) && path_exists(store)) {
    throw Error(store + " already exists");
  }
  CubeOptions cube;
  cube.array_name = arguments.text("var");
  cube.dimension = arguments.text("dim");
  cube.time_pattern = arguments.text("time-pattern");
  cube.time_item = arguments.text("time-item");
  cube.leaves_others = arguments.has("auto");
  CPLStringList options;
  options.SetNameValue("VIRTUAL", cube.leaves_others ? "AUTO" : "YES");
  if (arguments.has("relative")) options.SetNameValue("LOCATIONS", "RELATIVE");
  if (arguments.has("overwrite")) options.SetNameValue("OVERWRITE", "YES");
  if (arguments.has("v3")) options.SetNameValue("FORMAT", "ZARR_V3");
  CPLErrorReset();
  const auto has_messages = [&] {
    GDALDriverH const driver = GDALIdentifyDriver(files[0].c_str(), nullptr);
    return driver != nullptr && EQUAL(GDALGetDescription(driver), "GRIB");
  };
  const bool is_cube = files.size() > 1 || !cube.dimension.empty() || !cube.time_pattern.empty() ||
                       !cube.time_item.empty() || has_messages();
  std::unique_ptr<GDALDataset> made;
  if (!is_cube) {
    made.reset(virtualize_one(store, files[0], options, arguments.text("var"), progress));
  } else {
    const auto source =
        make_cube(files, cube, [&](double done) { return progress(kOpening * done); });
    const CommandProgress rest = [&](double done) {
      return progress(kOpening + (1 - kOpening) * done);
    };
    made.reset(copy_hierarchy(store.c_str(), *source, true, options.List(), call_progress,
                              as_progress_data(rest)));
  }
  if (!made) throw Error(store + ": " + CPLGetLastErrorMsg());
  made.reset();
  if (CPLGetLastErrorType() >= CE_Failure) throw Error(store + ": " + CPLGetLastErrorMsg());
  return {{{"store", store}, {"inputs", files.size()}},
          store + " refers to " + count_of(files.size(), "input") + '\n'};
}

}  // namespace gdal_zarr
