// Sidecars: files with the XML of GDAL's persistent auxiliary metadata (PAM), in which GDAL stores
// what Zarr cannot express. A file has the <PAMDataset> of one dataset, or a <Subdataset> with one
// for each of several.
//
// A store opened for reading has the file pam.aux.xml for its arrays: GDAL's GDALPamMultiDim stores
// their CRSs and statistics in it, but neither scale nor offset. We add an element for these, which
// GDAL preserves when it writes the file:
//
//   <ZarrArray name="/group/array"><Scale>0.01</Scale><Offset>273.15</Offset></ZarrArray>
#pragma once

#include <cpl_minixml.h>
#include <gdal_pam.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gdal_zarr {

using SidecarXml = std::unique_ptr<CPLXMLNode, decltype(&CPLDestroyXMLNode)>;

// The file of a stem: the stem with ".aux.xml" appended, or a file in the folder of
// GDAL_PAM_PROXY_DIR.
std::string sidecar_file(const std::string& stem);

// Empty if the file does not exist, cannot be read, or is too large. In one request.
std::string read_sidecar(const std::string& file);

// The contents of files by path; empty if the file does not exist.
using SidecarTexts = std::map<std::string, std::string>;

// A <Subdataset> of a file; if the name is empty, what the file has outside of all of them.
struct SidecarPart {
  std::string file;
  std::string name;
};

// Where the sidecar of a raster is. In a store that is a folder, each array has its own in its
// folder, gdal.aux.xml, so that it has the same one by whatever name it is opened, and is moved and
// removed with the array. Other stores have one file beside them, with a part for each array, as
// all stores had in older versions.
struct SidecarPlace {
  std::string stem;  // see sidecar_file()
  std::string name;  // of the part
  // Where older versions and other drivers store it; the first that exists is used.
  std::vector<SidecarPart> older;
};

// Moves the children that pass the test out of a node.
std::vector<SidecarXml> take_children(CPLXMLNode* node,
                                      const std::function<bool(CPLXMLNode*)>& test);

// The <PAMDataset> of a part of a file with this text; null if there is none.
SidecarXml find_sidecar_part(const std::string& text, const std::string& name);

// The content of a file whose text is given, with `part` as its part `name`; without that part if
// it is null. Null if no part is left.
SidecarXml replace_sidecar_part(const std::string& text, const std::string& name, SidecarXml part);

// A part without content, which exists nevertheless.
SidecarXml empty_sidecar_part();

// Scale and offset that programs set on arrays of a store opened for reading.
class PamValues {
 public:
  struct Values {
    std::optional<double> scale;
    std::optional<double> offset;
  };

  // `path` is the path of the file without ".aux.xml".
  explicit PamValues(std::string path) : path_(std::move(path)) {}

  // Returns true if GDAL looks for the file, which would cost requests on the network.
  bool has_file() const;
  // The values of the array with this full name. Reads the file when it is first needed.
  Values find(const std::string& array);
  void set(const std::string& array, const Values& values);
  // Writes the values that were set, after GDAL has written the file. A failure is reported as
  // CE_Failure.
  void save();

 private:
  void load();

  std::string path_;
  std::mutex mutex_;  // guards the members below
  bool is_loaded_ = false;
  bool has_changed_ = false;
  std::map<std::string, Values> values_;  // by full name
};

// GDAL's own part of the file. Its destructor writes the file, and `values` after it.
std::shared_ptr<GDALPamMultiDim> make_pam(const std::string& path,
                                          const std::shared_ptr<PamValues>& values);

}  // namespace gdal_zarr
