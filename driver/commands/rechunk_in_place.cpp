#include "driver/commands/rechunk_in_place.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <vector>

#include "driver/commands/examined.h"
#include "driver/multidim/copied_array.h"
#include "driver/multidim/session.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/array/stored_chunks.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/store/locks.h"

namespace gdal_zarr {

using zarrcore::Error;

namespace {

constexpr std::string_view kNew = kUnfinishedCopy;
constexpr std::string_view kOld = kReplacedArray;

using GroupPointer = std::shared_ptr<GDALGroup>;

std::string progress_key(const std::string& path) {
  return zarrcore::join_path(path, ".gdal-zarr-progress");
}

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

// Held while a command changes a store in place: another one would remove its copies as leftovers.
class RunningRechunk {
 public:
  RunningRechunk(zarrcore::Store& store, const std::string& path)
      : folder_(path + '/' + std::string(kRechunkLock)) {
    // A command that ends removes the folder whose lock another one waits for.
    do {
      lock_ = store.lock(kRechunkLock);
    } while (!is_folder(folder_));
  }
  ~RunningRechunk() { VSIRmdir(folder_.c_str()); }
  RunningRechunk(const RunningRechunk&) = delete;
  RunningRechunk& operator=(const RunningRechunk&) = delete;

 private:
  std::string folder_;
  std::unique_ptr<zarrcore::StoreLock> lock_;
};

// The last step of an exchange of names.
void erase_old(Session& session, const std::string& path) {
  if (session.icechunk() == nullptr) session.hierarchy().store()->erase(progress_key(path));
  session.erase_node(path + std::string(kOld));
}

// The values of an array in a store without transactions, to notice that another program writes.
class StoredValues {
 public:
  StoredValues(const Session& session, const std::string& path) {
    if (session.icechunk() != nullptr) return;  // whose commit notices it
    const auto metadata = session.array_metadata(path);
    zarrcore::Store& store = *session.hierarchy().store();
    const auto visit = [&](std::string_view key, const auto& /*size*/) {
      ++count_;
      sum_ += hash_of(key.substr(path.size()), store.current_version(key));
      if (!metadata || !zarrcore::chunk_of_key(*metadata, key)) others_.emplace_back(key);
    };
    store.visit_values(path, visit, {.wants_size = [](std::string_view) { return false; }});
  }

  // The keys of values that are no chunks.
  const std::vector<std::string>& others() const { return others_; }

  // The same text for the same keys below the array's path and versions, in any order.
  std::string digest() const { return std::to_string(count_) + ' ' + std::to_string(sum_); }

 private:
  static std::uint64_t hash_of(std::string_view key, const zarrcore::ValueVersion& version) {
    std::uint64_t hash = zarrcore::fnv1a(key);
    for (const std::uint64_t part : version.identity()) {
      hash = zarrcore::fnv1a({reinterpret_cast<const char*>(&part), sizeof part}, hash);
    }
    return hash;
  }

  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::vector<std::string> others_;
};

void check_is_as_copied(const Session& session, const std::string& path, const std::string& name,
                        const StoredValues& copied) {
  if (StoredValues(session, path).digest() == copied.digest()) return;
  throw Error('/' + name + " was changed while it was copied, and stays as it is");
}

// Gives the new array its name, unless another program has changed the old one, whose values were
// `copied`. That is certain once the old one has another name, by which nobody writes.
void take_name(Session& session, const std::string& path, const StoredValues& copied) {
  const std::string made = path + std::string(kNew);
  const std::string replaced = path + std::string(kOld);
  const bool are_exchanged = session.icechunk() == nullptr && session.exchange_nodes(path, made);
  if (!are_exchanged) {
    session.rename_node(path, last_name(replaced));
    session.rename_node(made, last_name(path));
  }
  try {
    check_is_as_copied(session, are_exchanged ? made : replaced, path, copied);
  } catch (const Error&) {
    if (!are_exchanged) {
      session.rename_node(path, last_name(made));
      session.rename_node(replaced, last_name(path));
    } else if (!session.exchange_nodes(path, made)) {
      throw Error('/' + path + " was changed while it was copied: as changed it is now /" + made);
    }
    session.erase_node(made);
    throw;
  }
  if (are_exchanged) session.rename_node(made, last_name(replaced));
  erase_old(session, path);
}

// What a copy is of: only the same can be continued. After the system has stopped, chunks that were
// written may be lost.
std::string describe_copy(const StoredValues& source, CSLConstList options) {
  std::string text = source.digest();
  const File boot(VSIFOpenL("/proc/sys/kernel/random/boot_id", "rb"));
  std::array<char, 36> id{};
  if (!boot || VSIFReadL(id.data(), 1, id.size(), boot.get()) != id.size()) return {};
  text += ' ' + std::string(id.data(), id.size());
  for (CSLConstList option = options; *option != nullptr; ++option)
    text += ' ' + std::string(*option);
  return text;
}

// The record of a copy in a file. It is empty if the copy is to begin anew.
CopyRecord open_record(zarrcore::Store& store, const std::string& key, const std::string& copy) {
  CopyRecord record;
  constexpr std::uint64_t kMaxBytes = 1 << 20;
  if (const auto text = copy.empty() ? std::nullopt : store.get(key, kMaxBytes)) {
    const std::string all(text->text());
    std::istringstream lines(all);
    std::string first;
    if (std::getline(lines, first) && first == copy && std::getline(lines, record.plan)) {
      lines >> record.complete;
    }
  }
  return record;
}

// Copies what lies in the array's folder and is not its own: GDAL's sidecar, and files of others.
void copy_other_files(Session& session, const std::vector<std::string>& keys,
                      const std::string& path, const std::string& to) {
  std::set<std::string> own{progress_key(path)};
  for (const zarrcore::Format* format : {&zarrcore::v2_format(), &zarrcore::v3_format()}) {
    for (std::string& key : format->node_keys(path)) own.insert(std::move(key));
    if (auto key = format->consolidated_key(path)) own.insert(*std::move(key));
  }
  for (const std::string& key : keys) {
    if (own.contains(key)) continue;
    const std::string from = join_vsi_path(session.path(), key);
    const std::string copy = join_vsi_path(session.path(), to + key.substr(path.size()));
    VSIMkdirRecursive(CPLGetPath(copy.c_str()), 0755);
    if (CPLCopyFile(copy.c_str(), from.c_str()) != 0) throw Error(from + " cannot be copied");
  }
}

// Makes a new array that has everything but the values, all of it stored.
std::shared_ptr<GDALMDArray> create_beside(MultidimDataset& dataset, GDALGroup& group,
                                           const Array& source, const std::string& name,
                                           CSLConstList options) {
  auto target = group.CreateMDArray(name, source.GetDimensions(), source.GetDataType(), options);
  if (!target || !dynamic_cast<Array&>(*target).copy_metadata(&dataset, source)) {
    throw Error(source.GetFullName() + ": " + CPLGetLastErrorMsg());
  }
  dataset.session().flush();
  return target;
}

// Ends the exchanges of names that a killed command has begun, given the paths of all arrays.
void end_exchanges(Session& session, std::span<const std::string> paths) {
  std::set<std::string> all(paths.begin(), paths.end());
  const auto rename = [&](const std::string& from, const std::string& to) {
    session.rename_node(from, last_name(to));
    all.erase(from);
    all.insert(to);
  };
  for (const std::string& path : paths) {
    if (!path.ends_with(kOld)) continue;
    const std::string name = path.substr(0, path.size() - kOld.size());
    const std::string complete = name + std::string(kNew);
    if (!all.contains(name)) rename(all.contains(complete) ? complete : path, name);
    if (all.contains(path)) erase_old(session, name);
  }
}

// Removes the copies that a killed command has made of arrays that are not `wanted`.
void erase_other_copies(Session& session, std::span<const std::string> paths,
                        std::span<const std::string> wanted) {
  for (const std::string& path : paths) {
    if (!path.ends_with(kNew)) continue;
    const std::string name = path.substr(0, path.size() - kNew.size());
    if (std::ranges::find(wanted, name) != wanted.end()) continue;
    session.erase_node(path);
    if (session.icechunk() == nullptr) session.hierarchy().store()->erase(progress_key(name));
  }
}

// Continues the copy that a killed command has made of the array, if it is the same.
void rechunk_array(MultidimDataset& dataset, const std::string& path, CSLConstList options,
                   const CommandProgress& progress) {
  Session& session = dataset.session();
  const bool has_transactions = session.icechunk() != nullptr;
  zarrcore::Store& store = *session.hierarchy().store();
  const std::string beside = path + std::string(kNew);
  const std::string group_name = '/' + std::string(zarrcore::parent_path(path));
  const GroupPointer root = dataset.GetRootGroup();
  const GroupPointer group =
      group_name == "/" ? root : root->OpenGroupFromFullname(group_name, nullptr);
  const StoredValues before(session, path);
  const std::string copy = has_transactions ? std::string() : describe_copy(before, options);
  CopyRecord record = open_record(store, progress_key(beside), copy);
  record.save = [&] {
    const auto text = copy + '\n' + record.plan + '\n' + std::to_string(record.complete) + '\n';
    store.put(progress_key(beside), std::as_bytes(std::span(text)));
  };
  const bool continues = !record.plan.empty() && session.array_metadata(beside) != nullptr;
  if (!has_transactions) {
    // A killed command may have left chunks and unfinished documents that belong to no node.
    store.erase_prefix(path + std::string(kOld));
    if (!continues) {
      if (session.array_metadata(beside)) session.erase_node(beside);
      store.erase_prefix(beside);
    }
  }
  try {
    const auto opened = group ? group->OpenMDArray(last_name(path)) : nullptr;
    const auto* source = dynamic_cast<const Array*>(opened.get());
    if (source == nullptr) throw Error('/' + path + ": " + CPLGetLastErrorMsg());
    const auto target = continues
                            ? group->OpenMDArray(last_name(beside))
                            : create_beside(dataset, *group, *source, last_name(beside), options);
    if (target) {
      dynamic_cast<Array&>(*target).set_stores_empty_chunks(
          CPLFetchBool(options, "WRITE_EMPTY_CHUNKS", false));
    }
    if (!target || !copy_values(*source, dynamic_cast<Array&>(*target), true, call_progress,
                                as_progress_data(progress), copy.empty() ? nullptr : &record)) {
      throw Error('/' + path + ": " + CPLGetLastErrorMsg());
    }
    session.flush();
    // GDAL has named dimensions that have no name, and the new array has the old one's place.
    const auto old = session.array_metadata(path);
    session.writable_hierarchy().update_node(
        beside,
        [&](zarrcore::NodeMetadata& node) {
          auto& metadata = std::get<zarrcore::ArrayMetadata>(node);
          metadata.attributes = old->attributes;
          metadata.dimension_names = old->dimension_names;
        },
        zarrcore::NodeKind::array);
    if (!has_transactions) copy_other_files(session, before.others(), path, beside);
    session.flush();
    check_is_as_copied(session, path, path, before);
  } catch (const Error&) {
    if (session.hierarchy().node(beside)) session.erase_node(beside);
    throw;
  }
  take_name(session, path, before);
}

}  // namespace

std::unique_ptr<MultidimDataset> open_multidim(const std::string& path, unsigned flags) {
  const char* const drivers[] = {"Zarr", nullptr};
  std::unique_ptr<GDALDataset> opened(GDALDataset::Open(
      path.c_str(), GDAL_OF_MULTIDIM_RASTER | GDAL_OF_VERBOSE_ERROR | flags, drivers));
  if (dynamic_cast<MultidimDataset*>(opened.get()) == nullptr) {
    throw Error(path + " cannot be opened: " + CPLGetLastErrorMsg());
  }
  return std::unique_ptr<MultidimDataset>(static_cast<MultidimDataset*>(opened.release()));
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

std::vector<std::string> rechunk_in_place(const std::string& path, CSLConstList options,
                                          const ChooseArrays& choose,
                                          const CommandProgress& progress) {
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
  if (!session.hierarchy().format().has_whole_documents()) {
    throw Error(path + ": its format keeps documents and chunks in folders apart: use --into");
  }
  try {
    end_exchanges(session, arrays_of(session).paths);
    std::vector<std::string> arrays = choose(session);
    erase_other_copies(session, arrays_of(session).paths, arrays);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      rechunk_array(*dataset, arrays[i], options, [&](double complete) {
        return progress((static_cast<double>(i) + complete) / static_cast<double>(arrays.size()));
      });
    }
    session.flush();
    std::vector<std::string> names;
    std::ranges::transform(arrays, std::back_inserter(names), node_name);
    session.commit_copy(name_nodes("rechunk", names));
    return arrays;
  } catch (...) {
    if (session.icechunk() != nullptr) session.roll_back();
    throw;
  }
}

RechunkState rechunk_state(const std::string& path) {
  const std::string folder = path + '/' + std::string(kRechunkLock);
  if (path.starts_with("/vsi") || !is_folder(folder)) return RechunkState::none;
  try {
    // Where locks are impossible, nobody knows.
    const auto lock =
        zarrcore::lock_folder(folder, zarrcore::LockMode::exclusive, std::chrono::milliseconds(0));
    if (lock) return RechunkState::interrupted;
    return is_folder(folder) ? RechunkState::running : RechunkState::none;
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

}  // namespace gdal_zarr
