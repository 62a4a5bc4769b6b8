#include "driver/multidim/sidecar_file.h"

#include <cpl_conv.h>

#include "driver/gdal/config_options.h"
#include "driver/gdal/messages.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

constexpr const char* kPam = "PAMDataset";
constexpr const char* kRootPath = "=PAMDataset";
constexpr const char* kArrayElement = "ZarrArray";
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
  root = tree ? CPLGetXMLNode(tree.get(), kRootPath) : nullptr;
  return tree;
}

// The tree of the file with scale and offset; null if there is none.
SidecarXml parse_file(const std::string& file, CPLXMLNode*& root) {
  VSIStatBufL status;
  const bool exists = VSIStatL(file.c_str(), &status) == 0;
  SidecarXml tree(exists ? CPLParseXMLFile(file.c_str()) : nullptr, &CPLDestroyXMLNode);
  root = tree ? CPLGetXMLNode(tree.get(), kRootPath) : nullptr;
  return tree;
}

std::optional<double> number(const CPLXMLNode* element, const char* name) {
  const char* text = CPLGetXMLValue(element, name, nullptr);
  return text == nullptr ? std::nullopt : std::optional(CPLAtof(text));
}

}  // namespace

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

void PamValues::load() {
  if (is_loaded_) return;
  is_loaded_ = true;
  CPLXMLNode* root = nullptr;
  const SidecarXml tree = parse_file(sidecar_file(path_), root);
  if (root == nullptr) return;
  for (const CPLXMLNode* child = root->psChild; child != nullptr; child = child->psNext) {
    if (!is_element(child, kArrayElement)) continue;
    values_[CPLGetXMLValue(child, "name", "")] = {number(child, "Scale"), number(child, "Offset")};
  }
}

PamValues::Values PamValues::find(const std::string& array) {
  const std::lock_guard lock(mutex_);
  load();
  const auto it = values_.find(array);
  return it == values_.end() ? Values() : it->second;
}

void PamValues::set(const std::string& array, const Values& values) {
  const std::lock_guard lock(mutex_);
  load();
  const auto it = values_.find(array);
  const Values current = it == values_.end() ? Values() : it->second;
  if (current.scale == values.scale && current.offset == values.offset) return;
  has_changed_ = true;
  if (values.scale || values.offset) {
    values_[array] = values;
  } else {
    values_.erase(array);
  }
}

void PamValues::save() {
  const std::lock_guard lock(mutex_);
  if (!has_changed_) return;
  has_changed_ = false;
  std::string file = sidecar_file(path_);
  CPLXMLNode* root = nullptr;
  SidecarXml tree = parse_file(file, root);
  if (root == nullptr) {
    tree = new_element(kPam);
    root = tree.get();
  }
  take_children(root, [](const CPLXMLNode* node) { return is_element(node, kArrayElement); });
  for (const auto& [array, values] : values_) {
    CPLXMLNode* element = CPLCreateXMLNode(root, CXT_Element, kArrayElement);
    CPLAddXMLAttributeAndValue(element, "name", array.c_str());
    const auto add = [&](const char* name, const std::optional<double>& value) {
      if (value) CPLCreateXMLElementAndValue(element, name, CPLSPrintf("%.17g", *value));
    };
    add("Scale", values.scale);
    add("Offset", values.offset);
  }
  const auto write = [&] { return CPLSerializeXMLTreeToFile(tree.get(), file.c_str()) != FALSE; };
  const auto write_somewhere = [&] {
    const QuietErrors quiet;
    if (write()) return true;
    const char* proxy = PamAllocateProxy(path_.c_str());
    if (proxy != nullptr) file = proxy;
    return proxy != nullptr && write();
  };
  if (!write_somewhere()) {
    report(CE_Failure, CPLE_FileIO, "Zarr: %s: scale and offset of arrays cannot be written",
           file.c_str());
  }
}

bool PamValues::has_file() const {
  // An Icechunk repository holds commits alone.
  if (has_icechunk_prefix(path_)) return false;
  return VSIIsLocal(path_.c_str()) || is_set(ConfigOption::pam_proxy_dir);
}

std::shared_ptr<GDALPamMultiDim> make_pam(const std::string& path,
                                          const std::shared_ptr<PamValues>& values) {
  return {new GDALPamMultiDim(path), [values](GDALPamMultiDim* pam) {
            delete pam;
            guarded(false, [&] { values->save(); });
          }};
}

}  // namespace gdal_zarr
