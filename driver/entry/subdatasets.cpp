#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "driver/conventions/gdal_attributes.h"
#include "driver/entry/open.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/attribute.h"
#include "driver/multidim/group.h"
#include "driver/raster/candidates.h"
#include "driver/stores/connection_string.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

class ContainerDataset final : public SessionDataset {
 public:
  // `attributes`: those of the root group, or of the array whose slices are the subdatasets.
  ContainerDataset(std::shared_ptr<Session> session, const std::string& name,
                   CPLStringList subdatasets, const zarrcore::Json& attributes, bool is_of_root)
      : SessionDataset(std::move(session), name), is_of_root_(is_of_root) {
    GDALDataset::SetMetadata(subdatasets.List(), "SUBDATASETS");
    CPLStringList metadata = attribute_items(shown_attributes(attributes));
    if (!metadata.empty()) GDALDataset::SetMetadata(metadata.List());
  }

  CPLErr SetMetadataItem(const char* name, const char* value, const char* domain) override {
    const bool is_stored = is_of_root_ && this->session().is_writable() && name != nullptr &&
                           (domain == nullptr || domain[0] == '\0');
    if (!is_stored) return SessionDataset::SetMetadataItem(name, value, domain);
    return guarded(CE_Failure, [&] {
      if (shown_attributes({{name, ""}}).empty()) {
        throw zarrcore::Error(std::string(name) + " cannot be set by a metadata item");
      }
      this->session().change_attributes("", [&](zarrcore::Json& attributes) {
        value != nullptr ? void(attributes[name] = value) : void(attributes.erase(name));
      });
      return GDALDataset::SetMetadataItem(name, value);
    });
  }

 protected:
  CPLErr IBuildOverviews(const char* /*resampling*/, int /*count*/, const int* /*factors*/,
                         int /*band_count*/, const int* /*bands*/, GDALProgressFunc /*progress*/,
                         void* /*progress_data*/, CSLConstList /*options*/) override {
    return guarded(CE_Failure, [this]() -> CPLErr {
      throw zarrcore::Error(
          std::string(GetDescription()) +
          " has several rasters; build overviews for one of them: " + subdataset_names());
    });
  }

 private:
  bool is_of_root_;

  // The first ones, if there are many.
  std::string subdataset_names() {
    constexpr int kMaxNames = 10;
    const CPLStringList list(CSLDuplicate(GDALDataset::GetMetadata("SUBDATASETS")));
    std::string names;
    for (int number = 1; number <= list.size() / 2; ++number) {
      if (number > 1) names += ", ";
      if (number > kMaxNames) return names + "…";
      names += list.FetchNameValueDef(CPLSPrintf("SUBDATASET_%d_NAME", number), "");
    }
    return names;
  }
};

void add_subdataset(CPLStringList& list, const std::string& name, const std::string& description) {
  const int number = list.size() / 2 + 1;
  list.AddNameValue(CPLSPrintf("SUBDATASET_%d_NAME", number), name.c_str());
  list.AddNameValue(CPLSPrintf("SUBDATASET_%d_DESC", number), description.c_str());
}

}  // namespace

CPLStringList subdataset_items(const Session& session, const std::vector<Candidate>& candidates) {
  CPLStringList list;
  for (const Candidate& candidate : candidates) {
    const std::string array = session.full_name(candidate.node_path);
    const char* type = GDALGetDataTypeName(gdal_type(candidate.type).GetNumericDataType());
    add_subdataset(
        list, format_connection_string(session.path(), array),
        "[" + zarrcore::shape_text(candidate.shape, "x") + "] " + array + " (" + type + ")");
  }
  return list;
}

GDALDataset* list_arrays(Session& session, const std::vector<Candidate>& candidates,
                         const std::string& name) {
  CPLStringList list = subdataset_items(session, candidates);
  for (const GroupRaster& raster : find_group_rasters(session, candidates)) {
    const std::string group = session.full_name(raster.group);
    const char* type = GDALGetDataTypeName(gdal_type(raster.type).GetNumericDataType());
    add_subdataset(list, format_connection_string(session.path(), group),
                   "[" + std::to_string(raster.bands) + "x" +
                       zarrcore::shape_text(raster.shape, "x") + "] " + group + " (" + type +
                       "), a band for each array");
  }
  return new ContainerDataset(session.shared_from_this(), name, std::move(list),
                              *session.attributes(""), !session.root_is_array());
}

GDALDataset* list_ranges(const Array& array, std::uint64_t slices, const std::string& name) {
  constexpr std::uint64_t kMaxRanges = 1000;
  constexpr std::uint64_t kBands = RasterView::kMaxBands;
  const std::string array_name =
      format_connection_string(array.session()->path(), array.GetFullName());
  CPLStringList list;
  for (std::uint64_t i = 0; i < kMaxRanges && i * kBands < slices; ++i) {
    const BandRange range{i * kBands + 1, std::min(slices, (i + 1) * kBands)};
    add_subdataset(list, array_name + range_suffix(range),
                   array.GetFullName() + ", slices " + std::to_string(range.first) + " to " +
                       std::to_string(range.last) + " of " + std::to_string(slices));
  }
  return new ContainerDataset(array.session(), name, std::move(list), array.attributes(), false);
}

GDALDataset* list_slices(const RasterView& view, const std::string& name) {
  const Array& array = view.array();
  const std::string array_name =
      format_connection_string(array.session()->path(), array.GetFullName());
  CPLStringList list;
  for (int band = 0; band < view.band_count(); ++band) {
    std::string slice;
    std::string description;
    const auto indexes = view.other_indexes(band);
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      slice += ':' + std::to_string(indexes[i]);
      description += (i == 0 ? "" : ", ") + array.GetDimensions()[view.other_axes()[i]]->GetName() +
                     '=' + std::to_string(indexes[i]);
    }
    add_subdataset(list, array_name + slice, array.GetFullName() + " at " + description);
  }
  return new ContainerDataset(array.session(), name, std::move(list), array.attributes(), false);
}

}  // namespace gdal_zarr
