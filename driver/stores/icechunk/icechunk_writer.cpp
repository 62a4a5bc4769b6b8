#include "driver/stores/icechunk/icechunk_writer.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "driver/gdal/messages.h"
#include "driver/stores/vsi/object_put.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/process.h"
#include "zarrcore/icechunk/object_file.h"
#include "zarrcore/icechunk/refs.h"
#include "zarrcore/store/local_files.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;
using namespace zarrcore::icechunk;

constexpr std::uint64_t kMaxSessionBytes = std::uint64_t{4} << 30;

std::vector<std::pair<std::string, std::string>> parse_properties(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> properties;
  if (text.empty()) return properties;
  const Json json = zarrcore::parse_json(text);
  if (!json.is_object()) throw Error("not a JSON object");
  for (const auto& [name, value] : json.items()) {
    properties.emplace_back(
        name, value.is_string() ? value.get<std::string>() : zarrcore::dump_json(value));
  }
  return properties;
}

// "gdal_translate", or what GDAL calls this program.
std::string program_name() {
  std::array<char, 4096> path{};
  if (CPLGetExecPath(path.data(), static_cast<int>(path.size())) == FALSE) return "GDAL";
  return CPLGetBasename(path.data());
}

// Not the present folder, which is GDAL's choice where no variable names one.
std::string temporary_folder() {
  for (const char* option : {"CPL_TMPDIR", "TMPDIR", "TEMP"}) {
    const char* folder = CPLGetConfigOption(option, nullptr);
    if (folder != nullptr) return folder;
  }
  return zarrcore::utf8_of(std::filesystem::temp_directory_path());
}

// The text of a session, which may be in a file.
std::string session_text(const std::string& session) {
  if (session.starts_with('{')) return session;
  const File file = open_file(session);
  if (!file) throw Error(session + ": this file of a session does not exist");
  const std::uint64_t size = file_size(file.get());
  zarrcore::check_value_size(size, kMaxSessionBytes);
  return std::string(read_bytes(file.get(), 0, size).text());
}

// If there is none.
void make_repository(const IcechunkPath& path, zarrcore::Store& files, int format) {
  if (is_icechunk_folder(path.repository)) return;
  if (path.has_version && path.version != VersionName()) {
    throw Error(path.repository +
                ": there is no repository yet, and a new one only has the branch " +
                VersionName().name + ": " + describe(path.version) +
                " does not exist (NEW_BRANCH makes one)");
  }
  check_parent_exists(path.repository);
  for (std::string above = CPLGetPath(path.repository.c_str());
       !above.empty() && above != "/" && VSIIsLocal(above.c_str());
       above = CPLGetPath(above.c_str())) {
    if (is_icechunk_folder(above)) {
      throw Error(std::string(path.repository)
                      .append(" is inside of the repository ")
                      .append(above)
                      .append(", whose groups are named ")
                      .append(format_icechunk_path({.repository = above, .key = "NAME"})));
    }
  }
  try {
    create_repository(files, format);
  } catch (const Error&) {
    // Another program may have made it meanwhile.
    files.refresh();
    if (!is_icechunk_folder(path.repository)) throw;
  }
  files.refresh();
}

// The snapshot that a session started from.
std::string session_snapshot(const std::string& session) {
  const Json json = zarrcore::parse_json(session);
  const Json* snapshot = zarrcore::find_member(json, "snapshot");
  if (snapshot == nullptr || !snapshot->is_string()) throw Error("a session names no snapshot");
  return snapshot->get<std::string>();
}

// "NAME=SNAPSHOT", or the name alone for `snapshot`.
struct RefValue {
  RefValue(const std::string& text, const std::string& present_snapshot) {
    const auto equal = text.rfind('=');
    name = text.substr(0, equal);
    snapshot = equal == std::string::npos ? present_snapshot : text.substr(equal + 1);
  }
  std::string name;
  std::string snapshot;
};

}  // namespace

IcechunkWriteOptions icechunk_write_options(const OptionValues& options) {
  IcechunkWriteOptions result;
  if (options.is("COMMIT", "FLUSH")) result.commit_time = CommitTime::flush;
  if (options.is("COMMIT", "NO")) result.commit_time = CommitTime::never;
  result.commit.message = options.text("COMMIT_MESSAGE");
  result.commit.properties = zarrcore::with_context({"option COMMIT_PROPERTIES"}, [&] {
    return parse_properties(std::string(options.text("COMMIT_PROPERTIES")));
  });
  result.new_branch = options.text("NEW_BRANCH");
  return result;
}

void refuse_write_options(const OptionValues& options, const std::string& why, bool is_writable) {
  if (!options.text("NEW_BRANCH").empty()) throw Error(why + ", so NEW_BRANCH makes no branch");
  if (is_writable && options.is("COMMIT", "NO")) {
    throw Error(why + ": COMMIT=NO would not keep changes from others");
  }
  for (const char* option : {"COMMIT", "COMMIT_MESSAGE", "COMMIT_PROPERTIES"}) {
    if (!options.is_given(option)) continue;
    report(CE_Warning, CPLE_AppDefined, "Zarr: %s: the option %s has no effect", why.c_str(),
           option);
  }
}

std::string name_nodes(const char* verb, const std::vector<std::string>& paths,
                       const std::function<bool(const std::string& path)>& is_minor) {
  constexpr std::size_t kMostNames = 5;
  std::string text;
  std::size_t count = 0;
  for (const std::string& path : paths) {
    if (paths.size() > 1 && is_minor(path)) continue;
    if (++count > kMostNames) return text + ", …";
    text += (text.empty() ? std::string(verb) + ' ' : ", ") + path;
  }
  return text;
}

std::string describe_changes(const std::vector<std::string>& created,
                             const std::vector<std::string>& erased,
                             const std::function<bool(const std::string& path)>& is_minor) {
  std::vector<std::string> topmost;  // of the created ones
  for (const std::string& path : created) {
    const auto contains = [&](const auto& node) { return zarrcore::is_at_or_below(path, node); };
    if (std::ranges::none_of(topmost, contains)) topmost.push_back(path);
  }
  std::vector<std::string> gone;
  for (const std::string& path : erased) {
    if (std::ranges::find(created, path) == created.end()) gone.push_back(path);
  }
  std::string text = name_nodes("create", topmost, is_minor);
  const std::string of_gone = name_nodes("delete", gone, is_minor);
  if (!text.empty() && !of_gone.empty()) text += ", ";
  text += of_gone;
  return text.empty() ? "update" : text;
}

IcechunkWriter::IcechunkWriter(const IcechunkPath& path, IcechunkWriteOptions options)
    : path_(path),
      options_(std::move(options)),
      files_(make_store(path.repository)),
      process_(zarrcore::process_id()),
      needs_branch_(!options_.new_branch.empty()) {
  if (!VSIIsLocal(path_.repository.c_str())) prove_conditions(path_.repository);
  files_->refresh();  // branches and tags may have changed
  if (options_.new_format) make_repository(path_, *files_, *options_.new_format);
  const std::string session = options_.session.empty() ? "" : session_text(options_.session);
  std::string branch = path_.version.name;
  TransactionOptions start;
  if (!session.empty()) start.snapshot = session_snapshot(session);
  if (needs_branch_) {
    branch = options_.new_branch;
    start.creates_branch = true;
    if (session.empty()) start.snapshot = repository()->find_snapshot(path_.version);
  } else if (path_.version.kind != VersionName::Kind::branch) {
    throw Error(path_.repository + ": " + describe(path_.version) +
                " cannot be changed; NEW_BRANCH makes a branch of it");
  } else {
    repository()->find_snapshot(path_.version);
  }
  transaction_ =
      std::make_shared<Transaction>(files_, branch, std::make_shared<VsiVirtualFiles>(path_),
                                    zarrcore::normalize_path(path_.key), start);
  if (session.empty()) return;
  transaction_->merge(session);
  handed_over_ = transaction_->changes_made();
  if (session != options_.session) {
    saved_ = {options_.session, std::hash<std::string>()(transaction_->changes())};
  }
}

std::shared_ptr<const Repository> IcechunkWriter::repository() const {
  files_->refresh();
  return Repository::open(files_);
}

void IcechunkWriter::ignore_root() {
  ignored_root_ = transaction_->get("zarr.json", zarrcore::kNoSizeLimit).value().text();
}

bool IcechunkWriter::has_changes() const {
  if (transaction_->has_failed_commit() && !needs_branch_) return true;
  if (!transaction_->has_changes()) return false;
  if (ignored_root_.empty() || !transaction_->list("").prefixes.empty()) return true;
  const auto root = transaction_->get("zarr.json", zarrcore::kNoSizeLimit);
  return !root || root->text() != ignored_root_;
}

void IcechunkWriter::put_reference(std::string_view key, Reference reference) {
  if (reference.target.empty()) {
    transaction_->put(key, reference.value.span());
  } else {
    transaction_->put_reference(key, sources_.place_of(reference));
  }
}

void IcechunkWriter::set_failed() noexcept {
  has_failed_ = true;
}

void IcechunkWriter::roll_back() {
  is_rolled_back_ = true;
  transaction_->roll_back();
}

bool IcechunkWriter::is_in_own_process() const {
  return zarrcore::process_id() == process_;
}

std::string IcechunkWriter::changes() {
  const std::uint64_t made = transaction_->changes_made();
  std::string changes = transaction_->changes();
  handed_over_ = made;
  return changes;
}

void IcechunkWriter::end_flush(const std::string& summary) {
  if (options_.commit_time == CommitTime::flush && !has_failed_) end_copy(summary);
}

void IcechunkWriter::end_copy(const std::string& summary) {
  const bool is_wanted = options_.commit_time != CommitTime::never && !is_rolled_back_;
  if (is_wanted && (has_failed_ || has_changes())) commit({}, summary);
}

void IcechunkWriter::end(const std::string& summary) {
  if (!is_in_own_process()) return;
  try {
    end_copy(summary);
    const bool is_wanted = options_.commit_time != CommitTime::never && !is_rolled_back_;
    if (is_wanted && needs_branch_.exchange(false)) {
      create_ref(*files_, VersionName::Kind::branch, options_.new_branch,
                 transaction_->snapshot_id());
    }
  } catch (...) {
    roll_back();
    throw;
  }
  const std::uint64_t count = transaction_->change_count();
  if (count == 0) return;
  if (has_changes() && !is_rolled_back_ && transaction_->changes_made() != handed_over_) {
    report(
        CE_Warning, CPLE_AppDefined,
        "Zarr: %s: COMMIT=NO: changes of %llu nodes and chunks are dropped; the items COMMIT and "
        "CHANGES of the metadata domain ICECHUNK keep them",
        path_.repository.c_str(), static_cast<unsigned long long>(count));
  }
  transaction_->roll_back();
}

void IcechunkWriter::commit(const std::string& message, const std::string& summary) {
  if (is_rolled_back_) {
    throw Error(path_.repository + ": the changes were rolled back; open the dataset again");
  }
  if (has_failed_) {
    throw Error(path_.repository + ": nothing is committed, because a write has failed");
  }
  if (!is_in_own_process()) {
    throw Error(path_.repository + ": only the process that has opened it commits");
  }
  if (!transaction_->has_changes() && !transaction_->has_failed_commit()) {
    throw Error(path_.repository + ": there are no changes to commit");
  }
  CommitOptions commit = options_.commit;
  if (!message.empty()) commit.message = message;
  if (commit.message.empty()) commit.message = program_name() + ": " + summary;
  try {
    transaction_->commit(commit);
    ignored_root_.clear();
  } catch (const UnreadableCommit& error) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: %s; open the dataset again", error.what());
  } catch (const Error& error) {
    throw Error(path_.repository + ": the changes are not committed: " + error.what() +
                save_changes());
  }
  needs_branch_ = false;
}

// In a file of a new name, unless they are in one. Returns what is said of it.
std::string IcechunkWriter::save_changes() {
  try {
    const std::string changes = this->changes();
    const std::size_t hash = std::hash<std::string>()(changes);
    if (saved_.first.empty() || saved_.second != hash) {
      const std::string name = "session-" + id_text(new_id<NodeId>()) + ".json";
      const std::string file = VSIIsLocal(path_.repository.c_str())
                                   ? path_.repository + '.' + name
                                   : join_vsi_path(temporary_folder(), "icechunk-" + name);
      const zarrcore::ValuePart part{std::as_bytes(std::span(changes))};
      write_file(file, {&part, 1});
      saved_ = {file, hash};
    }
    return ". They can be tried again on another branch, with the open options SESSION=" +
           saved_.first + " NEW_BRANCH=name";
  } catch (const std::exception&) {
    return {};
  }
}

void IcechunkWriter::run(const std::string& command, const std::string& value,
                         const std::string& summary) {
  const RefValue ref(value, transaction_->snapshot_id());
  const std::pair<const char*, std::function<void()>> commands[] = {
      {"COMMIT", [&] { commit(value, summary); }},
      {"ROLLBACK", [&] { roll_back(); }},
      {"MERGE", [&] { transaction_->merge(session_text(value)); }},
      {"CREATE_BRANCH",
       [&] { create_ref(*files_, VersionName::Kind::branch, ref.name, ref.snapshot); }},
      {"RESET_BRANCH", [&] { reset_branch(*files_, ref.name, ref.snapshot); }},
      {"DELETE_BRANCH", [&] { delete_ref(*files_, VersionName::Kind::branch, value); }},
      {"CREATE_TAG", [&] { create_ref(*files_, VersionName::Kind::tag, ref.name, ref.snapshot); }},
      {"DELETE_TAG", [&] { delete_ref(*files_, VersionName::Kind::tag, value); }},
  };
  for (const auto& [name, action] : commands) {
    if (EQUAL(name, command.c_str())) return action();
  }
  std::string names;
  for (const auto& [name, action] : commands)
    names += (names.empty() ? "" : ", ") + std::string(name);
  throw Error("the metadata domain ICECHUNK takes the items " + names + ", not " + command);
}

}  // namespace gdal_zarr
