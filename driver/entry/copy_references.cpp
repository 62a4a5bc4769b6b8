#include "driver/entry/copy_references.h"

#include <cpl_string.h>

#include <string>
#include <string_view>

#include "driver/entry/manage.h"
#include "driver/gdal/partial_progress.h"
#include "driver/new_array/creation_options.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/open_store.h"
#include "driver/stores/references/reference_store.h"
#include "driver/stores/references/reference_writer.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

constexpr std::string_view kSourcePrefix = "ZARR_DUMMY:";

class ReferenceSource final : public GDALDataset {
 public:
  ReferenceSource() {
    nRasterXSize = 0;
    nRasterYSize = 0;
  }
};

// The path of the document of references that `dataset` was opened from.
std::string reference_document(GDALDataset& dataset) {
  const std::string name = dataset.GetDescription();
  if (const GDALDriver* driver = dataset.GetDriver();
      driver == nullptr || !EQUAL(driver->GetDescription(), "Zarr")) {
    throw Error(name + " is not a JSON document of Kerchunk references");
  }
  const bool is_source = is_reference_source(name.c_str());
  const std::string path =
      parse_connection_string(is_source ? name.substr(kSourcePrefix.size()) : name).store_path;
  if (has_reference_prefix(path)) {
    const ReferencePath parts = parse_reference_path(path);
    if (parts.kind != ReferenceKind::parquet) return parts.document;
  } else if (is_json_references(path)) {
    return path;
  }
  throw Error(path + " is not a JSON document of Kerchunk references");
}

}  // namespace

bool is_reference_source(const char* name) {
  return STARTS_WITH(name, kSourcePrefix.data());
}

GDALDataset* open_reference_source() {
  return new ReferenceSource;
}

bool copies_references(CSLConstList options) {
  return CPLFetchBool(options, "CONVERT_TO_KERCHUNK_PARQUET_REFERENCE", false);
}

void check_copies_no_references(CSLConstList options) {
  if (!copies_references(options)) return;
  throw Error("CONVERT_TO_KERCHUNK_PARQUET_REFERENCE is an option of copies, as by gdal_translate");
}

GDALDataset* copy_references(const char* name, GDALDataset& source, CSLConstList options,
                             GDALProgressFunc progress, void* progress_data) {
  warn_of_unused_options(options, kAllOptions);
  const std::string folder = new_store_path(name, CreationOptions(options, kAllOptions));
  const std::string document = reference_document(source);
  check_can_be_created(folder, "references are not added to it");
  const PartialProgress report_progress(0.0, 1.0, progress, progress_data);
  const auto go_on = [&](double done) { return report_progress(done); };
  if (!convert_references(document, folder, go_on)) return nullptr;
  const unsigned kind = source.GetRootGroup() != nullptr ? GDAL_OF_MULTIDIM_RASTER : GDAL_OF_RASTER;
  return GDALDataset::Open(folder.c_str(), kind | GDAL_OF_VERBOSE_ERROR);
}

}  // namespace gdal_zarr
