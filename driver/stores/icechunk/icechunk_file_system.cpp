#include "driver/stores/icechunk/icechunk_file_system.h"

#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/icechunk/virtual_files.h"
#include "driver/stores/references/reference_file_system.h"
#include "driver/stores/vsi/file_version.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/formats.h"

namespace gdal_zarr {
namespace {

using zarrcore::icechunk::ChunkReference;
using zarrcore::icechunk::IcechunkStore;
using zarrcore::icechunk::VersionName;

// Where the values of a snapshot are.
class IcechunkReferences final : public References {
 public:
  explicit IcechunkReferences(const IcechunkPath& path)
      : repository_(path.repository),
        virtual_files_(path.repository, path.ignores_changes),
        store_(open_icechunk(path)) {}

  std::optional<Reference> find(std::string_view key) const override {
    if (!is_key(key)) return std::nullopt;
    const auto place = store_->locate(key);
    if (!place) return std::nullopt;
    const ChunkReference& found = place->reference;
    Reference reference;
    reference.is_path = true;
    switch (found.kind) {
      case ChunkReference::Kind::inlined:
        reference.value = zarrcore::Buffer::copy_of(found.bytes);
        return reference;
      case ChunkReference::Kind::native:
        reference.target = join_vsi_path(repository_, IcechunkStore::object_key(found));
        break;
      case ChunkReference::Kind::external:
        reference.target = virtual_files_.resolve(store_->virtual_file(found));
        break;
    }
    reference.offset = found.offset;
    reference.length = found.length;
    return reference;
  }

  zarrcore::DirectoryListing list(std::string_view prefix) const override {
    return store_->list(prefix);
  }
  zarrcore::DirectoryListing list_all(std::string_view prefix,
                                      std::uint64_t /*max_count*/) const override {
    return list(prefix);
  }
  bool has_below(std::string_view prefix) const override {
    return is_key(prefix) && store_->has_below(prefix);
  }
  void check() const override {}  // each file is checked when it is read
  std::uint64_t byte_count() const override { return 0; }

 private:
  // GDAL asks for files beside the repository as well.
  static bool is_key(std::string_view name) {
    try {
      zarrcore::check_key(name);
      return true;
    } catch (const zarrcore::Error&) {
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
  const auto info = version(zarrcore::icechunk::kRepositoryFile);
  if (info || path.version.kind != VersionName::Kind::branch) return info;
  return version(zarrcore::icechunk::branch_key(path.version.name));
}

struct OpenRepository {
  std::string name;
  FileVersion refs;
  std::shared_ptr<const References> references;
};

// A file system asks for a repository with every call.
class OpenRepositories {
 public:
  std::shared_ptr<const References> open(const IcechunkPath& path) {
    const std::string name = format_icechunk_path(path);
    const bool is_fixed = path.version.kind == VersionName::Kind::snapshot;
    // Taken before reading: a change afterwards is found then.
    const std::optional<FileVersion> refs = is_fixed ? FileVersion() : version_of_refs(path);
    const bool is_certain = is_fixed || (refs && !refs->is_ambiguous());
    const std::optional<FileVersion> known = is_certain ? refs : std::nullopt;
    if (auto found = known ? find(name, *known) : nullptr) return found;
    // Without the lock: the repository may be inside of another one.
    auto references = std::make_shared<const IcechunkReferences>(path);
    if (known) {
      const std::lock_guard lock(mutex_);
      std::erase_if(open_, [&](const OpenRepository& each) { return each.name == name; });
      open_.push_front({name, *known, references});
      if (open_.size() > kMaxOpen) open_.pop_back();
    }
    return references;
  }

 private:
  static constexpr std::size_t kMaxOpen = 8;

  // Null if it is not open, or has another version.
  std::shared_ptr<const References> find(const std::string& name, const FileVersion& refs) {
    const std::lock_guard lock(mutex_);
    for (auto it = open_.begin(); it != open_.end(); ++it) {
      if (it->name != name || it->refs != refs) continue;
      open_.splice(open_.begin(), open_, it);
      return it->references;
    }
    return nullptr;
  }

  std::mutex mutex_;
  std::list<OpenRepository> open_;  // most recently used first
};

NamedReferences open_named_icechunk(const std::string& name) {
  static auto& repositories = *new OpenRepositories;
  IcechunkPath path = parse_icechunk_path(name);
  const std::string key = std::exchange(path.key, {});
  return {path.repository, key, repositories.open(path)};
}

}  // namespace

void install_icechunk_file_system() {
  install_reference_file_system(kIcechunkPrefix, open_named_icechunk);
}

}  // namespace gdal_zarr
