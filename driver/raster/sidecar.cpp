#include "driver/raster/sidecar.h"

#include <cpl_conv.h>
#include <cpl_minixml.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <gdal_pam.h>
#include <gdal_rat.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "driver/multidim/array.h"
#include "driver/multidim/session.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

constexpr const char* kPam = "PAMDataset";
constexpr const char* kSubdataset = "Subdataset";
constexpr std::uint64_t kUsualBytes = std::uint64_t{16} << 10;  // fetched in the first request
constexpr std::uint64_t kMaxSidecarBytes = std::uint64_t{64} << 20;

bool is_element(const CPLXMLNode* node, const char* name) {
  return node->eType == CXT_Element && EQUAL(node->pszValue, name);
}

SidecarXml new_element(const char* name) {
  return {CPLCreateXMLNode(nullptr, CXT_Element, name), &CPLDestroyXMLNode};
}

bool is_subdataset(const CPLXMLNode* node) {
  return is_element(node, kSubdataset);
}

bool is_named(const CPLXMLNode* subdataset, const std::string& name) {
  return name == CPLGetXMLValue(subdataset, "name", "");
}

// Null if the text is not a sidecar.
SidecarXml parse(const std::string& text, CPLXMLNode*& root) {
  const QuietCall call;
  SidecarXml tree(text.empty() ? nullptr : CPLParseXMLString(text.c_str()), &CPLDestroyXMLNode);
  root = tree ? CPLGetXMLNode(tree.get(), (std::string("=") + kPam).c_str()) : nullptr;
  return tree;
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
  const int count = CSLCount(a);
  if (count != CSLCount(b)) return false;
  for (int i = 0; i < count; ++i) {
    if (std::string_view(a[i]) != b[i]) return false;
  }
  return true;
}

bool are_equal(const GDALRasterAttributeTable& a, GDALRasterAttributeTable* b) {
  if (b == nullptr) return false;
  const auto text = [](const GDALRasterAttributeTable& table) {
    const std::unique_ptr<GDALRasterAttributeTable> copy(table.Clone());
    const std::unique_ptr<CPLXMLNode, decltype(&CPLDestroyXMLNode)> tree(
        copy != nullptr ? copy->Serialize() : nullptr, &CPLDestroyXMLNode);
    const std::unique_ptr<char, decltype(&VSIFree)> xml(
        tree ? CPLSerializeXMLTree(tree.get()) : nullptr, &VSIFree);
    return std::string(xml ? xml.get() : "");
  };
  return text(a) == text(*b);
}

}  // namespace

void copy_sidecar(zarrcore::Store& from, const std::string& from_path, zarrcore::Store& to,
                  const std::string& to_path) {
  constexpr const char* kName = "gdal.aux.xml";
  constexpr std::uint64_t kMaxBytes = 64 << 20;
  if (const auto text = from.get(zarrcore::join_path(from_path, kName), kMaxBytes))
    to.put(zarrcore::join_path(to_path, kName), text->span());
}

std::vector<SidecarXml> take_children(CPLXMLNode* node,
                                      const std::function<bool(CPLXMLNode*)>& test) {
  std::vector<SidecarXml> taken;
  for (CPLXMLNode* child = node->psChild; child != nullptr;) {
    CPLXMLNode* next = child->psNext;
    if (test(child)) {
      CPLRemoveXMLChild(node, child);
      taken.emplace_back(child, &CPLDestroyXMLNode);
    }
    child = next;
  }
  return taken;
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

std::string sidecar_file(const std::string& stem) {
  const char* proxy = PamGetProxy(stem.c_str());
  return proxy != nullptr ? proxy : stem + ".aux.xml";
}

std::string read_sidecar(const std::string& file) {
  const QuietCall call;
  try {
    // In file systems of references, opening a file that is not referenced is an error.
    if (VSIIsLocal(file.c_str()) && !is_file(file)) return {};
    const File opened = open_file(file, kUsualBytes);
    const std::uint64_t size = opened ? file_size(opened.get()) : 0;
    if (size == 0 || size > kMaxSidecarBytes) return {};
    return std::string(read_bytes(opened.get(), 0, size).text());
  } catch (const zarrcore::Error&) {
    return {};  // a server may refuse access to a file that does not exist
  }
}

SidecarXml find_sidecar_part(const std::string& text, const std::string& name) {
  CPLXMLNode* root = nullptr;
  const SidecarXml tree = parse(text, root);
  SidecarXml none(nullptr, &CPLDestroyXMLNode);
  if (root == nullptr) return none;
  std::vector<SidecarXml> subdatasets = take_children(root, is_subdataset);
  if (name.empty()) {
    if (root->psChild == nullptr) return none;
    SidecarXml part = new_element(kPam);
    for (SidecarXml& child : take_children(root, [](const CPLXMLNode*) { return true; })) {
      CPLAddXMLChild(part.get(), child.release());
    }
    return part;
  }
  for (const SidecarXml& subdataset : subdatasets) {
    if (!is_named(subdataset.get(), name)) continue;
    auto parts = take_children(subdataset.get(),
                               [](const CPLXMLNode* node) { return is_element(node, kPam); });
    if (!parts.empty()) return std::move(parts.front());
  }
  return none;
}

SidecarXml replace_sidecar_part(const std::string& text, const std::string& name, SidecarXml part) {
  CPLXMLNode* old_root = nullptr;
  const SidecarXml old_tree = parse(text, old_root);
  SidecarXml root = new_element(kPam);
  const auto move_children = [&](CPLXMLNode* from, const auto& test) {
    for (SidecarXml& child : take_children(from, test)) CPLAddXMLChild(root.get(), child.release());
  };
  if (name.empty() && part) {
    move_children(part.get(), [](const CPLXMLNode* node) { return !is_subdataset(node); });
  }
  if (old_root != nullptr) {
    move_children(old_root, [&](const CPLXMLNode* node) {
      return name.empty() ? is_subdataset(node) : !is_subdataset(node) || !is_named(node, name);
    });
  }
  if (!name.empty() && part) {
    SidecarXml subdataset = new_element(kSubdataset);
    CPLAddXMLAttributeAndValue(subdataset.get(), "name", name.c_str());
    CPLAddXMLChild(subdataset.get(), part.release());
    CPLAddXMLChild(root.get(), subdataset.release());
  }
  if (root->psChild == nullptr) root.reset();
  return root;
}

SidecarXml empty_sidecar_part() {
  SidecarXml part = new_element(kPam);
  CPLCreateXMLNode(part.get(), CXT_Element, "Metadata");
  return part;
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

}  // namespace gdal_zarr
