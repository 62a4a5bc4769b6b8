#include "zarrcore/icechunk/flatbuffers.h"
#include "zarrcore/icechunk/formats.h"
#include "zarrcore/icechunk/object_file.h"

namespace zarrcore::icechunk {
namespace {

constexpr unsigned kOffline = 2;

// The ids of fields.
namespace field {
constexpr unsigned kVersion = 0;
constexpr unsigned kTags = 1;
constexpr unsigned kBranches = 2;
constexpr unsigned kDeletedTags = 3;
constexpr unsigned kSnapshots = 4;
constexpr unsigned kStatus = 5;
constexpr unsigned kConfig = 9;
constexpr unsigned kRefName = 0;
constexpr unsigned kRefSnapshot = 1;
constexpr unsigned kSnapshotId = 0;
constexpr unsigned kAvailability = 0;
constexpr unsigned kReason = 2;
}  // namespace field

class Format2 final : public Repository {
 public:
  Format2(std::shared_ptr<Store> files, Buffer content)
      : Repository(std::move(files)),
        content_(std::move(content)),
        info_(FlatTable::root(content_.span())) {
    check_not_newer(info_.number<std::uint8_t>(field::kVersion));
    const FlatTable status = required(info_.table(field::kStatus), "status");
    if (status.number<std::uint8_t>(field::kAvailability) == kOffline) {
      const auto reason = status.text(field::kReason).value_or("");
      throw Error("the repository is offline" +
                  (reason.empty() ? std::string() : ": " + std::string(reason)));
    }
  }

  int format() const override { return 2; }

  std::string find_snapshot(const VersionName& version) const override {
    return with_context({kRepositoryFile}, [&] {
      if (version.kind == VersionName::Kind::snapshot) {
        const FlatTables snapshots = this->snapshots();
        for (std::size_t i = 0; i < snapshots.size(); ++i) {
          if (snapshot_id(i) == version.name) return version.name;
        }
      } else {
        const FlatTables refs = tables_of(version.kind);
        for (std::size_t i = 0; i < refs.size(); ++i) {
          if (name_of(refs[i]) == version.name) return snapshot_of(refs[i]);
        }
      }
      if (version.kind == VersionName::Kind::tag) {
        const FlatTexts deleted = required(info_.texts(field::kDeletedTags), "deleted tags");
        for (std::size_t i = 0; i < deleted.size(); ++i) {
          if (deleted[i] == version.name) throw Error("tag " + version.name + " was deleted");
        }
      }
      throw Error(describe(version) + " does not exist");
    });
  }

  std::vector<Ref> refs(VersionName::Kind kind) const override {
    return with_context({kRepositoryFile}, [&] {
      const FlatTables tables = tables_of(kind);
      std::vector<Ref> refs;
      refs.reserve(tables.size());
      for (std::size_t i = 0; i < tables.size(); ++i) {
        refs.push_back({std::string(name_of(tables[i])), snapshot_of(tables[i])});
      }
      return refs;
    });
  }

  Json configuration() const override {
    return with_context({kRepositoryFile, ": config"}, [&] {
      const auto config = info_.bytes(field::kConfig);
      return config && !config->empty() ? read_flex_buffer(*config) : Json::object();
    });
  }

 private:
  FlatTables tables_of(VersionName::Kind kind) const {
    const bool is_tag = kind == VersionName::Kind::tag;
    return required(info_.tables(is_tag ? field::kTags : field::kBranches),
                    is_tag ? "tags" : "branches");
  }

  FlatTables snapshots() const { return required(info_.tables(field::kSnapshots), "snapshots"); }

  static std::string_view name_of(const FlatTable& ref) {
    return required(ref.text(field::kRefName), "name of a branch or tag");
  }

  std::string snapshot_id(std::size_t i) const {
    return id_text(
        required(snapshots()[i].structure(field::kSnapshotId, kObjectIdSize), "id of a snapshot"));
  }

  std::string snapshot_of(const FlatTable& ref) const {
    const auto index = ref.number<std::uint32_t>(field::kRefSnapshot);
    if (index >= snapshots().size()) {
      throw Error(std::string(name_of(ref)) + " has snapshot " + std::to_string(index) + " of " +
                  std::to_string(snapshots().size()));
    }
    return snapshot_id(index);
  }

  Buffer content_;
  FlatTable info_;
};

}  // namespace

std::shared_ptr<const Repository> open_format2(std::shared_ptr<Store> files, ByteSpan file) {
  return with_context({kRepositoryFile}, [&] {
    return std::make_shared<const Format2>(std::move(files),
                                           open_envelope(file, FileType::repository));
  });
}

}  // namespace zarrcore::icechunk
