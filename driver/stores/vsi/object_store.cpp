#include "driver/stores/vsi/object_store.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <cpl_vsi_error.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "driver/gdal/compat.h"
#include "driver/gdal/messages.h"
#include "driver/gdal/worker_scope.h"
#include "driver/stores/vsi/http_client.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/document_names.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// Categories of the debug messages of object stores.
constexpr std::array<std::string_view, 5> kCategories{"S3", "GS", "AZURE", "ADLS", "OSS"};

// Returns true if a debug message is the reply that a server sent instead of a page, which GDAL
// shows unchanged: a document, or no bytes. Other messages of this category name the requested
// server.
bool is_of_failure(std::string_view text) {
  return text.empty() || text == "(null)" || text.starts_with('<') || text.starts_with('{');
}

// The objects below a folder up to a number, or fewer if the server does not send the listing to
// its end.
std::vector<StoredObject> read_listing(const std::string& folder, std::size_t max_count) {
  constexpr int kAllDepths = -1;  // a server lists up to a thousand objects at once
  std::vector<StoredObject> objects;
  if (const auto listing = open_listing(folder, kAllDepths)) {
    while (objects.size() < max_count) {
      const VSIDIREntry* entry = VSIGetNextDirEntry(listing.get());
      if (entry == nullptr) break;
      StoredObject object{entry->pszName, {}};
      if (VSI_ISDIR(entry->nMode)) {
        if (!object.key.ends_with('/')) object.key += '/';
      } else if (entry->bSizeKnown) {
        object.size = entry->nSize;
      }
      objects.push_back(std::move(object));
    }
  }
  // Some versions of GDAL report no reason.
  if (objects.size() < max_count && VSIGetLastErrorNo() != VSIE_None) {
    throw zarrcore::AccessFailure(folder +
                                  ": its objects cannot be listed: " + QuietCall::reason());
  }
  return objects;
}

// The same, without reporting GDAL's messages.
std::vector<StoredObject> list_some_objects(const std::string& folder) {
  const QuietCall call;
  return read_listing(folder, SIZE_MAX);
}

// Runs `body(i)` in parallel, as requests that wait for a server.
template <typename Body>
void for_each_request(std::size_t count, const Body& body) {
  run_on(shared_context())(count, parallel_network_requests(), body);
}

// GDAL 3.6 sends a request for each blob of Azure, one after the other. Later versions name blobs
// without the account, as if it were in the name of the host: emulators have it in the path.
bool removes_many_blobs(const std::string& folder) {
  constexpr std::string_view kPrefix = "/vsiaz/";
  if (!GDAL_ZARR_AT_LEAST(3, 10) || !folder.starts_with(kPrefix)) return false;
  const QuietCall call;
  const char* const actual_url = VSIGetActualURL(folder.c_str());
  const std::string url = without_query(actual_url != nullptr ? actual_url : "");
  const auto path = url.find('/', std::min(url.find("://"), url.size()) + 3);
  return path < url.size() &&
         decode_percents(url.substr(path + 1)) == folder.substr(kPrefix.size());
}

// Returns true if the server removes many objects in one request. According to GDAL's documentation
// of the option, some servers with the interface of S3 do not.
bool removes_many(const std::string& folder) {
  const auto starts = [&](const char* prefix) { return STARTS_WITH(folder.c_str(), prefix); };
  if (starts("/vsis3/")) {
    return !CPLTestBool(
        VSIGetPathSpecificOption(folder.c_str(), "CPL_VSIS3_USE_BASE_RMDIR_RECURSIVE", "NO"));
  }
  return starts("/vsigs/") || removes_many_blobs(folder);
}

// Removes many objects in one request. The result is true for objects whose removal the server has
// confirmed.
std::vector<bool> remove_together(std::span<const std::string> paths) {
  CPLStringList list;
  for (const std::string& path : paths) list.AddString(path.c_str());
  const QuietCall call;
  const std::unique_ptr<int, decltype(&VSIFree)> is_removed(VSIUnlinkBatch(list.List()), VSIFree);
  std::vector<bool> result(paths.size());
  for (std::size_t i = 0; is_removed && i < paths.size(); ++i) result[i] = is_removed.get()[i] != 0;
  return result;
}

// Why an object exists and cannot be removed; empty if it has been removed or is absent.
std::string remove_one(const std::string& path) {
  std::string reason;
  {
    const QuietCall call;
    const bool is_folder = path.ends_with('/');
    const std::string folder = path.substr(0, path.size() - (is_folder ? 1 : 0));
    if ((is_folder ? VSIRmdir(folder.c_str()) : VSIUnlink(path.c_str())) == 0) return {};
    reason = QuietCall::reason();
  }
  VSICurlPartialClearCache(path.c_str());
  const QuietCall call;
  try {
    if (!open_file(path)) return {};
  } catch (const Error& error) {
    if (reason.empty()) reason = error.what();
  }
  return reason.empty() ? "the server did not remove it" : reason;
}

// The remaining paths, which could not be removed together.
void remove_one_by_one(const std::string& folder, std::vector<std::string> paths) {
  VSICurlPartialClearCache(folder.c_str());  // may show objects as they were before
  std::vector<std::string> problems(paths.size());
  const auto remove = [&](std::size_t i) { problems[i] = remove_one(paths[i]); };
  // Objects that represent folders can be removed when the folder is empty, lower ones first.
  std::sort(paths.begin(), paths.end(), std::greater());
  const auto folders = std::stable_partition(
      paths.begin(), paths.end(), [](const std::string& path) { return !path.ends_with('/'); });
  const auto objects = static_cast<std::size_t>(folders - paths.begin());
  for_each_request(objects, remove);
  for (std::size_t i = objects; i < paths.size(); ++i) remove(i);
  std::string message;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (problems[i].empty()) continue;
    message += (message.empty() ? "" : "; ") + paths[i] + ": " + problems[i];
  }
  if (!message.empty()) throw Error("cannot be removed: " + message);
}

void remove_paths(const std::string& folder, std::span<const std::string> paths) {
  constexpr std::size_t kMaxTogether = 1000;  // of DeleteObjects
  std::vector<std::string> rest;
  if (removes_many(folder)) {
    std::mutex mutex;
    for_each_request((paths.size() + kMaxTogether - 1) / kMaxTogether, [&](std::size_t batch) {
      const std::size_t start = batch * kMaxTogether;
      const auto some = paths.subspan(start, std::min(kMaxTogether, paths.size() - start));
      const std::vector<bool> is_removed = remove_together(some);
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (!is_removed[i]) rest.push_back(some[i]);
      }
    });
  } else {
    rest.assign(paths.begin(), paths.end());
  }
  if (!rest.empty()) remove_one_by_one(folder, std::move(rest));
}

// `first`, which need not be in the folder, and metadata documents before the others.
void remove_in_order(const std::string& folder, std::span<const std::string> first,
                     std::span<const StoredObject> objects) {
  std::set<std::string> rest;
  for (const StoredObject& object : objects) rest.insert(join_vsi_path(folder, object.key));
  std::vector<std::string> documents;
  for (const std::string& path : first) {
    if (rest.erase(path) > 0 || !zarrcore::key_below(folder, path)) documents.push_back(path);
  }
  for (const std::string& path : rest) {
    if (zarrcore::is_document_name(zarrcore::last_segment(path))) documents.push_back(path);
  }
  for (const std::string& path : documents) rest.erase(path);
  remove_paths(folder, documents);
  remove_paths(folder, std::vector<std::string>(rest.begin(), rest.end()));
}

// Calls `handle` with the objects below a folder, again and again until it has had all: a listing
// may end early, and other programs may add objects.
template <typename Handle>
void until_all_are_handled(const std::string& folder, const Handle& handle) {
  std::set<std::string> handled;
  for (;;) {
    std::vector<StoredObject> objects = list_some_objects(folder);
    std::erase_if(objects, [&](const auto& object) { return handled.contains(object.key); });
    handle(objects);
    if (objects.empty()) return;
    for (StoredObject& object : objects) handled.insert(std::move(object.key));
  }
}

void copy_one(const std::string& from, const std::string& to, std::optional<std::uint64_t> size) {
#if GDAL_ZARR_AT_LEAST(3, 7)
  const QuietCall call;
  const vsi_l_offset known_size = size ? *size : static_cast<vsi_l_offset>(-1);
  const bool is_copied =
      VSICopyFile(from.c_str(), to.c_str(), nullptr, known_size, nullptr, nullptr, nullptr) == 0;
#else
  // For a small value, one request costs less than the requests by which GDAL prepares a copy.
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 20;
  if (size && *size <= kSmall) {
    const File file = open_file(from, *size);
    if (!file) throw Error("it no longer exists");
    const zarrcore::Buffer bytes = read_bytes(file.get(), 0, file_size(file.get()));
    const zarrcore::ValuePart whole{bytes.span()};
    write_file(to, {&whole, 1});
    return;
  }
  const QuietCall call;
  const char* const options[] = {"SYNC_STRATEGY=OVERWRITE", nullptr};
  const bool is_copied = VSISync(from.c_str(), to.c_str(), options, nullptr, nullptr, nullptr) != 0;
#endif
  if (!is_copied) throw Error("cannot be copied: " + QuietCall::reason());
}

// Some servers report a failed copy as if it had succeeded.
void check_copies(const std::string& to, std::span<const StoredObject> objects) {
  std::map<std::string, std::optional<std::uint64_t>> copies;
  for (StoredObject& copy : list_objects(to)) copies.emplace(std::move(copy.key), copy.size);
  for (const StoredObject& object : objects) {
    const auto copy = copies.find(object.key);
    if (copy == copies.end()) throw Error(join_vsi_path(to, object.key) + ": the copy is missing");
    if (copy->second != object.size) {
      throw Error(join_vsi_path(to, object.key) + ": the copy has another size");
    }
  }
}

// Copies no objects that represent folders. Metadata documents last: if the process is killed, no
// array seems to have lost chunks.
void copy_all(const std::string& from, const std::string& to, std::vector<StoredObject> objects) {
  std::erase_if(objects, [](const auto& object) { return object.key.ends_with('/'); });
  if (objects.empty()) return;
  const auto documents =
      std::partition(objects.begin(), objects.end(), [](const StoredObject& object) {
        return !zarrcore::is_document_name(zarrcore::last_segment(object.key));
      });
  const auto copy = [&](std::span<const StoredObject> some) {
    for_each_request(some.size(), [&](std::size_t i) {
      const std::string source = join_vsi_path(from, some[i].key);
      zarrcore::with_context(
          source, [&] { copy_one(source, join_vsi_path(to, some[i].key), some[i].size); });
    });
  };
  try {
    copy({objects.begin(), documents});
    copy({documents, objects.end()});
    check_copies(to, objects);
  } catch (const Error& error) {
    try {
      std::vector<std::string> copies;
      copies.reserve(objects.size());
      for (const StoredObject& object : objects) copies.push_back(join_vsi_path(to, object.key));
      remove_paths(to, copies);
    } catch (const Error& rest) {
      throw Error(std::string(error.what()) + "; of the copies, these " + rest.what());
    }
    throw;
  }
}

}  // namespace

bool is_in_object_store(const std::string& path) {
  static constexpr std::string_view kPrefixes[] = {"/vsis3/", "/vsigs/", "/vsiaz/", "/vsioss/"};
  return starts_with_any(path, kPrefixes);
}

ListingFailures::ListingFailures() : user_debug_(CPLGetConfigOption("CPL_DEBUG", "OFF")) {
  if (!EQUAL(user_debug_.c_str(), "ON")) {
    std::string categories = EQUAL(user_debug_.c_str(), "OFF") ? "" : user_debug_;
    for (const std::string_view category : kCategories) categories.append(",").append(category);
    debug_.emplace("CPL_DEBUG", categories.c_str(), false);
  }
  CPLPushErrorHandlerEx(&ListingFailures::handle, this);
}

ListingFailures::~ListingFailures() {
  CPLPopErrorHandler();
  held_.emit();
}

void CPL_STDCALL ListingFailures::handle(CPLErr severity, CPLErrorNum number, const char* message) {
  auto& self = *static_cast<ListingFailures*>(CPLGetErrorHandlerUserData());
  const std::string_view text = message;
  const auto colon = text.find(": ");
  const auto* category = std::ranges::find(kCategories, text.substr(0, colon));
  if (severity == CE_Debug && category != kCategories.end()) {
    if (is_of_failure(text.substr(colon + 2))) {
      self.has_failed_ = true;
      try {
        self.reason_ = server_message(text.substr(colon + 2));
      } catch (const std::exception&) {
        // It failed for an unknown reason.
      }
    }
    const CPLString debug(self.user_debug_);
    const bool is_asked_for = !self.debug_ || debug.ifind(std::string(*category)) != debug.npos;
    if (!is_asked_for) return;
  }
  self.held_.add(severity, number, message);
}

void ListingFailures::check(const std::string& folder) const {
  if (!has_failed_) return;
  throw zarrcore::AccessFailure(folder +
                                ": the server did not send the listing of this folder to its end" +
                                (reason_.empty() ? reason_ : ": " + reason_));
}

std::vector<StoredObject> list_objects(const std::string& folder, std::size_t max_count) {
  const QuietCall call;
  const ListingFailures failures;
  std::vector<StoredObject> objects = read_listing(folder, max_count);
  if (objects.size() < max_count) failures.check(folder);
  return objects;
}

void remove_objects(const std::string& folder, std::span<const std::string> keys) {
  std::vector<std::string> paths;
  paths.reserve(keys.size());
  for (const std::string& key : keys) paths.push_back(join_vsi_path(folder, key));
  remove_paths(folder, paths);
}

void remove_object_folder(const std::string& folder, std::span<const std::string> first_paths) {
  std::span<const std::string> first = first_paths;
  until_all_are_handled(folder, [&](std::span<const StoredObject> objects) {
    // A listing that fails may look empty.
    if (objects.empty() && std::ranges::any_of(first, [&](const std::string& path) {
          return zarrcore::key_below(folder, path) && open_file(path) != nullptr;
        })) {
      throw zarrcore::AccessFailure(folder + ": its objects cannot be listed");
    }
    remove_in_order(folder, first, objects);
    first = {};
  });
}

void copy_object_folder(const std::string& from, const std::string& to) {
  copy_all(from, to, list_objects(from));
}

void rename_object_folder(const std::string& from, const std::string& to) {
  bool is_first = true;
  until_all_are_handled(from, [&](std::span<const StoredObject> objects) {
    if (std::exchange(is_first, false) && objects.empty()) {
      throw Error(from + ": its objects cannot be listed");
    }
    copy_all(from, to, {objects.begin(), objects.end()});
    try {
      remove_in_order(from, {}, objects);
    } catch (const Error& error) {
      throw Error("all objects have been copied to " + to + ", but these of " + from + ' ' +
                  error.what());
    }
  });
}

}  // namespace gdal_zarr
