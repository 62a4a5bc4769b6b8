#include "driver/raster/sidecar.h"

#include <cpl_minixml.h>
#include <cpl_string.h>
#include <gdal_rat.h>

#include <memory>
#include <string>
#include <string_view>

namespace gdal_zarr {
namespace {

// Copies the domains of metadata except the default one, and those that describe the source's file.
void copy_domains(GDALMajorObject& source, GDALMajorObject& destination) {
  const CPLStringList domains(source.GetMetadataDomainList());
  for (int i = 0; i < domains.size(); ++i) {
    const auto is = [&](const char* domain) { return EQUAL(domains[i], domain); };
    if (is("") || is("IMAGE_STRUCTURE") || is("SUBDATASETS") || is("DERIVED_SUBDATASETS") ||
        is("LocationInfo") || is("GEOREFERENCING_SOURCE") || is("xml:VRT")) {
      continue;
    }
    if (auto metadata = source.GetMetadata(domains[i])) {
      destination.SetMetadata(metadata, domains[i]);
    }
  }
}

// Only one that is kept beside the source: none is computed.
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

void copy_unstored(GDALDataset& source, GDALDataset& destination) {
  if (source.GetGCPCount() > 0) {
    destination.SetGCPs(source.GetGCPCount(), source.GetGCPs(), source.GetGCPSpatialRef());
  }
  copy_domains(source, destination);
}

void copy_unstored(GDALRasterBand& source, GDALRasterBand& destination) {
  if (GDALColorTable* table = source.GetColorTable()) destination.SetColorTable(table);
  // Those of flags, which are attributes, come with the array.
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
    // DIM_ items, which say what slice a band is, follow from the new array.
    if (!STARTS_WITH_CI(items[i], "DIM_")) metadata.AddString(items[i]);
  }
  if (!metadata.empty()) destination.SetMetadata(metadata.List());
}

}  // namespace gdal_zarr
