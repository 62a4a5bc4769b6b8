#include "driver/stores/vsi/vsi_store.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "driver/gdal/config_options.h"
#include "driver/gdal/messages.h"
#include "driver/stores/vsi/absent_keys.h"
#include "driver/stores/vsi/http_client.h"
#include "driver/stores/vsi/http_options.h"
#include "driver/stores/vsi/object_put.h"
#include "driver/stores/vsi/object_store.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteRange;
using zarrcore::Error;
using zarrcore::ValuePart;

// Writes a temporary file and renames it.
void put_file(const std::string& path, std::span<const ValuePart> parts) {
  const std::string folder = CPLGetPath(path.c_str());
  VSIStatBufL status;
  if (VSIStatExL(folder.c_str(), &status, VSI_STAT_EXISTS_FLAG) != 0) {
    VSIMkdirRecursive(folder.c_str(), 0755);
  }
  const std::string temporary = partial_path(path);
  try {
    write_file(temporary, parts);
    if (VSIRename(temporary.c_str(), path.c_str()) != 0) {
      throw Error("the temporary file cannot be renamed");
    }
  } catch (...) {
    VSIUnlink(temporary.c_str());
    throw;
  }
}

// Why a store cannot be written; empty if it can.
std::string_view read_only_reason(std::string_view root) {
  if (is_in_archive(root)) return "it is packed in an archive";
  static constexpr std::string_view kReadOnly[] = {"/vsicurl", "/vsigzip/", "/vsisubfile/",
                                                   "/vsistdin"};
  return starts_with_any(root, kReadOnly) ? "GDAL cannot write through this prefix" : "";
}

class VsiStore final : public zarrcore::Store {
  // What cannot be read of an archive on a disk is damaged.
  template <typename Body>
  auto in_archive(const Body& body) const {
    try {
      return body();
    } catch (const zarrcore::OutOfMemory&) {
      throw;
    } catch (const zarrcore::AccessFailure& error) {
      if (!is_local_ || !is_in_archive(root_)) throw;
      throw Error(error.what());
    }
  }

  // Calls `read` with the open file of `key`, of which it reads the first `wanted` bytes; empty
  // when the file is absent.
  template <typename Read>
  auto with_file(std::string_view key, const Read& read, std::uint64_t wanted = 0) const {
    using Found = std::optional<decltype(read(nullptr))>;
    const std::string path = path_of(key);
    if (absent_->contains(key)) return Found();
    return zarrcore::with_context(path, [&] {
      return in_archive([&]() -> Found {
        const File file = open_file(path, wanted);
        if (file) return read(file.get());
        if (!is_local_) absent_->add(key);
        return std::nullopt;
      });
    });
  }

 public:
  VsiStore(std::string root, std::shared_ptr<zarrcore::RequestStatistics> statistics,
           std::shared_ptr<AbsentKeys> absent)
      : root_(std::move(root)),
        is_local_(VSIIsLocal(root_.c_str()) != FALSE),
        is_foreign_(has_foreign_file_system(root_)),
        is_in_object_store_(is_in_object_store(root_)),
        statistics_(std::move(statistics)),
        absent_(std::move(absent)) {
    constexpr std::uint64_t kOverNetwork = std::uint64_t{1} << 20;
    traits_.is_folder = !is_in_archive(root_);
    traits_.lists_all_at_once = is_in_object_store_;
    traits_.read_only_reason = read_only_reason(root_);
    traits_.request_statistics = statistics_.get();
    if (is_in_object_store_) traits_.listings = absent_.get();
    if (is_local_) return;
    traits_.bytes_per_range = kOverNetwork;
    if (!is_foreign_) traits_.parallel_requests = parallel_network_requests();
  }

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    zarrcore::CountedRequest request(statistics_.get());
    return with_file(
        key,
        [&](VSILFILE* file) {
          const std::uint64_t size = file_size(file);
          zarrcore::check_value_size(size, max_size);
          request.add_bytes(size);
          return read_bytes(file, 0, size);
        },
        max_size);
  }

  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    zarrcore::CountedRequest request(statistics_.get());
    for (const ByteRange& range : ranges) request.add_bytes(range.length);
    return with_file(key, [&](VSILFILE* file) {
      // Such a file system may have no function for several ranges.
      return read_ranges(file, ranges, is_foreign_);
    });
  }

  // Where files can be renamed, as on disks, a temporary file replaces the old one; an object store
  // gets one complete write, which becomes visible when it is closed.
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const zarrcore::PutOptions& options) override {
    const std::string path = path_of(key);
    if (options.depends_on_read) warn_of_others();
    zarrcore::with_context(path, [&] {
      if (is_local_) {
        put_file(path, parts);
      } else {
        absent_->remove(key);
        put_object(path, parts);
        absent_->remove(key);
      }
    });
    return true;
  }

  bool erase(std::string_view key, const zarrcore::EraseOptions& options) override {
    const std::string path = path_of(key);
    if (options.depends_on_read) warn_of_others();
    if (is_in_object_store_) {
      const std::string erased(key);
      remove_objects(root_, {&erased, 1});
      return true;
    }
    const VsiCall call;
    if (VSIUnlink(path.c_str()) == 0) return true;
    VSIStatBufL status;
    if (VSIStatL(path.c_str(), &status) == 0 && !VSI_ISDIR(status.st_mode)) {
      throw Error(path + ": cannot be removed");
    }
    return true;
  }

  void erase_all(std::span<const std::string> keys) override {
    if (!is_in_object_store_) return Store::erase_all(keys);
    std::ranges::for_each(keys, zarrcore::check_key);
    remove_objects(root_, keys);
  }

  void erase_prefix(std::string_view prefix, std::span<const std::string> first) override {
    if (is_in_object_store_) {
      std::vector<std::string> paths;
      for (const std::string& key : first) paths.push_back(path_of(key));
      remove_object_folder(path_of(prefix), paths);
      return;
    }
    Store::erase_prefix(prefix, first);
    VSIRmdirRecursive(path_of(prefix).c_str());
  }

  bool rename_prefix(std::string_view from, std::string_view to,
                     const zarrcore::RenameOptions& options) override {
    if (!is_in_object_store_) return Store::rename_prefix(from, to, options);
    if (options.exchanges) return false;
    absent_->clear();
    rename_object_folder(path_of(from), path_of(to));
    absent_->clear();
    return true;
  }

  void visit_values(std::string_view prefix, const VisitValue& visit,
                    const zarrcore::VisitOptions& options) override {
    const zarrcore::CountedRequest request(statistics_.get());
    if (is_in_object_store_) {
      for (const StoredObject& object : list_objects(folder_of(prefix))) {
        const std::string key = zarrcore::join_path(prefix, object.key);
        if (is_value(key)) visit(key, object.size);
      }
      return;
    }
    std::vector<std::string> prefixes;
    visit_entries(prefix, [&](const VSIDIREntry& entry, bool is_folder) {
      std::string key = zarrcore::join_path(prefix, entry.pszName);
      if (is_folder) {
        prefixes.push_back(std::move(key));
      } else {
        visit(key, entry.bSizeKnown ? std::optional<std::uint64_t>(entry.nSize) : std::nullopt);
      }
      return true;
    });
    for (const std::string& below : prefixes) visit_values(below, visit, options);
  }
  zarrcore::DirectoryListing list(std::string_view prefix,
                                  const zarrcore::ListOptions& options) override {
    const zarrcore::CountedRequest request(statistics_.get());
    const std::uint64_t begun = absent_->begin_listing();
    const bool finds_one = is_in_object_store_ && options.max_names == 1;
    zarrcore::DirectoryListing listing =
        finds_one ? find_one(prefix) : list_names(prefix, options.max_names);
    if (listing.size() < options.max_names) absent_->end_listing(begun, prefix, listing);
    return listing;
  }

  zarrcore::StoreTraits traits() const override { return traits_; }

  // Clears the caches of missing keys and, for network paths, GDAL's cache of fetched files.
  void refresh(std::optional<std::string_view> key) override {
    const std::string path = key ? path_of(*key) : root_;
    if (!is_local_) VSICurlPartialClearCache(path.c_str());
    key ? absent_->remove(*key) : absent_->clear();
  }

  std::optional<Parent> parent() const override {
    const auto end = root_.find_last_not_of('/');
    const auto slash = root_.find_last_of('/', end);
    // "/vsimem" and "/vsis3/bucket" have no parent folder.
    if (slash == std::string::npos || std::count(root_.begin(), root_.begin() + slash, '/') < 2) {
      return std::nullopt;
    }
    if (is_whole_by_name(root_.substr(0, end + 1))) return std::nullopt;
    return Parent{make_store(root_.substr(0, slash)), root_.substr(slash + 1, end - slash)};
  }

  std::string description() const override { return root_; }

 private:
  std::string path_of(std::string_view key) const {
    zarrcore::check_key(key);
    return join_vsi_path(root_, key);
  }

  std::string folder_of(std::string_view prefix) const {
    return prefix.empty() ? root_ : path_of(prefix);
  }

  void warn_of_others() {
    if (!is_local_) warn_of_other_writers(root_, has_warned_);
  }

  zarrcore::DirectoryListing find_one(std::string_view prefix) const {
    zarrcore::DirectoryListing listing;
    for (const StoredObject& object : list_objects(folder_of(prefix), 1)) {
      const auto slash = object.key.find('/');
      (slash == std::string::npos ? listing.keys : listing.prefixes)
          .push_back(object.key.substr(0, slash));
    }
    return listing;
  }

  // Stops when `visit(entry, is_folder)` returns false.
  template <typename Visit>
  void visit_entries(std::string_view prefix, const Visit& visit) const {
    const VsiCall call;
    const std::string path = folder_of(prefix);
    const ListingFailures failures;
    const FolderListing directory = open_listing(path, 0);
    bool is_empty = true;
    while (const VSIDIREntry* entry = directory ? VSIGetNextDirEntry(directory.get()) : nullptr) {
      const std::string_view name = entry->pszName;
      is_empty = false;
      if (!zarrcore::is_valid_segment(name) || name.ends_with(zarrcore::kTemporarySuffix)) continue;
      bool is_directory = VSI_ISDIR(entry->nMode);
      if (!entry->bModeKnown) {
        VSIStatBufL status;
        const std::string child = path + '/' + entry->pszName;
        is_directory = VSIStatL(child.c_str(), &status) == 0 && VSI_ISDIR(status.st_mode);
      }
      if (!visit(*entry, is_directory)) return;
    }
    failures.check(path);
    if (is_empty) check_listing(prefix);
  }

  // GDAL shows the folder of a web server as empty, also when the server has failed to list it.
  // Many servers list no folders, which the root tells.
  void check_listing(std::string_view prefix) const {
    auto folder = is_in_object_store_ ? std::nullopt : HttpFolder::parse(root_);
    if (!folder || lists_nothing_) return;
    constexpr std::uint64_t kMaxListing = std::uint64_t{1} << 20;
    const std::string key = prefix.empty() ? std::string() : std::string(prefix) + '/';
    try {
      HttpClient client(*std::move(folder), statistics_);
      if (!client.get(key, "0-0", kMaxListing) && key.empty()) lists_nothing_ = true;
    } catch (const zarrcore::NotAValue&) {  // a page, which lists nothing
    } catch (const HttpClient::TooLarge&) {
    } catch (const HttpClient::OutOfRange&) {
    } catch (const zarrcore::AccessDenied&) {
      if (key.empty()) lists_nothing_ = true;
    } catch (const zarrcore::AccessFailure& error) {
      throw zarrcore::AccessFailure(join_vsi_path(root_, key) +
                                    " cannot be listed: " + error.what());
    }
  }

  zarrcore::DirectoryListing list_names(std::string_view prefix, std::size_t max_names) const {
    zarrcore::DirectoryListing listing;
    visit_entries(prefix, [&](const VSIDIREntry& entry, bool is_folder) {
      (is_folder ? listing.prefixes : listing.keys).emplace_back(entry.pszName);
      return listing.size() < max_names;
    });
    std::sort(listing.keys.begin(), listing.keys.end());
    std::sort(listing.prefixes.begin(), listing.prefixes.end());
    return listing;
  }

  static bool is_value(std::string_view key) {
    try {
      zarrcore::check_key(key);
    } catch (const Error&) {
      return false;
    }
    return !key.ends_with(zarrcore::kTemporarySuffix);
  }

  std::string root_;
  bool is_local_;
  bool is_foreign_;  // see has_foreign_file_system()
  bool is_in_object_store_;
  std::shared_ptr<zarrcore::RequestStatistics> statistics_;  // may be null
  std::shared_ptr<AbsentKeys> absent_;
  std::atomic<bool> has_warned_{false};
  mutable std::atomic<bool> lists_nothing_{false};  // of a web server
  zarrcore::StoreTraits traits_;
};

}  // namespace

std::size_t parallel_network_requests() {
  const int requests = std::atoi(config_option(ConfigOption::parallel_requests));
  return static_cast<std::size_t>(std::clamp(requests, 1, 256));
}

void warn_of_other_writers(const std::string& root, std::atomic<bool>& has_warned) {
  if (has_warned.exchange(true)) return;
  report(
      CE_Warning, CPLE_AppDefined,
      "%s: parts of chunks are written. If another program writes to the same chunks at the same "
      "time, some of its elements or of these can be lost, unless both use the open option LOCKS",
      root.c_str());
}

std::shared_ptr<zarrcore::Store> make_store(const std::string& name) {
  if (!STARTS_WITH(name.c_str(), "/vsi")) {
    zarrcore::FileSystemOptions options;
    options.is_durable = CPLTestBool(config_option(ConfigOption::fsync));
    options.lock_timeout = lock_timeout();
    return std::make_shared<zarrcore::FileSystemStore>(zarrcore::path_of_utf8(name), options);
  }
  const std::string path = without_streaming(name);
  const auto statistics = debugs() ? std::make_shared<zarrcore::RequestStatistics>() : nullptr;
  const auto absent = std::make_shared<AbsentKeys>(statistics);
  auto store = std::make_shared<VsiStore>(path, statistics, absent);
  auto folder = HttpFolder::parse(path);
  return folder ? make_http_store(std::move(*folder), std::move(store), statistics, absent) : store;
}

}  // namespace gdal_zarr
