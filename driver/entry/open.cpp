#include "driver/entry/open.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "driver/entry/create.h"
#include "driver/gdal/config_options.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/group.h"
#include "driver/raster/candidates.h"
#include "driver/raster/raster_dataset.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/open_store.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {

namespace {

using zarrcore::Error;

// The arguments of a call that opens a dataset.
struct OpenCall {
  std::string name;
  ConnectionString connection;
  OptionValues options;
};

// The dimension that an open option gives by name or index.
std::size_t parse_dimension(const Array& array, const std::string& text) {
  const auto& dimensions = array.GetDimensions();
  const auto named = std::ranges::find_if(
      dimensions, [&](const auto& dimension) { return dimension->GetName() == text; });
  if (named != dimensions.end()) return static_cast<std::size_t>(named - dimensions.begin());
  const auto index = zarrcore::parse_number<std::size_t>(text);
  if (index && *index < dimensions.size()) return *index;
  std::string names;
  for (const auto& dimension : dimensions) {
    names += (names.empty() ? "" : ", ") + dimension->GetName();
  }
  throw Error("array " + array.GetFullName() + " has no dimension \"" + text +
              "\"; it has the dimensions " + names);
}

// The bands that the name or the open option chooses.
std::optional<BandRange> band_range(const OpenCall& call) {
  const std::string text(call.options.text("BAND_RANGE"));
  if (text.empty()) return call.connection.range;
  if (call.connection.range) {
    throw Error("the name says which bands to open, so the open option BAND_RANGE must not");
  }
  const auto range = parse_band_range(text, ':');
  if (range) return range;
  throw Error("open option BAND_RANGE is \"" + text +
              "\", not the first and the last band, counted from 1, such as 1:100");
}

RasterView make_view(const std::shared_ptr<Array>& array, const OpenCall& call,
                     const std::vector<std::uint64_t>& slice) {
  if (array->GetDataType().GetClass() != GEDTC_NUMERIC) {
    throw Error("array " + array->GetFullName() +
                " does not hold numbers; the multidimensional API can read it");
  }
  const std::size_t rank = array->GetDimensions().size();
  const auto range = band_range(call);
  if (rank == 0) return {array, std::nullopt, std::nullopt, slice, range};
  const std::string x_option(call.options.text("DIM_X"));
  const std::string y_option(call.options.text("DIM_Y"));
  if (rank == 1) return {array, 0, std::nullopt, slice, range};
  auto [x, y] = array->raster_axes();
  if (!x_option.empty()) x = parse_dimension(*array, x_option);
  if (!y_option.empty()) y = parse_dimension(*array, y_option);
  if (x == y) {
    throw Error("array " + array->GetFullName() + ": the X and Y dimensions are the same");
  }
  return {array, x, y, slice, range};
}

// The open option of GDAL's multidimensional view, or its configuration option.
double metadata_seconds(const OpenCall& call) {
  constexpr const char* kOption = "LOAD_EXTRA_DIM_METADATA_DELAY";
  if (!call.options.is_given(kOption)) {
    const char* text = config_option(ConfigOption::metadata_delay);
    return EQUAL(text, "unlimited") ? HUGE_VAL : CPLAtof(text);
  }
  const std::string text(call.options.text(kOption));
  if (EQUAL(text.c_str(), "unlimited")) return HUGE_VAL;
  const auto seconds = zarrcore::parse_number<double>(text);
  if (!seconds) {
    throw Error("open option " + std::string(kOption) + " is \"" + text +
                "\", not a number of seconds or unlimited");
  }
  return *seconds;
}

bool turns_north_up(const Session& session, const OpenCall& call) {
  if (!call.options.boolean("NORTH_UP")) return false;
  if (session.is_writable()) throw Error("the open option NORTH_UP is for reading only");
  return true;
}

void refuse_band_range(const OpenCall& call, const char* where) {
  if (band_range(call)) {
    throw Error(call.name + ": a range of bands is for the slices of one array, not " + where);
  }
}

GDALDataset* open_array(const std::shared_ptr<Array>& array, const OpenCall& call,
                        const ConnectionString& connection, bool is_one_of_several) {
  std::string subdataset = is_one_of_several ? array->GetFullName() : std::string();
  for (const std::uint64_t index : connection.slice) subdataset += ':' + std::to_string(index);
  if (call.options.boolean("SPHERE")) {
    refuse_band_range(call, "with SPHERE=YES");
    return open_on_the_sphere(array, connection.slice, call.name, subdataset);
  }
  RasterView view = make_view(array, call, connection.slice);
  if (view.range()) subdataset += range_suffix(*view.range());
  const bool has_bands = !view.other_axes().empty() && connection.slice.empty();
  if (has_bands && !call.options.boolean("MULTIBAND")) return list_slices(view, call.name);
  return new RasterDataset(std::move(view), call.name, subdataset, metadata_seconds(call),
                           turns_north_up(*array->session(), call));
}

GDALDataset* open_bands(const Session& session, const std::vector<std::shared_ptr<Array>>& arrays,
                        const std::string& subdataset, const OpenCall& call) {
  refuse_band_range(call, "for arrays that are bands");
  auto dataset =
      std::make_unique<RasterDataset>(RasterView(arrays), call.name, subdataset,
                                      metadata_seconds(call), turns_north_up(session, call));
  dataset->load_sidecars_of_arrays();
  return dataset.release();
}

// The arrays that are the bands of one raster, in their order, if the root states that; else empty.
std::vector<std::shared_ptr<Array>> find_bands(Session& session,
                                               const std::vector<Candidate>& candidates) {
  const auto attributes = session.attributes("", zarrcore::NodeKind::group);
  const zarrcore::Json* names = zarrcore::find_member(*attributes, kBandsAttribute);
  if (names == nullptr || !names->is_array() || names->size() != candidates.size()) return {};
  std::vector<std::shared_ptr<Array>> arrays;
  std::set<std::string> paths;
  for (const zarrcore::Json& name : *names) {
    const auto found = std::ranges::find_if(
        candidates, [&](const Candidate& candidate) { return name == candidate.node_path; });
    if (found == candidates.end() || !paths.insert(found->node_path).second ||
        found->shape.size() != 2 || found->shape != candidates.front().shape) {
      return {};
    }
    arrays.push_back(session.array(found->node_path));
  }
  return arrays;
}

bool is_array(const Session& session, const std::string& name) {
  return session.hierarchy().has(session.node_path(name), zarrcore::NodeKind::array);
}

// Moves leading indexes of a slice back to the name, if that makes it the name of an array.
ConnectionString array_connection(const Session& session, const ConnectionString& connection) {
  ConnectionString longer = connection;
  // Paths of Zarr v2 may have backslashes.
  std::string with_slashes = *connection.array;
  std::ranges::replace(with_slashes, '\\', '/');
  if (is_array(session, with_slashes)) *longer.array = with_slashes;
  while (!longer.slice.empty() && !is_array(session, *longer.array)) {
    *longer.array += ':' + std::to_string(longer.slice.front());
    longer.slice.erase(longer.slice.begin());
  }
  return is_array(session, *longer.array) ? longer : connection;
}

// Continues a message about a node that was not found.
std::string reason_of_denial(const Session& session, const std::string& path) {
  const std::string reason = session.hierarchy().denied(path);
  return reason.empty() ? reason : ": " + reason;
}

std::shared_ptr<Array> find_array(Session& session, const std::string& name) {
  const std::string path = session.node_path(name);
  if (!session.has_node(path, zarrcore::NodeKind::array)) {
    const bool is_group = session.hierarchy().has(path, zarrcore::NodeKind::group);
    throw Error(session.path() + ": array " + name + " does not exist" +
                (is_group ? "; it is a group" : reason_of_denial(session, path)));
  }
  return session.array(path);
}

GDALDataset* open_raster(Session& session, const OpenCall& call) {
  const ConnectionString& connection = call.connection;
  if (connection.array) {
    if (const auto group = parse_group_name(session, *connection.array)) {
      return open_bands(session, bands_of_group(session, *group), *connection.array, call);
    }
    const ConnectionString found = array_connection(session, connection);
    return open_array(find_array(session, *found.array), call, found, !session.root_is_array());
  }
  const bool lists_all = call.options.boolean("LIST_ALL_ARRAYS");
  const Candidates found = find_candidates(session, lists_all);
  const std::vector<Candidate>& candidates = found.rasters;
  if (candidates.empty()) {
    throw Error(session.path() + " has no array that can be shown as a raster" +
                reason_of_denial(session, ""));
  }
  if (candidates.size() > 1 || (lists_all && !session.root_is_array())) {
    const bool is_multiband = !lists_all && call.options.boolean("MULTIBAND");
    const auto bands =
        is_multiband ? find_bands(session, candidates) : std::vector<std::shared_ptr<Array>>();
    if (bands.empty()) {
      refuse_band_range(call, "for a list of arrays");
      return list_arrays(session, candidates, call.name);
    }
    return open_bands(session, bands, "", call);
  }
  GDALDataset* dataset = nullptr;
  try {
    dataset = open_array(session.array(candidates.front().node_path), call, connection, false);
  } catch (const TooManyBands& error) {
    // The store is one all the same.
    report(CE_Warning, CPLE_AppDefined, "Zarr: %s", error.what());
    return list_ranges(*session.array(candidates.front().node_path), error.slices(), call.name);
  }
  // Programs find it by its own name as well.
  if (candidates.front().shape.size() >= 2 && has_others(session, found) &&
      dataset->GetMetadata("SUBDATASETS") == nullptr) {
    dataset->GDALMajorObject::SetMetadata(subdataset_items(session, candidates).List(),
                                          "SUBDATASETS");
  }
  return dataset;
}

// The path of the array that will probably be opened; empty if unknown.
std::string expected_array(const ConnectionString& connection) {
  try {
    return zarrcore::normalize_path(connection.array.value_or(""));
  } catch (const Error&) {
    return {};  // looking for the array reports the error
  }
}

// The folder of the lock files of a store; empty for none.
std::string lock_folder(const std::string& store_path, const std::string& option) {
  if (EQUAL(option.c_str(), "YES")) {
    if (STARTS_WITH(store_path.c_str(), "/vsi")) {
      throw Error(store_path +
                  ": LOCKS=YES needs a store in a local folder; use LOCKS=path of a local folder");
    }
    return store_path + ".sync";
  }
  if (EQUAL(option.c_str(), "NO")) return {};
  return option;
}

// The version of an Icechunk repository that options choose.
std::optional<zarrcore::icechunk::VersionName> icechunk_version(const OptionValues& options) {
  using zarrcore::icechunk::VersionName;
  constexpr std::pair<const char*, VersionName::Kind> kVersions[] = {
      {"BRANCH", VersionName::Kind::branch},
      {"TAG", VersionName::Kind::tag},
      {"SNAPSHOT", VersionName::Kind::snapshot}};
  std::optional<VersionName> version;
  for (const auto& [option, kind] : kVersions) {
    const std::string name(options.text(option));
    if (name.empty()) continue;
    if (version) throw Error("the open options BRANCH, TAG and SNAPSHOT exclude each other");
    version = VersionName{kind, name};
  }
  return version;
}

// For what is not an Icechunk repository that is open for update.
void check_write_options(const OpenCall& call, bool is_writable) {
  const bool is_repository = has_icechunk_prefix(call.connection.store_path);
  if (is_repository && is_writable) return;
  const std::string why =
      call.name + (is_repository ? " is opened for reading" : " is not an Icechunk repository");
  if (!call.options.text("SESSION").empty()) throw Error(why + ", so it takes no SESSION");
  refuse_write_options(call.options, why, is_writable);
}

bool is_missing_repository(const std::string& path) {
  if (!has_icechunk_prefix(path)) return false;
  const std::string repository = parse_icechunk_path(path).repository;
  return VSIIsLocal(repository.c_str()) && !path_exists(repository);
}

}  // namespace

GDALDataset* make_classic_dataset(const std::shared_ptr<Array>& array, std::size_t x,
                                  std::optional<std::size_t> y) {
  const Session& session = *array->session();
  auto* dataset = new RasterDataset(RasterView(array, x, y, {}),
                                    format_connection_string(session.path(), array->GetFullName()),
                                    session.root_is_array() ? "" : array->GetFullName());
  dataset->share_arrays();
  return dataset;
}

GDALDataset* open(GDALOpenInfo* info) {
  return guarded<GDALDataset*>(nullptr, [&]() -> GDALDataset* {
    if (is_reference_source(info->pszFilename)) return open_reference_source();
    const bool is_zipped = is_zipped_document(info);
    const auto zipped = is_zipped ? find_zipped_raster(info->pszFilename) : std::nullopt;
    std::optional<ProbedFolder> folder = take_identified(info);
    note_opened(info->pszFilename);
    if (is_zipped ? !zipped : !folder && !is_zarr(info, folder)) return nullptr;
    OpenCall call{
        info->pszFilename,
        zipped ? *zipped : parse_connection_string(info->pszFilename),
        open_options(info->papszOpenOptions),
    };
    call.connection.store_path =
        find_icechunk_path(call.connection.store_path, icechunk_version(call.options),
                           call.options.boolean("IGNORE_TIMESTAMP_ETAG"));
    if (is_missing_repository(call.connection.store_path)) {
      // Programs that create it know by this number that it does not exist yet.
      report(CE_Failure, CPLE_OpenFailed, "Zarr: %s does not exist", info->pszFilename);
      FirstFailure::note();
      return nullptr;
    }
    check_write_options(call, info->eAccess == GA_Update);
    if (call.options.boolean("CACHE_KERCHUNK_JSON")) {
      call.connection.store_path = path_of_cached_references(call.connection.store_path);
    }
    SessionOptions options;
    options.is_writable = info->eAccess == GA_Update;
    options.lock_folder =
        lock_folder(call.connection.store_path, std::string(call.options.text("LOCKS")));
    options.use_consolidated = call.options.boolean("USE_CONSOLIDATED_METADATA");
    options.list_chunks = call.options.boolean("CACHE_TILE_PRESENCE");
    options.missing_chunks_are_errors = call.options.is("MISSING_CHUNKS", "ERROR");
    if (!call.options.is("LONG_DOUBLE", "UNKNOWN")) {
      options.long_double = call.options.is("LONG_DOUBLE", "X87") ? zarrcore::FloatFormat::float80
                                                                  : zarrcore::FloatFormat::float128;
    }
    options.assumes_longlat = call.options.boolean("ASSUME_LONGLAT");
    options.stores_empty_chunks = call.options.boolean("WRITE_EMPTY_CHUNKS");
    options.make_classic_dataset = &make_classic_dataset;
    options.icechunk = icechunk_write_options(call.options);
    options.icechunk.session = call.options.text("SESSION");
    const StoreHints hints{std::move(folder), expected_array(call.connection)};
    const auto session = Session::open(call.connection.store_path, options, hints);
    if (options.is_writable) session->hierarchy().store()->remove_leftovers();
    if (call.options.boolean("CONSOLIDATE_METADATA")) session->writable_hierarchy().consolidate();
    std::unique_ptr<GDALDataset> dataset((info->nOpenFlags & GDAL_OF_MULTIDIM_RASTER) != 0
                                             ? new MultidimDataset(session, info->pszFilename)
                                             : open_raster(*session, call));
    session->end_opening();
    if (auto* raster = dynamic_cast<RasterDataset*>(dataset.get()))
      raster->end_session_when_closed();
    return dataset.release();
  });
}

}  // namespace gdal_zarr
