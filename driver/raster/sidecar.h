// Where GDAL stores metadata of a raster that Zarr cannot express: in a sidecar, a file with the
// XML of GDAL's persistent auxiliary metadata (PAM). In a store that is a folder, each array has
// its own in its folder, gdal.aux.xml, so that it has the same one by whatever name it is opened,
// and is moved and removed with the array. Other stores have one file beside them, with a part for
// each array, as all stores had in older versions.
#pragma once

#include <cpl_minixml.h>
#include <gdal_priv.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

using SidecarXml = std::unique_ptr<CPLXMLNode, decltype(&CPLDestroyXMLNode)>;
// The contents of sidecar files by path; empty if the file does not exist.
using SidecarTexts = std::map<std::string, std::string>;

// A <Subdataset> of a file; if the name is empty, what the file has outside of all of them.
struct SidecarPart {
  std::string file;
  std::string name;
};

struct SidecarPlace {
  // The file is this with ".aux.xml" appended, or a file that GDAL has in a folder of proxies.
  std::string stem;
  std::string name;  // of the part
  // Where older versions and other drivers store it; the first that exists is used.
  std::vector<SidecarPart> older;
};

// The sidecar of a raster of one array. `subdataset` is the name of its part in older versions;
// empty if it was outside of all parts.
SidecarPlace sidecar_place(const RasterView& view, const std::string& subdataset);

// The file of a stem.
std::string sidecar_file(const std::string& stem);

// Empty if the file does not exist, cannot be read, or is too large. In one request.
std::string read_sidecar(const std::string& file);

// Copies the sidecar of the array at `from_path`, if it has one, to the array at `to_path`. Both
// stores are folders. Throws zarrcore::Error.
void copy_sidecar(zarrcore::Store& from, const std::string& from_path, zarrcore::Store& to,
                  const std::string& to_path);

// Moves the children that pass the test out of a node.
std::vector<SidecarXml> take_children(CPLXMLNode* node,
                                      const std::function<bool(CPLXMLNode*)>& test);

// The <PAMDataset> of a part; null if there is none.
SidecarXml find_sidecar_part(const std::string& text, const std::string& name);

// The content of a file whose text is given, with `part` as its part `name`; without that part if
// it is null. Null if no part is left.
SidecarXml replace_sidecar_part(const std::string& text, const std::string& name, SidecarXml part);

// A part without content, which exists nevertheless.
SidecarXml empty_sidecar_part();

// Copies what Zarr cannot express. GDAL stores it in the sidecar, an .aux.xml file beside the
// store.

// Ground control points, and metadata of other domains than the default one.
void copy_unstored(GDALDataset& source, GDALDataset& destination);

// Copies metadata, colour table, names of categories, attribute table, and a stored histogram.
void copy_unstored(GDALRasterBand& source, GDALRasterBand& destination);

}  // namespace gdal_zarr
