// Reads and writes the sidecars of a raster's arrays.
#include <cpl_conv.h>
#include <cpl_string.h>
#include <gdal_rat.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "driver/gdal/config_options.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/attribute.h"
#include "driver/raster/raster_band.h"
#include "driver/raster/raster_dataset.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

constexpr const char* kEpoch = "coordinateEpoch";

// GDAL writes ground control points with 13 digits, and their CRS without a coordinate epoch.
void complete_gcps(CPLXMLNode* list, std::span<const GDAL_GCP> points,
                   const OGRSpatialReference* crs) {
  auto point = points.begin();
  for (CPLXMLNode* node = list->psChild; node != nullptr; node = node->psNext) {
    if (node->eType != CXT_Element || !EQUAL(node->pszValue, "GCP") || point == points.end()) {
      continue;
    }
    for (const auto& [name, number] : {std::pair("#Pixel", point->dfGCPPixel),
                                       {"#Line", point->dfGCPLine},
                                       {"#X", point->dfGCPX},
                                       {"#Y", point->dfGCPY},
                                       {"#Z", point->dfGCPZ}}) {
      if (CPLGetXMLValue(node, name + 1, nullptr) == nullptr) continue;
      CPLSetXMLValue(node, name, zarrcore::dump_json(number).c_str());
    }
    ++point;
  }
  if (crs != nullptr && crs->GetCoordinateEpoch() > 0) {
    CPLSetXMLValue(list, (std::string("#") + kEpoch).c_str(),
                   zarrcore::dump_json(crs->GetCoordinateEpoch()).c_str());
  }
}

// GDAL writes all items of the default domain together with the items of other domains. Copies of
// stored items would be out of date once another program changes the attributes.
void remove_items(CPLXMLNode* part, const CPLStringList& items) {
  std::set<std::pair<std::string, std::string>> stored;  // as GDAL splits items for the file
  for (int i = 0; i < items.size(); ++i) {
    char* key = nullptr;
    const char* value = CPLParseNameValue(items[i], &key);
    if (value != nullptr && key != nullptr) stored.emplace(key, value);
    CPLFree(key);
  }
  const auto is_stored = [&](const CPLXMLNode* item) {
    return item->eType == CXT_Element &&
           stored.contains({CPLGetXMLValue(item, "key", ""), CPLGetXMLValue(item, "", "")});
  };
  take_children(part, [&](CPLXMLNode* node) {
    if (node->eType != CXT_Element || !EQUAL(node->pszValue, "Metadata") ||
        CPLGetXMLValue(node, "domain", nullptr) != nullptr) {
      return false;
    }
    take_children(node, is_stored);
    return node->psChild == nullptr;
  });
}

std::string slice_name(const RasterView& view) {
  std::string name;
  if (view.range()) return range_suffix(*view.range());
  if (!view.is_slice()) return name;
  for (const std::uint64_t index : view.other_indexes(0)) name += ':' + std::to_string(index);
  return name;
}

// Copies the domains of metadata except the default one, and those that describe the source's file.
void copy_domains(GDALMajorObject& source, GDALMajorObject& destination) {
  const CPLStringList domains(source.GetMetadataDomainList());
  for (int i = 0; i < domains.size(); ++i) {
    const auto is = [&](const char* domain) { return EQUAL(domains[i], domain); };
    if (is("") || is("IMAGE_STRUCTURE") || is("SUBDATASETS") || is("DERIVED_SUBDATASETS") ||
        is("LocationInfo") || is("GEOREFERENCING_SOURCE") || is("xml:VRT") || is("ICECHUNK")) {
      continue;
    }
    if (auto metadata = source.GetMetadata(domains[i])) {
      destination.SetMetadata(metadata, domains[i]);
    }
  }
}

// Copies a histogram that is stored beside the source. Does not compute one.
void copy_histogram(GDALRasterBand& source, GDALRasterBand& destination) {
  double low = 0;
  double high = 0;
  int count = 0;
  GUIntBig* values = nullptr;
  const CPLErr found =
      source.GetDefaultHistogram(&low, &high, &count, &values, FALSE, nullptr, nullptr);
  const std::unique_ptr<GUIntBig, decltype(&VSIFree)> owned(values, &VSIFree);
  if (found == CE_None && values != nullptr) {
    destination.SetDefaultHistogram(low, high, count, values);
  }
}

bool are_equal(CSLConstList a, CSLConstList b) {
  return std::equal(a, a + CSLCount(a), b, b + CSLCount(b), [](const char* one, const char* other) {
    return std::string_view(one) == other;
  });
}

bool are_equal(const GDALRasterAttributeTable& a, GDALRasterAttributeTable* b) {
  if (b == nullptr) return false;
  const auto text = [](const GDALRasterAttributeTable& table) {
    const std::unique_ptr<GDALRasterAttributeTable> copy(table.Clone());
    const SidecarXml tree(copy != nullptr ? copy->Serialize() : nullptr, &CPLDestroyXMLNode);
    const GdalText xml(tree ? CPLSerializeXMLTree(tree.get()) : nullptr);
    return std::string(xml ? xml.get() : "");
  };
  return text(a) == text(*b);
}

}  // namespace

void copy_sidecar(zarrcore::Store& from, const std::string& from_path, zarrcore::Store& to,
                  const std::string& to_path) {
  constexpr const char* kName = "gdal.aux.xml";
  constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;
  if (const auto text = from.get(zarrcore::join_path(from_path, kName), kMaxBytes))
    to.put(zarrcore::join_path(to_path, kName), text->span());
}

SidecarPlace sidecar_place(const RasterView& view, const std::string& subdataset) {
  const Array& array = view.array();
  const Session& session = *array.session();
  const std::string slice = slice_name(view);
  const std::string in_store = zarrcore::join_path(array.node_path(), "gdal");
  const std::string name = array.GetFullName() + slice;
  const std::string beside = sidecar_file(session.path());
  const zarrcore::Store& store = *session.hierarchy().store();
  const bool is_folder = store.traits().is_folder;
  SidecarPlace place;
  place.stem = is_folder ? join_vsi_path(session.path(), in_store) : session.path();
  place.name = is_folder ? slice : name;
  if (is_folder) place.older.push_back({beside, name});
  if (subdataset != name) place.older.push_back({beside, subdataset});
  // For a folder that was packed into the archive.
  if (is_in_archive(store.description())) {
    place.older.push_back({join_vsi_path(store.description(), in_store + ".aux.xml"), slice});
  }
  return place;
}

void copy_unstored(GDALDataset& source, GDALDataset& destination) {
  if (source.GetGCPCount() > 0) {
    destination.SetGCPs(source.GetGCPCount(), source.GetGCPs(), source.GetGCPSpatialRef());
  }
  copy_domains(source, destination);
}

void copy_unstored(GDALRasterBand& source, GDALRasterBand& destination) {
  if (GDALColorTable* table = source.GetColorTable()) destination.SetColorTable(table);
  // Names of flags are attributes, which are copied with the array.
  if (char** names = source.GetCategoryNames();
      names != nullptr && !are_equal(names, destination.GetCategoryNames())) {
    destination.SetCategoryNames(names);
  }
  if (const auto* table = source.GetDefaultRAT();
      table != nullptr && !are_equal(*table, destination.GetDefaultRAT())) {
    destination.SetDefaultRAT(table);
  }
  copy_domains(source, destination);
  copy_histogram(source, destination);
  CPLStringList metadata;
  const CSLConstList items = source.GetMetadata();
  for (int i = 0; i < CSLCount(items); ++i) {
    // DIM_ items, which state the slice that a band is, follow from the new array.
    if (!STARTS_WITH_CI(items[i], "DIM_")) metadata.AddString(items[i]);
  }
  if (!metadata.empty()) destination.SetMetadata(metadata.List());
}

std::unique_ptr<RasterDataset> RasterDataset::of_new_arrays(RasterView view,
                                                            const std::string& name,
                                                            const std::string& subdataset) {
  const SidecarTexts none;
  auto dataset = std::make_unique<RasterDataset>(std::move(view), name, subdataset,
                                                 kDefaultMetadataSeconds, false, &none);
  dataset->has_new_arrays_ = true;
  // A new store has no sidecars of older versions.
  if (subdataset.empty() || dataset->psPam == nullptr) return dataset;
  for (std::size_t i = 0; i < dataset->view_.arrays().size(); ++i) {
    for (const SidecarPart& older : dataset->place_of_array(i).older) {
      if (!VSIIsLocal(older.file.c_str()) ||
          !find_sidecar_part(read_sidecar(older.file), older.name)) {
        continue;
      }
      dataset->hides_older_sidecar_ = true;
      dataset->MarkPamDirty();
    }
  }
  return dataset;
}

SidecarPlace RasterDataset::place_of_array(std::size_t index) const {
  if (view_.arrays().size() == 1) return sidecar_place(view_, subdataset_);
  const auto& array = view_.arrays()[index];
  return sidecar_place(RasterView(array, view_.x_axis(), view_.y_axis(), {}), array->GetFullName());
}

// Again before each write: an array may have been renamed.
void RasterDataset::set_sidecar_place() {
  sidecar_place_ = place_of_array(0);
  SetPhysicalFilename(sidecar_place_.stem.c_str());
}

std::set<std::string> RasterDataset::sidecars_to_read() const {
  std::set<std::string> files;
  if (psPam == nullptr || const_cast<RasterDataset*>(this)->BuildPamFilename() == nullptr) {
    return files;
  }
  for (std::size_t i = 0; i < view_.arrays().size(); ++i) {
    const SidecarPlace place = place_of_array(i);
    files.insert(sidecar_file(place.stem));
    for (const SidecarPart& older : place.older) files.insert(older.file);
  }
  const char* readdir = config_option(ConfigOption::readdir_on_open);
  if (readdir != nullptr && EQUAL(readdir, "EMPTY_DIR")) {
    std::erase_if(files, [](const std::string& file) { return !VSIIsLocal(file.c_str()); });
  }
  return files;
}

void RasterDataset::load_sidecar() {
  if (psPam == nullptr || view_.arrays().size() > 1) return;
  const SidecarTexts texts = std::exchange(sidecar_texts_, {});
  const auto load = [&](const std::string& file, const std::string& name) {
    const auto text = texts.find(file);
    const SidecarXml part = text == texts.end() ? SidecarXml(nullptr, &CPLDestroyXMLNode)
                                                : find_sidecar_part(text->second, name);
    if (!part) return false;
    const QuietCall call;
    if (XMLInit(part.get(), CPLGetPath(file.c_str())) != CE_None) PamClear();
    if (auto* crs = const_cast<OGRSpatialReference*>(GDALPamDataset::GetGCPSpatialRef())) {
      const std::string epoch = std::string("GCPList.") + kEpoch;
      crs->SetCoordinateEpoch(CPLAtof(CPLGetXMLValue(part.get(), epoch.c_str(), "0")));
    }
    nPamFlags &= ~GPF_DIRTY;
    loaded_sidecar_ = file;
    return true;
  };
  if (load(sidecar_file(sidecar_place_.stem), sidecar_place_.name)) return;
  for (const SidecarPart& older : sidecar_place_.older) {
    if (!load(older.file, older.name)) continue;
    hides_older_sidecar_ = true;
    return;
  }
}

CPLErr RasterDataset::TrySaveXML() {
  nPamFlags &= ~GPF_DIRTY;
  if (psPam == nullptr || (nPamFlags & GPF_NOSAVE) != 0 || view_.arrays().size() > 1 ||
      view_.array().is_deleted()) {
    return CE_None;
  }
  return guarded(CE_Failure, [this] { save_sidecar(); });
}

// Not by PAM, which would remove the file with the parts of others when this one has nothing left.
void RasterDataset::save_sidecar() {
  set_sidecar_place();
  if (BuildPamFilename() == nullptr) return;
  const SidecarPlace& place = sidecar_place_;
  const auto make_part = [&] {
    SidecarXml part(SerializeToXML(nullptr), &CPLDestroyXMLNode);
    if (part) remove_items(part.get(), attribute_items(stored_items()));
    if (CPLXMLNode* list = part ? CPLGetXMLNode(part.get(), "GCPList") : nullptr) {
      const auto count = static_cast<std::size_t>(GDALPamDataset::GetGCPCount());
      complete_gcps(list, {GDALPamDataset::GetGCPs(), count}, GDALPamDataset::GetGCPSpatialRef());
    }
    if (!part && hides_older_sidecar_) part = empty_sidecar_part();
    return part;
  };
  const auto write = [&](const std::string& file) {
    const SidecarXml tree = replace_sidecar_part(read_sidecar(file), place.name, make_part());
    const QuietCall call;
    if (tree) return CPLSerializeXMLTreeToFile(tree.get(), file.c_str()) != FALSE;
    VSIUnlink(file.c_str());
    return true;
  };
  const std::string file = sidecar_file(place.stem);
  // Users do not expect files beside data that is read from a server.
  const bool is_on_server = STARTS_WITH(file.c_str(), "/vsicurl");
  bool is_written = !is_on_server && write(file);
  if (!is_written && PamGetProxy(place.stem.c_str()) == nullptr) {
    if (const char* proxy = PamAllocateProxy(place.stem.c_str())) is_written = write(proxy);
  }
  if (!is_written && !is_on_server) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: %s cannot be written", file.c_str());
  }
}

std::vector<std::string> RasterDataset::sidecar_files() {
  std::vector<std::string> files;
  if (psPam == nullptr || BuildPamFilename() == nullptr) return files;
  for (std::size_t i = 0; i < view_.arrays().size(); ++i) {
    const std::string file = sidecar_file(place_of_array(i).stem);
    if (path_exists(file)) files.push_back(file);
  }
  if (files.empty() && !loaded_sidecar_.empty()) files.push_back(loaded_sidecar_);
  return files;
}

// A raster of several arrays has no sidecar for itself: each array has one, which it also uses when
// it is opened alone.
std::unique_ptr<RasterDataset> RasterDataset::dataset_of_array(std::size_t index) const {
  const auto& array = view_.arrays()[index];
  RasterView view(array, view_.x_axis(), view_.y_axis(), {});
  const std::string name = format_connection_string(array->session()->path(), array->GetFullName());
  SidecarTexts texts = sidecar_texts_;
  if (has_new_arrays_) {
    const std::string own = sidecar_file(place_of_array(index).stem);
    texts[own] = read_sidecar(own);
  }
  auto one = std::make_unique<RasterDataset>(std::move(view), name, array->GetFullName(), 0, false,
                                             texts.empty() ? nullptr : &texts);
  one->hides_older_sidecar_ |= hides_older_sidecar_;
  return one;
}

void RasterDataset::copy_band_to_sidecar(RasterBand& from, RasterBand& to) {
  copy_unstored(from, to);
  int has_nodata = FALSE;  // that no pixel can have, or of complex numbers
  const double nodata = from.GDALPamRasterBand::GetNoDataValue(&has_nodata);
  if (has_nodata != FALSE) to.GDALPamRasterBand::SetNoDataValue(nodata);
  if (const std::string name = from.sidecar_name(); !name.empty()) to.set_sidecar_name(name);
}

void RasterDataset::save_sidecars_of_arrays() {
  nPamFlags &= ~GPF_DIRTY;
  for (std::size_t i = 0; i < view_.arrays().size(); ++i) {
    const auto one = dataset_of_array(i);
    copy_unstored(*this, *one);
    copy_band_to_sidecar(band(static_cast<int>(i) + 1), one->band(1));
    if (hides_older_sidecar_) one->MarkPamDirty();
  }
}

void RasterDataset::load_sidecars_of_arrays() {
  for (std::size_t i = 0; i < view_.arrays().size(); ++i) {
    const auto one = dataset_of_array(i);
    if (i == 0) copy_unstored(*one, *this);
    copy_band_to_sidecar(one->band(1), band(static_cast<int>(i) + 1));
  }
  sidecar_texts_.clear();
  nPamFlags &= ~GPF_DIRTY;
}

}  // namespace gdal_zarr
