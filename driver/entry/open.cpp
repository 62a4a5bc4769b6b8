#include "driver/entry/open.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "driver/entry/zipped_raster.h"
#include "driver/gdal/config_options.h"
#include "driver/gdal/error_guard.h"
#include "driver/gdal/messages.h"
#include "driver/gdal/shape_text.h"
#include "driver/multidim/multidim_dataset.h"
#include "driver/raster/candidates.h"
#include "driver/raster/raster_dataset.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/open_store.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

namespace {

using zarrcore::Error;

// A dataset of nothing but subdatasets.
class ContainerDataset final : public GDALDataset {
 public:
  ContainerDataset(const std::string& name, CPLStringList subdatasets) {
    SetDescription(name.c_str());
    GDALDataset::SetMetadata(subdatasets.List(), "SUBDATASETS");
  }

 protected:
  CPLErr IBuildOverviews(const char* /*resampling*/, int /*count*/, const int* /*factors*/,
                         int /*band_count*/, const int* /*bands*/, GDALProgressFunc /*progress*/,
                         void* /*progress_data*/, CSLConstList /*options*/) override {
    return guarded(CE_Failure, [this]() -> CPLErr {
      throw Error(
          std::string(GetDescription()) +
          " has several rasters, and overviews are built for one of them: " + subdataset_names());
    });
  }

 private:
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

std::string option(const GDALOpenInfo* info, const char* name, const char* fallback) {
  return CSLFetchNameValueDef(info->papszOpenOptions, name, fallback);
}

bool flag(const GDALOpenInfo* info, const char* name, const char* fallback) {
  return CPLTestBool(option(info, name, fallback).c_str());
}

// The dimension that an open option gives by name or index.
std::size_t parse_dimension(const Array& array, const std::string& text) {
  const auto& dimensions = array.GetDimensions();
  const auto named = std::find_if(dimensions.begin(), dimensions.end(), [&](const auto& dimension) {
    return dimension->GetName() == text;
  });
  if (named != dimensions.end()) return static_cast<std::size_t>(named - dimensions.begin());
  std::size_t index = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, index);
  if (error == std::errc() && stop == end && index < dimensions.size()) return index;
  std::string names;
  for (const auto& dimension : dimensions) {
    names += (names.empty() ? "" : ", ") + dimension->GetName();
  }
  throw Error("array " + array.GetFullName() + " has no dimension \"" + text +
              "\"; it has the dimensions " + names);
}

RasterView make_view(const std::shared_ptr<Array>& array, const GDALOpenInfo* info,
                     const std::vector<std::uint64_t>& slice) {
  if (array->GetDataType().GetClass() != GEDTC_NUMERIC) {
    throw Error("array " + array->GetFullName() +
                " does not hold numbers; the multidimensional API can read it");
  }
  const std::size_t rank = array->GetDimensions().size();
  if (rank == 0) return {array, std::nullopt, std::nullopt, slice};
  const std::string x_option = option(info, "DIM_X", "");
  const std::string y_option = option(info, "DIM_Y", "");
  if (rank == 1) return {array, 0, std::nullopt, slice};
  auto [x, y] = array->raster_axes();
  if (!x_option.empty()) x = parse_dimension(*array, x_option);
  if (!y_option.empty()) y = parse_dimension(*array, y_option);
  if (x == y) {
    throw Error("array " + array->GetFullName() + ": the X and Y dimensions are the same");
  }
  return {array, x, y, slice};
}

void add_subdataset(CPLStringList& list, const std::string& name, const std::string& description) {
  const int number = list.size() / 2 + 1;
  list.AddNameValue(CPLSPrintf("SUBDATASET_%d_NAME", number), name.c_str());
  list.AddNameValue(CPLSPrintf("SUBDATASET_%d_DESC", number), description.c_str());
}

GDALDataset* open_candidates(Session& session, const GDALOpenInfo* info,
                             const std::vector<Candidate>& candidates) {
  CPLStringList list;
  for (const Candidate& candidate : candidates) {
    const std::string name = session.full_name(candidate.node_path);
    const char* type = GDALGetDataTypeName(gdal_type(candidate.type).GetNumericDataType());
    add_subdataset(list, format_connection_string(session.path(), name),
                   "[" + shape_text(candidate.shape, "x") + "] " + name + " (" + type + ")");
  }
  return new ContainerDataset(info->pszFilename, std::move(list));
}

// A subdataset for each 2D slice of an array.
GDALDataset* open_slices(const RasterView& view, const GDALOpenInfo* info) {
  const Array& array = view.array();
  const std::string name = format_connection_string(array.session()->path(), array.GetFullName());
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
    add_subdataset(list, name + slice, array.GetFullName() + " at " + description);
  }
  return new ContainerDataset(info->pszFilename, std::move(list));
}

// GDAL's own option for arrays of more dimensions, or its configuration.
double metadata_seconds(const GDALOpenInfo* info) {
  const std::string text =
      option(info, "LOAD_EXTRA_DIM_METADATA_DELAY", config_option(ConfigOption::metadata_delay));
  return EQUAL(text.c_str(), "unlimited") ? HUGE_VAL : CPLAtof(text.c_str());
}

GDALDataset* open_array(const std::shared_ptr<Array>& array, const GDALOpenInfo* info,
                        const ConnectionString& connection, bool is_one_of_several) {
  RasterView view = make_view(array, info, connection.slice);
  const bool has_bands = !view.other_axes().empty() && connection.slice.empty();
  if (has_bands && !flag(info, "MULTIBAND", "YES")) return open_slices(view, info);
  std::string subdataset = is_one_of_several ? array->GetFullName() : std::string();
  for (const std::uint64_t index : connection.slice) subdataset += ':' + std::to_string(index);
  return new RasterDataset(std::move(view), info->pszFilename, subdataset, metadata_seconds(info));
}

// The rasters of a store when they are bands of one, in their order: then the root says so.
std::vector<std::shared_ptr<Array>> find_bands(Session& session,
                                               const std::vector<Candidate>& candidates) {
  const auto attributes = session.attributes("", zarrcore::NodeKind::group);
  const zarrcore::Json* names = zarrcore::find_member(*attributes, kBandsAttribute);
  if (names == nullptr || !names->is_array() || names->size() != candidates.size()) return {};
  std::vector<std::shared_ptr<Array>> arrays;
  std::set<std::string> paths;
  for (const zarrcore::Json& name : *names) {
    const auto found =
        std::find_if(candidates.begin(), candidates.end(),
                     [&](const Candidate& candidate) { return name == candidate.node_path; });
    if (found == candidates.end() || !paths.insert(found->node_path).second ||
        found->shape.size() != 2 || found->shape != candidates.front().shape ||
        found->type != candidates.front().type) {
      return {};
    }
    arrays.push_back(session.array(found->node_path));
  }
  return arrays;
}

bool is_array(const Session& session, const std::string& name) {
  return session.hierarchy().has(session.node_path(name), zarrcore::NodeKind::array);
}

// Numbers after a name that no array has are the end of the name, if that makes it one's.
ConnectionString settle_name(const Session& session, const ConnectionString& connection) {
  ConnectionString longer = connection;
  while (!longer.slice.empty() && !is_array(session, *longer.array)) {
    *longer.array += ':' + std::to_string(longer.slice.front());
    longer.slice.erase(longer.slice.begin());
  }
  return is_array(session, *longer.array) ? longer : connection;
}

std::shared_ptr<Array> find_array(Session& session, const std::string& name) {
  const std::string path = session.node_path(name);
  if (!session.hierarchy().has(path, zarrcore::NodeKind::array)) {
    const bool is_group = session.hierarchy().has(path, zarrcore::NodeKind::group);
    throw Error(session.path() + ": array " + name + " is not there" +
                (is_group ? ": a group has this name" : ""));
  }
  return session.array(path);
}

GDALDataset* open_raster(Session& session, const GDALOpenInfo* info,
                         const ConnectionString& connection) {
  if (connection.array) {
    const ConnectionString settled = settle_name(session, connection);
    return open_array(find_array(session, *settled.array), info, settled, !session.root_is_array());
  }
  const bool lists_all = flag(info, "LIST_ALL_ARRAYS", "NO");
  const auto candidates = find_candidates(session, lists_all);
  if (candidates.empty()) {
    throw Error(session.path() + " has no array that can be shown as a raster");
  }
  if (candidates.size() > 1) {
    const bool is_multiband = !lists_all && flag(info, "MULTIBAND", "YES");
    const auto bands =
        is_multiband ? find_bands(session, candidates) : std::vector<std::shared_ptr<Array>>();
    if (bands.empty()) return open_candidates(session, info, candidates);
    auto dataset = std::make_unique<RasterDataset>(RasterView(bands), info->pszFilename, "",
                                                   metadata_seconds(info));
    dataset->load_beside_arrays();
    return dataset.release();
  }
  return open_array(session.array(candidates.front().node_path), info, connection, false);
}

// Where the locks of a store are; empty for none.
std::string lock_folder(const std::string& store_path, const std::string& option) {
  if (EQUAL(option.c_str(), "YES")) {
    if (STARTS_WITH(store_path.c_str(), "/vsi")) {
      throw Error(store_path + ": for a store that is no local folder, LOCKS names a local folder");
    }
    return store_path + ".sync";
  }
  if (EQUAL(option.c_str(), "NO")) return {};
  return option;
}

// Whether a metadata document in an archive is to be opened as a raster.
bool is_zipped_document(const GDALOpenInfo* info) {
  return STARTS_WITH(info->pszFilename, "/vsizip/") && info->nHeaderBytes > 0 &&
         (info->nOpenFlags & GDAL_OF_MULTIDIM_RASTER) == 0 &&
         is_metadata_file(CPLGetFilename(info->pszFilename));
}

// Whether the file that is being opened is a document of a Zarr, whose folder is the store.
bool is_metadata_document(const GDALOpenInfo* info) {
  const std::string file_name = CPLGetFilename(info->pszFilename);
  if (is_zipped_document(info)) return find_zipped_raster(info->pszFilename).has_value();
  // Attributes may hold anything, and v1's names are common: what stands beside them tells.
  if (file_name == ".zattrs" || file_name == "meta") {
    return is_zarr_folder(CPLGetPath(info->pszFilename));
  }
  return is_metadata_file(file_name) &&
         strstr(reinterpret_cast<const char*>(info->pabyHeader), "zarr_") != nullptr;
}

bool is_zarr(GDALOpenInfo* info) {
  if (has_prefix(info->pszFilename) || has_reference_prefix(info->pszFilename)) return true;
  if (info->nHeaderBytes > 0) return is_metadata_document(info) || is_packed_store(info);
  // Folders of network file systems cannot always be told to be there: there the extension decides
  // whether to look at all.
  const bool may_be_folder =
      info->bIsDirectory ||
      (STARTS_WITH(info->pszFilename, "/vsi") && EQUAL(CPLGetExtension(info->pszFilename), "zarr"));
  return may_be_folder && (is_zarr_folder(info->pszFilename) || is_packed_store(info));
}

}  // namespace

int identify(GDALOpenInfo* info) {
  return guarded(FALSE, [&] { return is_zarr(info) ? TRUE : FALSE; });
}

GDALDataset* open(GDALOpenInfo* info) {
  return guarded<GDALDataset*>(nullptr, [&]() -> GDALDataset* {
    const bool is_zipped = is_zipped_document(info);
    const auto zipped = is_zipped ? find_zipped_raster(info->pszFilename) : std::nullopt;
    if (is_zipped ? !zipped : !is_zarr(info)) return nullptr;
    const ConnectionString connection =
        zipped ? *zipped : parse_connection_string(info->pszFilename);
    if (flag(info, "CACHE_KERCHUNK_JSON", "NO")) {
      report(CE_Warning, CPLE_NotSupported,
             "Zarr: the open option CACHE_KERCHUNK_JSON has no effect");
    }
    SessionOptions options;
    options.is_writable = info->eAccess == GA_Update;
    options.lock_folder = lock_folder(connection.store_path, option(info, "LOCKS", "NO"));
    options.use_consolidated = CPLTestBool(
        option(info, "USE_CONSOLIDATED_METADATA", option(info, "USE_ZMETADATA", "YES").c_str())
            .c_str());
    options.list_chunks = flag(info, "CACHE_TILE_PRESENCE", "NO");
    const auto session = Session::open(connection.store_path, options);
    if (options.is_writable) session->hierarchy().store()->remove_leftovers();
    if ((info->nOpenFlags & GDAL_OF_MULTIDIM_RASTER) != 0) {
      return new MultidimDataset(session, info->pszFilename);
    }
    return open_raster(*session, info, connection);
  });
}

}  // namespace gdal_zarr
