// A store of an older version of Zarr becomes one of v3, in place or as a copy, by a plan that is
// complete before the first change; see migration.h.
#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "driver/commands/examined.h"
#include "driver/commands/migration.h"
#include "driver/entry/create.h"
#include "driver/gdal/worker_scope.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/documents.h"
#include "zarrcore/metadata/document_names.h"

namespace gdal_zarr {

using zarrcore::Document;
using zarrcore::Error;
using zarrcore::Json;

namespace {

constexpr std::size_t kCopiedTogether = 1024;  // values

// The member of the root's document that is the plan, and what readers show as its version.
constexpr const char* kPlan = "gdal_zarr_migration";
constexpr const char* kInterrupted = "interrupted: run gdal_zarr migrate --apply again";

// A group, for stores whose root is a plan.
RootDocuments assumed_root() {
  RootDocuments documents;
  for (const Document& document : zarrcore::v3_format().group_documents({}, "")) {
    const std::string text = zarrcore::v3_format().document_text(document.content);
    documents.emplace(document.key, std::make_shared<zarrcore::Buffer>(
                                        zarrcore::Buffer::copy_of(std::as_bytes(std::span(text)))));
  }
  return documents;
}

std::string text_of(const MigrationPlan& plan) {
  Json documents = Json::object();
  for (const Document& document : plan.documents) documents[document.key] = document.content;
  Json moves = Json::object();
  for (const ChunkMove& move : plan.moves) moves[move.from] = move.to;
  Json json{{"documents", std::move(documents)},
            {"moves", std::move(moves)},
            {"old_documents", plan.old_keys}};
  return zarrcore::v3_format().document_text(
      {{"zarr_format", kInterrupted}, {kPlan, std::move(json)}});
}

// The new key of a chunk or a folder of chunks, by its name below the old prefix; nullopt if it has
// no name of a chunk.
std::optional<std::string> moved_key(const ChunkMove& move, std::string_view name) {
  const bool is_single = move.to.ends_with('c');
  if (is_single) return name == "c" || name == "c0" ? std::optional(move.to) : std::nullopt;
  const bool is_chunk = name.size() > 1 && name[0] == 'c' && name[1] >= '0' && name[1] <= '9';
  return is_chunk ? std::optional(move.to + std::string(name.substr(1))) : std::nullopt;
}

// What has been moved already is no longer there.
void move_chunks(zarrcore::Store& store, const ChunkMove& move) {
  const zarrcore::DirectoryListing names = store.list(move.from);
  for (const std::string& name : names.prefixes) {
    const auto to = moved_key(move, name);
    if (to) store.rename_prefix(zarrcore::join_path(move.from, name), *to);
  }
  for (const std::string& name : names.keys) {
    const auto to = moved_key(move, name);
    const std::string from = zarrcore::join_path(move.from, name);
    if (to && store.traits().is_folder) {
      store.rename_prefix(from, *to);
    } else if (to) {
      if (const auto value = store.get(from)) store.put(*to, value->span());
      store.erase(from);
    }
  }
}

// Other files in them stay.
void remove_draft_folders(zarrcore::Store& store) {
  store.erase_prefix("meta/root/consolidated");
  for (const std::string_view folder : kDraftFolders) {
    const std::string root = std::string(folder) + "/root";
    if (store.list_all(root).empty()) store.erase_prefix(root);
    if (store.list(folder).is_empty()) store.erase_prefix(folder);
  }
}

// Copies values, many at a time; each is in memory as a whole.
class MigratedValues {
 public:
  MigratedValues(zarrcore::Store& from, zarrcore::Store& to, const CommandProgress& progress)
      : from_(from), to_(to), progress_(progress) {}

  void add(std::string_view from, std::string to) {
    keys_.emplace_back(from, std::move(to));
    if (keys_.size() == kCopiedTogether) copy();
  }

  void copy() {
    CallerState caller;
    shared_context()->pool.parallel_for(
        keys_.size(), thread_count(),
        [&](std::size_t i) {
          const auto value = from_.get(keys_[i].first);
          if (value) to_.put(keys_[i].second, value->span());
        },
        caller.scope());
    copied_ += keys_.size();
    keys_.clear();
    report_values(copied_, 0, progress_);
  }

 private:
  zarrcore::Store& from_;
  zarrcore::Store& to_;
  const CommandProgress& progress_;
  std::vector<std::pair<std::string, std::string>> keys_;
  std::uint64_t copied_ = 0;
};

// The plan at the root of the store, if a migration of the draft was interrupted. Throws Error when
// it is not as a command has made it.
std::optional<MigrationPlan> interrupted_migration(const std::string& path) {
  const auto hierarchy = open_examined(path, assumed_root());
  const auto text = hierarchy->store()->get(zarrcore::kNodeDocument, zarrcore::kMaxDocumentBytes);
  if (!text || text->text().find(kInterrupted) == std::string_view::npos) return std::nullopt;
  const Json document = zarrcore::parse_json(text->text());
  const Json* const json = zarrcore::find_member(document, kPlan);
  if (json == nullptr) return std::nullopt;
  MigrationPlan plan{.is_of_draft = true, .is_continued = true};
  const std::string damaged = path + ": the plan of the migration in zarr.json is damaged";
  try {
    for (const auto& [key, content] : json->at("documents").items()) {
      plan.documents.push_back({key, content});
    }
    for (const auto& [from, to] : json->at("moves").items()) {
      plan.moves.push_back({from, to.get<std::string>()});
    }
    plan.old_keys = json->at("old_documents").get<std::vector<std::string>>();
  } catch (const Json::exception&) {
    throw Error(damaged);
  }
  if (plan.documents.empty() || plan.documents.back().key != zarrcore::kNodeDocument) {
    throw Error(damaged);
  }
  return plan;
}

// Puts the documents of v3 into the store, moves its chunks, and erases its old documents.
void migrate_in_place(const std::string& path, const MigrationPlan& plan,
                      const CommandProgress& progress) {
  const auto changed = plan.is_of_draft ? open_changed(path, assumed_root()) : open_changed(path);
  zarrcore::Store& store = *changed->store();
  if (plan.is_of_draft && !plan.is_continued) {
    const std::string text = text_of(plan);
    if (text.size() > zarrcore::kMaxDocumentBytes) {
      throw Error(path + ": its nodes are too many for a migration in place: use --copy");
    }
    store.put(zarrcore::kNodeDocument, std::as_bytes(std::span(text)));
    store.flush();
  }
  for (std::size_t i = 0; i < plan.moves.size(); ++i) {
    move_chunks(store, plan.moves[i]);
    // To be continued.
    if (!progress(static_cast<double>(i + 1) / static_cast<double>(plan.moves.size()))) {
      throw Error("the migration was stopped");
    }
  }
  const auto put = [&](std::span<const Document> documents) {
    for (const Document& document : documents) {
      put_document(store, zarrcore::v3_format(), document);
    }
    store.flush();
  };
  const std::span<const Document> documents(plan.documents);
  const std::size_t children = documents.size() - (plan.is_of_draft ? 1 : 0);
  put(documents.first(children));
  const auto at_root = std::ranges::find_if(
      plan.old_keys, [](const std::string& key) { return key.find('/') == std::string::npos; });
  store.erase_all({plan.old_keys.begin(), at_root});
  if (plan.is_of_draft) remove_draft_folders(store);
  store.flush();
  put(documents.subspan(children));
  store.erase_all({at_root, plan.old_keys.end()});
  store.flush();
}

// Makes a new store of the documents and of copies of all values that are no old documents; of the
// draft, of copies of all chunks.
void migrate_into(const std::string& name, const std::string& path, const MigrationPlan& plan,
                  const CommandProgress& progress) {
  if (plan.is_continued) throw Error(path + ": its migration was interrupted; --apply ends it");
  NewStore made(name);
  const auto to = made.open();
  const auto source = open_examined(path);
  zarrcore::Store& from = *source->store();
  const std::set<std::string, std::less<>> old(plan.old_keys.begin(), plan.old_keys.end());
  MigratedValues copy(from, *to, progress);
  for (const ChunkMove& move : plan.moves) {
    from.visit_values(move.from, [&](std::string_view key, const auto& /*size*/) {
      if (auto moved = moved_key(move, key.substr(move.from.size() + 1))) copy.add(key, *moved);
    });
  }
  if (!plan.is_of_draft) {
    from.visit_values("", [&](std::string_view key, const auto& /*size*/) {
      if (!old.contains(key)) copy.add(key, std::string(key));
    });
  }
  copy.copy();
  for (const Document& document : plan.documents) {
    put_document(*to, zarrcore::v3_format(), document);
  }
  to->flush();
  made.complete();
}

}  // namespace

CommandResult run_migrate(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  const std::string copy = arguments.text("copy");
  const bool makes_copy = !copy.empty() && !arguments.has("dry-run");
  const bool applies = applies_changes(arguments) || makes_copy;
  if (copy.empty()) check_is_whole(path);
  auto interrupted = interrupted_migration(path);
  const MigrationPlan plan = interrupted ? *std::move(interrupted) : plan_migration(path, progress);
  if (makes_copy) {
    migrate_into(copy, path, plan, progress);
  } else if (applies) {
    migrate_in_place(path, plan, progress);
  }
  const std::string store = copy.empty() ? path : copy;
  const std::size_t nodes = plan.documents.size();
  CommandResult result;
  result.json = {
      {"store", store}, {"applied", applies}, {"nodes", nodes}, {"continued", plan.is_continued}};
  const std::string was = applies ? "was " : "would be ";
  result.text =
      store + ": " +
      (plan.is_continued ? "the migration that was interrupted " + was + "ended\n"
                         : "Zarr v3 " + was + "written for " + count_of(nodes, "node") + '\n');
  return result;
}

}  // namespace gdal_zarr
