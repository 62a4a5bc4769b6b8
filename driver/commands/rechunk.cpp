// New chunks, shards and codecs for arrays, in place or in a new store; their elements keep all
// bits.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "driver/commands/examined.h"
#include "driver/commands/rechunk_in_place.h"
#include "driver/entry/create.h"
#include "driver/multidim/group.h"
#include "driver/multidim/session.h"
#include "driver/new_array/creation_options.h"
#include "driver/stores/icechunk/icechunk_path.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/locks.h"

namespace gdal_zarr {

using zarrcore::Error;

namespace {

std::unique_ptr<MultidimDataset> open_multidim(const std::string& path, unsigned flags) {
  const char* const drivers[] = {"Zarr", nullptr};
  std::unique_ptr<GDALDataset> opened(GDALDataset::Open(
      path.c_str(), GDAL_OF_MULTIDIM_RASTER | GDAL_OF_VERBOSE_ERROR | flags, drivers));
  if (dynamic_cast<MultidimDataset*>(opened.get()) == nullptr) {
    throw Error(path + " cannot be opened: " + CPLGetLastErrorMsg());
  }
  return std::unique_ptr<MultidimDataset>(static_cast<MultidimDataset*>(opened.release()));
}

struct StoredArrays {
  std::vector<std::string> paths;
  std::vector<std::string> problems;  // of nodes that cannot be read
};

void add_arrays(const zarrcore::Hierarchy& hierarchy, const std::string& group,
                StoredArrays& arrays) {
  for (const zarrcore::Child& child : hierarchy.children(group)) {
    const std::string path = zarrcore::join_path(group, child.name);
    switch (child.kind) {
      case zarrcore::Child::Kind::array:
        arrays.paths.push_back(path);
        break;
      case zarrcore::Child::Kind::group:
        add_arrays(hierarchy, path, arrays);
        break;
      case zarrcore::Child::Kind::broken:
        arrays.problems.push_back(child.problem);
        break;
    }
  }
}

StoredArrays arrays_of(const Session& session) {
  StoredArrays arrays;
  if (session.root_is_array()) {
    arrays.paths.emplace_back();
  } else {
    add_arrays(session.hierarchy(), {}, arrays);
  }
  return arrays;
}

// Held while a command changes a store in place: another one would take its copies for leftovers.
class RunningRechunk {
 public:
  RunningRechunk(zarrcore::Store& store, const std::string& path)
      : folder_(path + '/' + std::string(kRechunkLock)), lock_(store.lock(kRechunkLock)) {}
  ~RunningRechunk() { VSIRmdir(folder_.c_str()); }
  RunningRechunk(const RunningRechunk&) = delete;
  RunningRechunk& operator=(const RunningRechunk&) = delete;

 private:
  std::string folder_;
  std::unique_ptr<zarrcore::StoreLock> lock_;
};

// All arrays are checked before the first one changes.
void check_rank(const std::string& path, std::size_t rank, const CPLStringList& options) {
  for (const char* const option : {"BLOCKSIZE", "SHARD_CHUNK_SHAPE"}) {
    const char* const lengths = options.FetchNameValue(option);
    if (lengths == nullptr) continue;
    const auto count = static_cast<std::size_t>(std::ranges::count(std::string(lengths), ',')) + 1;
    if (count == rank) continue;
    throw Error(node_name(path) + ": " + option + " has " + std::to_string(count) +
                " lengths, but the array has " + std::to_string(rank) + " dimensions");
  }
}

std::vector<std::string> wanted_arrays(MultidimDataset& dataset, const std::string& name,
                                       const CPLStringList& options) {
  const StoredArrays all = arrays_of(dataset.session());
  if (name.empty() && !all.problems.empty()) {
    throw Error(all.problems.front() + "; --array chooses another array");
  }
  std::vector<std::string> wanted;
  for (const std::string& path : all.paths) {
    if (dataset.session().is_unfinished_copy(path)) continue;
    const std::size_t rank = dataset.session().array(path)->core().shape().size();
    if (name.empty() ? rank >= 2 : node_name(path) == name) {
      check_rank(path, rank, options);
      wanted.push_back(path);
    }
  }
  if (wanted.empty()) {
    throw Error(name.empty() ? "there is no array of two or more dimensions"
                             : "there is no array " + name + "; names are such as /group/array");
  }
  return wanted;
}

// Returns true if a new store of this name is a folder that can be renamed.
bool is_local_folder(const std::string& name) {
  return !STARTS_WITH(name.c_str(), "/vsi") && !has_icechunk_scheme(name) &&
         !STARTS_WITH_CI(name.c_str(), "ZARR:") && !EQUAL(CPLGetExtension(name.c_str()), "zip");
}

}  // namespace

RechunkState rechunk_state(const std::string& path) {
  const std::string folder = path + '/' + std::string(kRechunkLock);
  if (path.starts_with("/vsi") || !is_folder(folder)) return RechunkState::none;
  try {
    zarrcore::lock_folder(folder, zarrcore::LockMode::exclusive, std::chrono::milliseconds(0));
    return RechunkState::interrupted;
  } catch (const zarrcore::LockTimeout&) {
    return RechunkState::running;
  }
}

void end_interrupted_rechunk(const std::string& path,
                             const std::set<std::string, std::less<>>& leftovers) {
  auto dataset = open_multidim(path, GDAL_OF_UPDATE);
  zarrcore::Store& store = *dataset->session().hierarchy().store();
  const RunningRechunk running(store, path);
  dataset = open_multidim(path, GDAL_OF_UPDATE);  // as the command before has left it
  Session& session = dataset->session();
  const auto find_arrays = [&] {
    std::vector<std::string> paths = arrays_of(session).paths;
    std::erase_if(paths, [&](const std::string& array) {
      const bool is_temporary = array.ends_with(kUnfinishedCopy) || array.ends_with(kReplacedArray);
      return is_temporary && !leftovers.contains(array);
    });
    return paths;
  };
  end_exchanges(session, find_arrays());
  erase_other_copies(session, find_arrays(), {});
  session.flush();
  for (const std::string& leftover : leftovers) {
    if (leftover != kRechunkLock) session.hierarchy().store()->erase_prefix(leftover);
  }
}

CommandResult run_rechunk(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  std::string into = arguments.text("into");
  while (into.size() > 1 && into.ends_with('/')) into.pop_back();
  const std::string name = arguments.text("array");
  CPLStringList options;
  for (const std::string& option : arguments.list("options")) {
    if (option.find('=') == std::string::npos) {
      throw Error(option + " is not a creation option, such as BLOCKSIZE=512,512");
    }
    const std::string key = option.substr(0, option.find('='));
    const Option* known = find_creation_option(key);
    if (known == nullptr || (known->scope & kArrayOption) == 0) {
      throw Error(key + " is not a creation option of arrays");
    }
    options.AddString(option.c_str());
  }
  std::vector<std::string> arrays;
  if (!into.empty()) {
    if (path_exists(into)) throw Error(into + " already exists");
    // A command that was killed has left an incomplete store.
    const bool is_renamed = is_local_folder(into);
    const std::string made = is_renamed ? into + std::string(kUnfinishedCopy) : into;
    if (is_renamed && path_exists(made) && VSIRmdirRecursive(made.c_str()) != 0) {
      throw Error(made + " cannot be removed");
    }
    const auto source = open_multidim(path, 0);
    arrays = wanted_arrays(*source, name, options);
    const bool is_v2 = &source->session().hierarchy().format() == &zarrcore::v2_format();
    CPLStringList all;
    all.SetNameValue("FORMAT", is_v2 ? "ZARR_V2" : "ZARR_V3");
    for (const std::string& array : arrays) {
      for (const char* const option : std::span(options.List(), options.size())) {
        all.AddString(("ARRAY:IF(NAME=/" + array + "):" + option).c_str());
      }
    }
    std::unique_ptr<GDALDataset> copy(copy_hierarchy(made.c_str(), *source, true, all.List(),
                                                     call_progress, as_progress_data(progress)));
    if (!copy) throw Error(into + ": " + CPLGetLastErrorMsg());
    copy.reset();
    if (is_renamed && VSIRename(made.c_str(), into.c_str()) != 0) {
      throw Error(made + " cannot be renamed to " + into);
    }
  } else {
    if (!has_icechunk_prefix(path) && !is_folder(path)) {
      throw Error(path + ": only arrays of folders and of Icechunk repositories change in place");
    }
    auto dataset = open_multidim(path, GDAL_OF_UPDATE);
    std::optional<RunningRechunk> running;
    if (dataset->session().icechunk() == nullptr) {
      zarrcore::Store& store = *dataset->session().hierarchy().store();
      if (!store.traits().is_folder) {
        throw Error(path + ": renaming is not a single operation there: use --into");
      }
      running.emplace(store, path);
      dataset = open_multidim(path, GDAL_OF_UPDATE);  // as the command before has left it
    }
    Session& session = dataset->session();
    if (session.root_is_array()) throw Error(path + ": the store is one array: use --into");
    if (!session.hierarchy().format().has_whole_documents())
      throw Error(path + ": its format keeps documents and chunks in folders apart: use --into");
    try {
      end_exchanges(session, arrays_of(session).paths);
      arrays = wanted_arrays(*dataset, name, options);
      erase_other_copies(session, arrays_of(session).paths, arrays);
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        rechunk_array(*dataset, arrays[i], options.List(), [&](double complete) {
          return progress((static_cast<double>(i) + complete) / static_cast<double>(arrays.size()));
        });
      }
      session.flush();
      std::vector<std::string> names;
      std::ranges::transform(arrays, std::back_inserter(names), node_name);
      session.commit_copy(name_nodes("rechunk", names));
    } catch (const Error&) {
      if (session.icechunk() != nullptr) session.roll_back();
      throw;
    }
  }
  CommandResult result;
  result.json = {{"store", into.empty() ? path : into}, {"arrays", zarrcore::Json::array()}};
  for (const std::string& array : arrays) {
    result.json["arrays"].push_back(node_name(array));
    result.text += node_name(array) + " has the new layout\n";
  }
  return result;
}

}  // namespace gdal_zarr
