#include "driver/raster/candidates.h"

#include <algorithm>
#include <set>
#include <utility>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/product.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"  // IWYU pragma: keep, a complete type to return
#include "driver/multidim/georeferencing.h"
#include "driver/multidim/mask_arrays.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::is_digit;

// The result of a walk through the nodes.
struct Collected {
  Candidates candidates;
  std::vector<std::pair<std::string, std::string>> named;     // by attributes: group and name
  std::set<std::string> helpers;                              // node paths, of nodes or of none
  std::set<std::pair<std::string, std::string>> ancillaries;  // of an array, and such a path
};

// CF: the variables that these attributes name describe others. UGRID: so do the variables that a
// mesh names.
void add_helpers(const zarrcore::Json& attributes, const std::string& group, Collected& found) {
  const std::string* role = zarrcore::find_string(attributes, "cf_role");
  const bool is_mesh = role != nullptr && *role == "mesh_topology";
  constexpr std::string_view kNames[] = {"coordinates", "bounds", "climatology", "cell_measures"};
  for (const auto& [name, value] : attributes.items()) {
    const bool names_helpers =
        std::ranges::find(kNames, name) != std::end(kNames) ||
        (is_mesh && (name.ends_with("_coordinates") || name.ends_with("_connectivity")));
    if (!names_helpers) continue;
    for (std::string& word : cf::words_in(attributes, name.c_str())) {
      found.named.emplace_back(group, std::move(word));
    }
  }
}

// Adds those that attributes name to the helpers: of a path, or in the group or the nearest above.
void find_helpers(Collected& found) {
  for (const auto& [group, name] : found.named) {
    if (name.find('/') != std::string::npos) {
      found.helpers.insert(zarrcore::resolved_path(group, name));
      continue;
    }
    for (const std::string& at : paths_upward(group)) {
      std::string path = zarrcore::join_path(at, name);
      if (!found.candidates.array_paths.contains(path)) continue;
      found.helpers.insert(std::move(path));
      break;
    }
  }
}

// Walks the hierarchy, whose depth the core bounds.
void collect(const Session& session, const std::string& group, Collected& found) {
  std::set<std::string>& helpers = found.helpers;
  add_helpers(*session.attributes(group), group, found);
  for (const zarrcore::Child& child : session.hierarchy().children(group)) {
    const std::string path = zarrcore::join_path(group, child.name);
    if (child.kind == zarrcore::Child::Kind::group) {
      collect(session, path, found);
      continue;
    }
    if (child.kind == zarrcore::Child::Kind::broken) {
      report(CE_Warning, CPLE_AppDefined, "Zarr: %s: %s", session.path().c_str(),
             child.problem.c_str());
      continue;
    }
    const auto array = session.array_metadata(path);
    if (!array || session.is_unfinished_copy(path)) continue;
    if (!array->shape.empty()) found.candidates.array_paths.insert(path);
    add_helpers(array->attributes, group, found);
    if (is_gcp_group(group)) helpers.insert(path);
    for (const std::string& word : cf::words_in(array->attributes, "ancillary_variables")) {
      found.ancillaries.emplace(path, zarrcore::join_path(group, word));
    }
    for (const std::string& mask : mask_paths(session, path)) helpers.insert(mask);
    try {
      if (gdal_type(array->data_type).GetClass() == GEDTC_NUMERIC) {
        found.candidates.rasters.push_back({path, array->shape, array->data_type});
      }
    } catch (const zarrcore::Error& error) {
      report(CE_Warning, CPLE_AppDefined, "Zarr: %s: array /%s: %s", session.path().c_str(),
             path.c_str(), error.what());
    }
  }
}

constexpr std::size_t kMaxBands = 64;

bool is_alike(const Candidate& a, const Candidate& b) {
  return a.shape == b.shape && a.type == b.type;
}

// The largest set of similar arrays of two dimensions in a group; among sets of equal size, the one
// with the first name.
std::vector<const Candidate*> largest_set(std::span<const Candidate> candidates,
                                          const std::string& group) {
  std::vector<std::vector<const Candidate*>> sets;
  for (const Candidate& candidate : candidates) {
    if (candidate.shape.size() != 2 || zarrcore::parent_path(candidate.node_path) != group)
      continue;
    const auto set = std::ranges::find_if(
        sets, [&](const auto& other) { return is_alike(*other.front(), candidate); });
    (set != sets.end() ? *set : sets.emplace_back()).push_back(&candidate);
  }
  const auto largest = std::ranges::max_element(
      sets, [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return largest != sets.end() ? *largest : std::vector<const Candidate*>();
}

bool is_same_place(const Position& a, const Position& b) {
  const auto& crs = a.crs.crs;
  const auto& other = b.crs.crs;
  const bool is_same_crs = crs && other ? crs->IsSame(other.get()) != 0 : !crs && !other;
  return is_same_crs && a.transform.transform == b.transform.transform;
}

// Returns true if attributes or coordinate variables state an array's position, judging by metadata
// alone.
bool is_placed(const Session& session, const Candidate& candidate) {
  const auto array = session.array_metadata(candidate.node_path);
  const std::string group(zarrcore::parent_path(candidate.node_path));
  if (!array) return false;
  const auto of_group = session.attributes(group, zarrcore::NodeKind::group);
  for (const char* name : {"spatial:transform", "spatial:bbox", "proj:transform", "_TRANSFORM",
                           "gdal:geotransform", "grid_mapping"}) {
    if (array->attributes.contains(name) || of_group->contains(name)) return true;
  }
  return std::ranges::all_of(array->dimension_names, [&](const auto& name) {
    return name && zarrcore::is_valid_segment(*name) &&
           std::ranges::any_of(paths_upward(group), [&](const std::string& place) {
             return session.array_metadata(zarrcore::join_path(place, *name)) != nullptr;
           });
  });
}

// The arrays that have Y before X, and the same position as the first of them.
std::vector<std::shared_ptr<Array>> at_one_place(const std::vector<std::shared_ptr<Array>>& arrays,
                                                 bool all_are_named) {
  std::vector<std::shared_ptr<Array>> bands;
  std::optional<Position> first;
  for (const auto& array : arrays) {
    const bool is_upright = array->raster_axes() == RasterAxes{1, 0};
    const auto place =
        is_upright ? std::optional(find_position(RasterView(array, 1, 0, {}))) : std::nullopt;
    if (place && (!first || is_same_place(*first, *place))) {
      if (!first) first = place;
      bands.push_back(array);
    } else if (all_are_named) {
      throw Error("array " + array->GetFullName() + " cannot be a band beside " +
                  arrays.front()->GetFullName() + ", because it lies elsewhere");
    } else {
      debug("Zarr: array " + array->GetFullName() + " lies elsewhere and is not a band");
    }
  }
  return bands;
}

// Numbers in names count by their value: b2 is before b10.
bool is_before(std::string_view a, std::string_view b) {
  const auto take_digits = [](std::string_view& text) {
    const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
    text.remove_prefix(digits.size());
    return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view of_a = take_digits(a);
      const std::string_view of_b = take_digits(b);
      if (of_a.size() != of_b.size()) return of_a.size() < of_b.size();
      if (of_a != of_b) return of_a < of_b;
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

// The names of bands in their order, in lower case.
std::vector<std::string> stated_bands(const Array& array) {
  std::vector<std::string> names;
  const zarrcore::Json* list = zarrcore::find_member(*array.group_attributes(), kBandsAttribute);
  if (list != nullptr && list->is_array()) {
    for (const zarrcore::Json& name : *list) {
      if (name.is_string()) names.push_back(zarrcore::lower_case(name.get<std::string>()));
    }
  }
  for (const SpectralBand& band : spectral_bands_of(array)) names.push_back(band.name);
  return names;
}

std::vector<std::shared_ptr<Array>> named_arrays(Session& session, const GroupName& name) {
  std::vector<std::shared_ptr<Array>> arrays;
  for (const std::string& word : name.arrays) {
    const std::string path = zarrcore::join_path(name.group, word);
    if (!session.has_node(path, zarrcore::NodeKind::array)) {
      throw Error(session.path() + ": group /" + name.group + " has no array " + word);
    }
    arrays.push_back(session.array(path));
    const Array& array = *arrays.back();
    if (array.core().shape().size() != 2 || array.GetDataType().GetClass() != GEDTC_NUMERIC) {
      throw Error("array " + array.GetFullName() +
                  " cannot be a band, because only numbers in two dimensions can");
    }
    // More likely a mistyped name than a wish for bands of several types.
    if (array.GetDataType() != arrays.front()->GetDataType()) {
      throw Error("arrays " + arrays.front()->GetFullName() + " and " + array.GetFullName() +
                  " differ and cannot be bands of one raster: their data types are not the same");
    }
  }
  return arrays;
}

}  // namespace

Candidates find_candidates(Session& session, bool list_all, const std::string& group) {
  Collected collected;
  Candidates& found = collected.candidates;
  if (session.root_is_array()) {
    const auto array = session.array("");
    if (array->GetDataType().GetClass() == GEDTC_NUMERIC) {
      found.rasters.push_back({"", array->core().shape(), array->core().data_type()});
    }
    return found;
  }
  collect(session, group, collected);
  find_helpers(collected);
  std::set<std::string>& helpers = collected.helpers;
  // Arrays that name each other are equals.
  for (const auto& [array, ancillary] : collected.ancillaries) {
    if (!collected.ancillaries.contains({ancillary, array})) helpers.insert(ancillary);
  }
  for (const std::string& path : helpers) found.array_paths.erase(path);
  if (list_all) return found;
  std::vector<Candidate> rasters;
  std::copy_if(found.rasters.begin(), found.rasters.end(), std::back_inserter(rasters),
               [&](const Candidate& c) {
                 return c.shape.size() >= 2 && !helpers.contains(c.node_path) &&
                        session.pyramids().finest_level_path(c.node_path).empty();
               });
  if (rasters.empty()) {
    std::ranges::copy_if(found.rasters, std::back_inserter(rasters), [&](const Candidate& c) {
      return !c.shape.empty() && !helpers.contains(c.node_path) &&
             !session.is_dimension_variable(c.node_path);
    });
  }
  if (!rasters.empty()) found.rasters = std::move(rasters);
  return found;
}

bool has_others(const Session& session, const Candidates& candidates) {
  const Candidate& raster = candidates.rasters.front();
  std::set<std::string> others = candidates.array_paths;
  others.erase(raster.node_path);
  const auto array = session.array_metadata(raster.node_path);
  if (others.empty() || !array) return false;
  for (const std::string& group : paths_upward(zarrcore::parent_path(raster.node_path))) {
    for (const auto& name : array->dimension_names) {
      if (name) others.erase(zarrcore::join_path(group, *name));
    }
  }
  return !others.empty();
}

std::vector<SpectralBand> spectral_bands_of(const Array& array) {
  const auto root = array.root_attributes();
  return find_spectral_bands(*array.group_attributes(), root ? *root : zarrcore::Json::object());
}

std::optional<GroupName> parse_group_name(const Session& session, const std::string& name) {
  if (session.root_is_array()) return std::nullopt;
  const std::size_t brace = name.rfind("/{");
  if (brace != std::string::npos && name.ends_with('}')) {
    GroupName parsed{zarrcore::normalize_path(name.substr(0, brace)), {}};
    const std::string list = name.substr(brace + 2, name.size() - brace - 3);
    for (std::size_t start = 0; start <= list.size();) {
      const std::size_t end = std::min(list.find(',', start), list.size());
      parsed.arrays.push_back(list.substr(start, end - start));
      if (!zarrcore::is_valid_segment(parsed.arrays.back())) {
        throw Error('"' + list + "\" is not a list of names of arrays, separated by commas");
      }
      start = end + 1;
    }
    return parsed;
  }
  std::string path;
  try {
    path = zarrcore::normalize_path(name);
  } catch (const Error&) {
    return std::nullopt;  // it may still be the name of an array
  }
  if (session.hierarchy().has(path, zarrcore::NodeKind::array) ||
      !session.hierarchy().has(path, zarrcore::NodeKind::group)) {
    return std::nullopt;
  }
  return GroupName{path, {}};
}

std::vector<std::shared_ptr<Array>> bands_of_group(Session& session, const GroupName& name) {
  std::vector<std::shared_ptr<Array>> arrays = named_arrays(session, name);
  const bool are_named = !arrays.empty();
  if (!are_named) {
    const Candidates found = find_candidates(session, false, name.group);
    for (const Candidate* candidate : largest_set(found.rasters, name.group)) {
      arrays.push_back(session.array(candidate->node_path));
    }
    if (arrays.empty()) {
      throw Error(session.path() + ": group /" + name.group +
                  " has no arrays of numbers with two dimensions");
    }
    const auto stated = stated_bands(*arrays.front());
    const auto place = [&](const std::shared_ptr<Array>& array) {
      return std::ranges::find(stated, zarrcore::lower_case(array->GetName())) - stated.begin();
    };
    std::ranges::stable_sort(
        arrays, [](const auto& a, const auto& b) { return is_before(a->GetName(), b->GetName()); });
    std::ranges::stable_sort(arrays, {}, place);
    if (arrays.size() > kMaxBands) arrays.resize(kMaxBands);
  }
  return at_one_place(arrays, are_named);
}

std::vector<GroupRaster> find_group_rasters(const Session& session,
                                            std::span<const Candidate> candidates) {
  std::vector<std::string> groups;
  for (const Candidate& candidate : candidates) {
    groups.emplace_back(zarrcore::parent_path(candidate.node_path));
  }
  std::ranges::sort(groups);
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  std::vector<GroupRaster> rasters;
  for (const std::string& group : groups) {
    const auto set = largest_set(candidates, group);
    if (set.size() < 2 || !is_placed(session, *set.front())) continue;
    rasters.push_back({group, std::min(set.size(), kMaxBands), set[0]->shape, set[0]->type});
  }
  return rasters;
}

}  // namespace gdal_zarr
