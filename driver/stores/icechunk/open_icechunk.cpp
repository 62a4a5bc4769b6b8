#include "driver/stores/icechunk/open_icechunk.h"

#include <cpl_port.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "driver/gdal/worker_scope.h"
#include "driver/stores/icechunk/virtual_chunks.h"
#include "driver/stores/references/store_file_system.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/lru_cache.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/icechunk/object_file.h"
#include "zarrcore/icechunk/repository.h"

namespace gdal_zarr {

using namespace zarrcore::icechunk;

namespace {

using zarrcore::Error;

constexpr std::string_view kScheme = "ICECHUNK:";
constexpr std::string_view kIgnoreChanges = "ignore-timestamp-etag";

struct VersionKey {
  std::string_view name;
  VersionName::Kind kind;
};
constexpr std::array<VersionKey, 3> kVersionKeys{{{"branch", VersionName::Kind::branch},
                                                  {"tag", VersionName::Kind::tag},
                                                  {"snapshot", VersionName::Kind::snapshot}}};

const VersionKey* find_version_key(std::string_view name) {
  const auto* const found = std::find_if(kVersionKeys.begin(), kVersionKeys.end(),
                                         [&](const VersionKey& key) { return key.name == name; });
  return found == kVersionKeys.end() ? nullptr : found;
}

bool is_parameter(std::string_view text) {
  const std::string_view name = text.substr(0, text.find('='));
  return name.size() < text.size() && (name == kIgnoreChanges || find_version_key(name) != nullptr);
}

// Sets what "branch=NAME" says.
void apply(std::string_view parameter, IcechunkPath& path) {
  const auto equal = parameter.find('=');
  const std::string_view name = parameter.substr(0, equal);
  const std::string value = decode_percents(parameter.substr(equal + 1));
  if (name == kIgnoreChanges) {
    const std::string lower = zarrcore::lower_case(value);
    path.ignores_changes = lower == "yes" || lower == "true" || lower == "on" || lower == "1";
    return;
  }
  if (path.has_version) {
    throw Error("the name of an Icechunk repository has more than one of branch, tag and snapshot");
  }
  if (value.empty()) throw Error(std::string(name) + "= is followed by no name");
  path.version = {find_version_key(name)->kind, value};
  path.has_version = true;
}

// Takes the parameters from the end of `text`.
IcechunkPath parse_location(std::string_view text) {
  IcechunkPath path;
  while (true) {
    const auto separator = text.find_last_of("?&");
    if (separator == std::string_view::npos || !is_parameter(text.substr(separator + 1))) break;
    apply(text.substr(separator + 1), path);
    text = text.substr(0, separator);
  }
  // Else a misspelled parameter would silently open the branch main.
  const auto question = text.find('?');
  if (question != std::string_view::npos && !text.starts_with("/vsicurl")) {
    throw Error(std::string(text) +
                ": a path of an Icechunk repository is followed by ?branch=NAME, ?tag=NAME, "
                "?snapshot=ID or ?ignore-timestamp-etag=yes");
  }
  // Each is opened several times for the one around it.
  constexpr int kMaxNested = 3;
  int nested = 1;
  for (std::size_t at = 0; (at = text.find(kIcechunkPrefix, at)) != text.npos; ++at) ++nested;
  if (nested > kMaxNested)
    throw Error("more than " + std::to_string(kMaxNested) + " repositories are within one another");
  path.repository = text.size() > 1 ? zarrcore::without_trailing(text, '/') : text;
  if (path.repository.empty()) throw Error("the name of an Icechunk repository has no path");
  return path;
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

  zarrcore::DirectoryListing list(std::string_view prefix,
                                  std::uint64_t /*max_chunks*/) const override {
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

bool has_icechunk_scheme(const std::string& name) {
  return STARTS_WITH_CI(name.c_str(), kScheme.data());
}

bool has_icechunk_prefix(std::string_view name) {
  return name.starts_with(kIcechunkPrefix);
}

bool is_icechunk_name(const std::string& name) {
  return has_icechunk_scheme(name) || has_icechunk_prefix(name);
}

IcechunkPath parse_icechunk_path(const std::string& name) {
  if (has_icechunk_scheme(name)) {
    std::string_view text = std::string_view(name).substr(kScheme.size());
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
      text = text.substr(1, text.size() - 2);
    }
    return parse_location(text);
  }
  const std::string_view text = std::string_view(name).substr(
      std::min(has_icechunk_prefix(name) ? kIcechunkPrefix.size() : name.size(), name.size()));
  const auto end = closing_brace(text);
  if (!end) {
    throw Error(name + ": " + std::string(kIcechunkPrefix) +
                " is followed by a path in braces, as in " + std::string(kIcechunkPrefix) +
                "{path}/group");
  }
  IcechunkPath path = parse_location(text.substr(1, *end - 1));
  path.key = zarrcore::without_trailing(text.substr(*end + 1), '/');
  path.key.erase(0, path.key.starts_with('/') ? 1 : 0);
  return path;
}

std::string format_icechunk_path(const IcechunkPath& path) {
  std::string name = std::string(kIcechunkPrefix) + '{' + path.repository;
  char separator = '?';
  const auto add = [&](std::string_view key, const std::string& value) {
    name += separator + std::string(key) + '=' + value;
    separator = '&';
  };
  if (path.has_version) {
    for (const VersionKey& key : kVersionKeys) {
      if (key.kind == path.version.kind) add(key.name, percent_encoded(path.version.name));
    }
  }
  if (path.ignores_changes) add(kIgnoreChanges, "yes");
  name += '}';
  return path.key.empty() ? name : name + '/' + path.key;
}

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

std::shared_ptr<IcechunkStore> open_icechunk(const IcechunkPath& path) {
  auto files = make_store(path.repository);
  files->refresh();  // branches and tags may have changed
  return std::make_shared<IcechunkStore>(
      Repository::open(std::move(files), path.version, run_on(shared_context())), path.version,
      std::make_shared<VsiVirtualFiles>(path), zarrcore::normalize_path(path.key));
}

void install_icechunk_file_system() {
  install_store_file_system(kIcechunkPrefix, open_named_value_of_icechunk);
}

}  // namespace gdal_zarr
