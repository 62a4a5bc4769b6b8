#include "driver/multidim/pam_values.h"

#include <cpl_conv.h>
#include <cpl_minixml.h>

#include "driver/gdal/config_options.h"
#include "driver/gdal/error_guard.h"
#include "driver/gdal/messages.h"
#include "driver/stores/icechunk/open_icechunk.h"

namespace gdal_zarr {
namespace {

constexpr const char* kElement = "ZarrArray";

using Xml = std::unique_ptr<CPLXMLNode, decltype(&CPLDestroyXMLNode)>;

// Null if there is no such file.
Xml read_xml(const std::string& path) {
  VSIStatBufL status;
  const bool exists = VSIStatL(path.c_str(), &status) == 0;
  return {exists ? CPLParseXMLFile(path.c_str()) : nullptr, &CPLDestroyXMLNode};
}

// The file of GDAL: beside the store, or in the folder of GDAL_PAM_PROXY_DIR.
std::string find_file(const std::string& path) {
  const char* proxy = PamGetProxy(path.c_str());
  return proxy != nullptr ? proxy : path + ".aux.xml";
}

std::optional<double> number(const CPLXMLNode* element, const char* name) {
  const char* text = CPLGetXMLValue(element, name, nullptr);
  return text == nullptr ? std::nullopt : std::optional(CPLAtof(text));
}

bool is_ours(const CPLXMLNode* node) {
  return node->eType == CXT_Element && EQUAL(node->pszValue, kElement);
}

void remove_ours(CPLXMLNode* root) {
  CPLXMLNode* child = root->psChild;
  while (child != nullptr) {
    CPLXMLNode* next = child->psNext;
    if (is_ours(child)) {
      CPLRemoveXMLChild(root, child);
      CPLDestroyXMLNode(child);
    }
    child = next;
  }
}

}  // namespace

void PamValues::load() {
  if (is_loaded_) return;
  is_loaded_ = true;
  const Xml xml = read_xml(find_file(path_));
  const CPLXMLNode* root = xml ? CPLGetXMLNode(xml.get(), "=PAMDataset") : nullptr;
  if (root == nullptr) return;
  for (const CPLXMLNode* child = root->psChild; child != nullptr; child = child->psNext) {
    if (!is_ours(child)) continue;
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
  std::string file = find_file(path_);
  Xml xml = read_xml(file);
  CPLXMLNode* root = xml ? CPLGetXMLNode(xml.get(), "=PAMDataset") : nullptr;
  if (root == nullptr) {
    xml.reset(CPLCreateXMLNode(nullptr, CXT_Element, "PAMDataset"));
    root = xml.get();
  }
  remove_ours(root);
  for (const auto& [array, values] : values_) {
    CPLXMLNode* element = CPLCreateXMLNode(root, CXT_Element, kElement);
    CPLAddXMLAttributeAndValue(element, "name", array.c_str());
    const auto add = [&](const char* name, const std::optional<double>& value) {
      if (value) CPLCreateXMLElementAndValue(element, name, CPLSPrintf("%.17g", *value));
    };
    add("Scale", values.scale);
    add("Offset", values.offset);
  }
  const auto write = [&] { return CPLSerializeXMLTreeToFile(xml.get(), file.c_str()) != FALSE; };
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
            guarded(false, [&] {
              values->save();
              return true;
            });
          }};
}

}  // namespace gdal_zarr
