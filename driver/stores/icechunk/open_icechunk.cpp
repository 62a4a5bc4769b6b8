#include "driver/stores/icechunk/open_icechunk.h"

#include <cpl_string.h>

#include <algorithm>
#include <cctype>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/gdal/worker_scope.h"
#include "driver/stores/icechunk/virtual_sources.h"
#include "driver/stores/references/neighbour_reads.h"
#include "driver/stores/references/store_file_system.h"
#include "driver/stores/references/target_files.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/lru_cache.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/icechunk/formats.h"
#include "zarrcore/icechunk/object_file.h"

namespace gdal_zarr {

using namespace zarrcore::icechunk;

namespace {

using zarrcore::Error;

// The number of files that are known not to have changed. More are checked again.
constexpr std::size_t kMaxUnchanged = 100'000;

// "/a/../b" as "/b".
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (segment != ".") {
      segments.push_back(segment);
    }
  }
  std::string result;
  for (const std::string_view segment : segments) result.append("/").append(segment);
  return result;
}

// The URL as TargetFiles takes it: object stores and local files have names, not URLs, so these are
// without percent-encoding and without a query.
std::string target_of(const std::string& url) {
  constexpr std::string_view kEndOfScheme = "://";
  const auto end = url.find(kEndOfScheme);
  const auto is_of_scheme = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
  };
  if (end == std::string::npos || end == 0 ||
      !std::all_of(url.begin(), url.begin() + static_cast<std::ptrdiff_t>(end), is_of_scheme)) {
    throw Error("the place of a virtual chunk is not a URL");
  }
  const std::string scheme = zarrcore::lower_case(url.substr(0, end));
  if (scheme == "http" || scheme == "https" || scheme == "ftp") return url;
  const std::size_t start = end + kEndOfScheme.size();
  const std::string name = decode_percents(
      url.substr(start, std::min(url.find_first_of("?#", start), url.size()) - start));
  if (scheme != "file") return scheme + std::string(kEndOfScheme) + name;
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) throw Error("the URL names no file");
  return "file://" + name.substr(0, slash) + without_dots(name.substr(slash));
}

std::string_view without_quotes(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  return etag;
}

// Reads the files of virtual chunks. Safe to use from several threads at once.
class VsiVirtualFiles final : public VirtualFiles {
 public:
  // A repository from the network may not name local files; see TargetFiles. If the path says so,
  // files may have changed since they were referenced.
  explicit VsiVirtualFiles(const IcechunkPath& path)
      : targets_(path.repository),
        ignores_changes_(path.ignores_changes),
        // Also a local repository may have virtual chunks on the network.
        parallel_requests_(has_foreign_file_system(path.repository) ? 1
                                                                    : parallel_network_requests()) {
  }

  std::vector<zarrcore::Buffer> get_ranges(const VirtualFile& file,
                                           std::span<const zarrcore::ByteRange> ranges) override {
    Reference whole;
    whole.target = resolve(file);
    if (ranges.size() == 1) {
      const Reference part = part_of(whole.target, ranges[0]);
      if (auto value = neighbours_.take(part, ranges[0].length)) {
        std::vector<zarrcore::Buffer> values;
        values.push_back(*std::move(value));
        return values;
      }
    }
    return targets_.get_ranges(whole, ranges);
  }
  std::shared_ptr<void> expect(std::span<const Part> parts) override {
    std::vector<Reference> references;
    for (const Part& part : parts) {
      try {
        references.push_back(part_of(targets_.resolve(target_of(part.file.url)), part.range));
      } catch (const Error&) {
        return nullptr;  // reading the chunk reports it
      }
      if (!is_network_path(references[0].target)) return nullptr;
    }
    return neighbours_.expect(std::move(references));
  }
  std::size_t parallel_requests() const override { return parallel_requests_; }

  // The path of a file for GDAL. Throws zarrcore::Error, which names the file, when GDAL cannot
  // open it, it is not allowed, or it has changed. The time and ETag of a file are requested once.
  std::string resolve(const VirtualFile& file) {
    return zarrcore::with_context({file.url}, [&] {
      std::string path = targets_.resolve(target_of(file.url));
      if (!ignores_changes_) check_is_unchanged(path, file);
      return path;
    });
  }

 private:
  static Reference part_of(std::string path, const zarrcore::ByteRange& range) {
    Reference part;
    part.target = std::move(path);
    part.is_path = true;
    part.offset = range.offset;
    part.length = range.length;
    return part;
  }
  void check_is_unchanged(const std::string& path, const VirtualFile& file);

  TargetFiles targets_;
  NeighbourReads neighbours_{targets_};
  bool ignores_changes_;
  std::size_t parallel_requests_;
  std::mutex mutex_;
  std::condition_variable checked_;
  // Files, with the time and ETag that they have had: true if they are unchanged, false while this
  // is checked.
  std::map<std::string, bool> unchanged_;
};

// GDAL cannot send conditions with its requests.
void VsiVirtualFiles::check_is_unchanged(const std::string& path, const VirtualFile& file) {
  // Local files have no ETag.
  const bool has_etag = !file.etag.empty() && is_network_path(path);
  if (!has_etag && file.last_modified == 0) return;
  const std::string key = path + '\n' + file.etag + '\n' + std::to_string(file.last_modified);
  {
    std::unique_lock lock(mutex_);
    if (unchanged_.size() >= kMaxUnchanged) {
      std::erase_if(unchanged_, [](const auto& item) { return item.second; });
    }
    checked_.wait(lock, [&] {
      const auto found = unchanged_.find(key);
      return found == unchanged_.end() || found->second;
    });
    if (!unchanged_.emplace(key, false).second) return;
  }
  bool is_unchanged = false;
  const auto end = std::shared_ptr<void>(nullptr, [&](void* /*none*/) {
    const std::lock_guard lock(mutex_);
    is_unchanged ? void(unchanged_[key] = true) : void(unchanged_.erase(key));
    checked_.notify_all();
  });
  const VsiCall call;
  constexpr const char* kHint =
      " (the open option IGNORE_TIMESTAMP_ETAG=YES reads it all the same)";
  const std::string etag = has_etag ? etag_of(path) : std::string();
  VSIStatBufL status;
  if (etag.empty() || file.last_modified != 0) {
    if (VSIStatL(path.c_str(), &status) != 0) {
      throw Error("this file, which a reference names, does not exist or cannot be read");
    }
    const std::uint32_t time = time_of(status, !is_network_path(path));
    if (file.last_modified != 0 && time > file.last_modified) {
      throw Error("the file has changed since a virtual chunk was made of it: its time is " +
                  std::to_string(time) + ", and must be " + std::to_string(file.last_modified) +
                  " at most" + kHint);
    }
  }
  if (has_etag && without_quotes(etag) != without_quotes(file.etag)) {
    throw Error("the file has changed since a virtual chunk was made of it: its ETag is " +
                (etag.empty() ? "unknown" : etag) + ", and must be " + file.etag + kHint);
  }
  is_unchanged = true;
}

// Where the values of a snapshot are, for the file system.
class IcechunkReferences final : public References {
 public:
  explicit IcechunkReferences(const IcechunkPath& path)
      : repository_(path.repository), virtual_files_(path), store_(open_icechunk(path)) {}

  std::optional<Reference> find(std::string_view key) const override {
    if (!is_key(key)) return std::nullopt;
    const auto place = store_->locate(key);
    if (!place) return std::nullopt;
    const ChunkReference& found = place->reference;
    Reference reference;
    reference.offset = found.offset;
    reference.length = found.length;
    reference.is_path = true;
    switch (found.kind) {
      case ChunkReference::Kind::inlined:
        reference.value = zarrcore::Buffer::copy_of(found.bytes);
        break;
      case ChunkReference::Kind::native:
        reference.target = join_vsi_path(repository_, IcechunkStore::object_key(found));
        break;
      case ChunkReference::Kind::external:
        reference.target = virtual_files_.resolve(store_->virtual_file(found));
        break;
    }
    return reference;
  }

  zarrcore::DirectoryListing list(std::string_view prefix) const override {
    return store_->list(prefix);
  }
  bool has_below(std::string_view prefix) const override {
    return is_key(prefix) && store_->has_below(prefix);
  }

 private:
  // GDAL also looks for files beside the repository.
  static bool is_key(std::string_view name) {
    try {
      zarrcore::check_key(name);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  std::string repository_;
  mutable VsiVirtualFiles virtual_files_;
  std::shared_ptr<IcechunkStore> store_;
};

// The version of the file that says which snapshot a branch or tag is.
std::optional<FileVersion> version_of_refs(const IcechunkPath& path) {
  const auto version = [&](std::string_view key) {
    return find_file_version(join_vsi_path(path.repository, key));
  };
  const auto info = version(kRepositoryFile);
  if (info || path.version.kind != VersionName::Kind::branch) return info;
  return version(branch_key(path.version.name));
}

// The last repositories that the file system has opened.
struct OpenRepository {
  static constexpr std::size_t kMaxCount = 8;
  static constexpr std::uint64_t kBytes = 1 << 20;  // for the cache, which counts bytes

  FileVersion refs;
  std::shared_ptr<const ReferenceStore> store;
};

NamedValue open_named_value_of_icechunk(const std::string& name) {
  static auto& cache = *new zarrcore::LruCache<OpenRepository>((OpenRepository::kMaxCount + 1) *
                                                               OpenRepository::kBytes);
  IcechunkPath path = parse_icechunk_path(name);
  std::string key = std::exchange(path.key, {});
  const std::string repository = format_icechunk_path(path);
  const bool is_fixed = path.version.kind == VersionName::Kind::snapshot;
  // Determined before reading, so that a later change is noticed.
  const std::optional<FileVersion> refs = is_fixed ? FileVersion() : version_of_refs(path);
  const bool is_certain = is_fixed || (refs && !refs->is_ambiguous());
  if (is_certain) {
    const auto found = cache.find(repository);
    if (found && found->refs == *refs) return {found->store, std::move(key)};
  }
  auto store = std::make_shared<const ReferenceStore>(
      std::make_shared<const IcechunkReferences>(path), path.repository);
  if (is_certain) {
    cache.insert(repository, std::make_shared<const OpenRepository>(OpenRepository{*refs, store}),
                 OpenRepository::kBytes);
  }
  return {std::move(store), std::move(key)};
}

}  // namespace

bool is_icechunk_folder(const std::string& path) {
  const std::string info = join_vsi_path(path, kRepositoryFile);
  if (is_file(info)) {
    try {
      const File file = open_file(info);
      return file && file_size(file.get()) >= kEnvelopeSize &&
             has_envelope(read_bytes(file.get(), 0, kEnvelopeSize).span(), FileType::repository);
    } catch (const Error&) {
      return false;
    }
  }
  return path_exists(join_vsi_path(path, branch_key(VersionName().name)));
}

bool is_only_icechunk(const std::string& path) {
  return !is_zarr_folder(path) && is_icechunk_folder(path);
}

std::string find_icechunk_path(const std::string& path, const std::optional<VersionName>& version,
                               bool ignores_changes) {
  const bool has_prefix = has_icechunk_prefix(path);
  if (!has_prefix && !version) {
    // On the network, finding out takes requests, which are not spent on stores of other kinds.
    const bool is_examined = VSIIsLocal(path.c_str()) || ignores_changes;
    if (!is_examined || !is_only_icechunk(path)) return path;
  }
  IcechunkPath named = has_prefix ? parse_icechunk_path(path) : IcechunkPath{path};
  if (version) {
    if (named.has_version) {
      throw Error("the name says which " + describe(named.version) +
                  " to open, so the option must not say another");
    }
    named.version = *version;
    named.has_version = true;
  }
  named.ignores_changes |= ignores_changes;
  return format_icechunk_path(named);
}

std::shared_ptr<VirtualFiles> make_virtual_files(const IcechunkPath& path) {
  return std::make_shared<VsiVirtualFiles>(path);
}

std::shared_ptr<IcechunkStore> open_icechunk(const IcechunkPath& path) {
  auto files = make_store(path.repository);
  files->refresh();  // branches and tags may have changed
  return std::make_shared<IcechunkStore>(
      Repository::open(std::move(files), path.version, run_on(shared_context())), path.version,
      make_virtual_files(path), zarrcore::normalize_path(path.key));
}

void install_icechunk_file_system() {
  install_store_file_system(kIcechunkPrefix, open_named_value_of_icechunk);
}

}  // namespace gdal_zarr
