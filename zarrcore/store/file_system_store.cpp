#include "zarrcore/store/file_system_store.h"

#include <algorithm>
#include <memory>
#include <system_error>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/document_names.h"
#include "zarrcore/store/folder_watch.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/store.h"

namespace zarrcore {
namespace {

namespace fs = std::filesystem;

bool is_document(std::string_view key) {
  const std::string_view name = last_segment(key);
  return is_document_name(name) || name == kV1ArrayDocument;
}

// Small parts are written together: a call of the system takes longer than copying them.
void write_parts(const TemporaryFile& file, std::span<const ValuePart> parts) {
  constexpr std::size_t kSmall = 16 << 10;
  constexpr std::size_t kTogether = 256 << 10;
  std::vector<std::byte> small;
  const auto write_small = [&] {
    file.write(small);
    small.clear();
  };
  for (const ValuePart& part : parts) {
    const Buffer fetched = part.fetch ? part.fetch() : Buffer();
    const ByteSpan bytes = part.fetch ? fetched.span() : part.bytes;
    const bool is_small = parts.size() > 1 && bytes.size() <= kSmall;
    if (!small.empty() && (!is_small || small.size() + bytes.size() > kTogether)) write_small();
    if (is_small) {
      small.insert(small.end(), bytes.begin(), bytes.end());
    } else {
      file.write(bytes);
    }
  }
  write_small();
}

}  // namespace

FileSystemStore::FileSystemStore(const fs::path& root, FileSystemOptions options)
    : options_(options),
      timeouts_(options.lock_timeout),
      folders_(utf8_of(root), options.is_durable),
      watch_(watch_files(folders_.root())) {}

std::string FileSystemStore::file_of(std::string_view key) const {
  check_key(key);
  std::string file = folders_.root();
  if (file.back() != '/') file += '/';
  return file.append(key);
}

std::string FileSystemStore::folder_at(std::string_view prefix) const {
  return prefix.empty() ? folders_.root() : file_of(prefix);
}

std::optional<Buffer> FileSystemStore::get(std::string_view key, std::uint64_t max_size) {
  if (is_document(key)) return open(key)->get(max_size);
  const std::string path = file_of(key);
  return with_context(path, [&]() -> std::optional<Buffer> {
    const LocalFile file(path, LocalFile::Mode::read);
    const auto size = file.value_size();
    if (!size) {
      folders_.check_exists(path);
      return std::nullopt;
    }
    check_value_size(*size, max_size);
    return file.read(0, *size);
  });
}

std::optional<std::vector<Buffer>> FileSystemStore::get_ranges(std::string_view key,
                                                               std::span<const ByteRange> ranges) {
  const std::string path = file_of(key);
  if (!ranges.empty()) return OpenFile(path, folders_of(key)).get_ranges(ranges);
  const bool exists = with_context(path, [&] { return LocalFile::is_file(path); });
  return exists ? std::make_optional<std::vector<Buffer>>() : std::nullopt;
}

// A program that has read the document of a node means this node from then on.
std::shared_ptr<OpenValue> FileSystemStore::open(std::string_view key) {
  const std::string path = file_of(key);
  const auto id = id_of_node(key);
  auto value = std::make_shared<OpenFile>(path, folders_of(key));
  if (id && value->get_ranges({})) folders_.register_folder(folder_of(path), id);
  return value;
}

ValueVersion FileSystemStore::current_version(std::string_view key) {
  const std::string path = file_of(key);
  const ValueVersion version = LocalFile::version(path);
  if (version.is_absent() && folders_of(key) != nullptr) folders_.check_exists(path);
  return version;
}

void FileSystemStore::check_node(std::string_view prefix) {
  folders_.check_or_register(folder_at(prefix));
}

bool FileSystemStore::put_parts(std::string_view key, std::span<const ValuePart> parts,
                                const PutOptions& options) {
  const std::string path = file_of(key);
  const std::string folder = folder_of(path);
  return with_context(path, [&] {
    folders_.remove_leftovers_once(folder);
    const std::string written = options.is_new_key ? path : folder + '/' + make_temporary_name();
    std::optional<TemporaryFile> file(written);
    if (!file->is_open()) {
      folders_.make(folder);
      file.emplace(written);
      if (!file->is_open()) throw Error("its folder has been removed");
    }
    // From here on, a replaced folder is detected, because the file is not in it. What is read only
    // later is not found in another folder.
    if (!options.is_new_key) folders_.check(folder);
    const auto id = id_of_node(key);
    write_parts(*file, parts);
    const bool is_durable = options_.is_durable || options.durability == Durability::at_once ||
                            (options.durability == Durability::after_flush && !kSyncsTogether);
    if (is_durable) file->sync();
    file->close();
    // Puts that replace any version may happen in any order.
    const auto& expected = options.expected;
    const bool is_any = !expected || expected->is_unknown();
    std::unique_ptr<StoreLock> lock;
    if (expected && !options.has_lock) {
      lock = lock_of(folder, is_any ? LockMode::shared : LockMode::exclusive);
    }
    if (options.must_check && !is_any && !lock && !options.has_lock)
      throw Error("its folder cannot be locked");
    if (!is_any && LocalFile::version(path).differs_from(*expected)) return false;
    try {
      file->rename(path);
    } catch (const Error&) {
      folders_.check(folder);
      throw;
    }
    folders_.register_folder(folder, id);
    if (is_durable) folders_.sync(folder);
    if (options.durability == Durability::after_flush) must_sync_ = kSyncsTogether;
    return true;
  });
}

const StoreFolders* FileSystemStore::folders_of(std::string_view key) const {
  return is_document(key) ? nullptr : &folders_;
}

std::optional<FolderId> FileSystemStore::id_of_node(std::string_view key) const {
  if (!is_document(key)) return std::nullopt;
  return folders_.unknown_id(folder_of(file_of(key)));
}

std::unique_ptr<StoreLock> FileSystemStore::lock_of(const std::string& folder, LockMode mode) {
  return with_context({"lock ", folder}, [&] {
    return timeouts_.take(
        folder, [&](std::chrono::milliseconds limit) { return lock_folder(folder, mode, limit); });
  });
}

std::unique_ptr<StoreLock> FileSystemStore::lock(std::string_view prefix) {
  const std::string folder = folder_at(prefix);
  with_context(folder, [&] { folders_.make(folder); });
  return lock_of(folder, LockMode::exclusive);
}

bool FileSystemStore::erase(std::string_view key, const EraseOptions& options) {
  const std::string path = file_of(key);
  const auto& expected = options.expected;
  folders_.check(folder_of(path));
  if (expected && !is_occupied(path)) return !ValueVersion::absent().differs_from(*expected);
  std::unique_ptr<StoreLock> lock;
  if (expected && !options.has_lock) lock = lock_of(folder_of(path), LockMode::exclusive);
  if (expected && LocalFile::version(path).differs_from(*expected)) return false;
  if (!is_folder(path) && remove_entry(path)) sync_if_durable(folder_of(path));
  return true;
}

// What an entry of the folder at `prefix` is to a listing: `other` means a value, and nullopt a
// link to one of the folders that contain it. A few links multiply paths if each leads to a folder
// with others: a link is a value if there are kMaxLinks on the way to it.
std::optional<EntryKind> FileSystemStore::listed_kind(std::string_view prefix,
                                                      std::string_view name, EntryKind kind) const {
  constexpr int kMaxLinks = 3;
  if (kind != EntryKind::link_to_folder) return kind;
  const auto target = folder_id(folder_at(prefix) + '/' + std::string(name));
  if (folder_id(folders_.root()) == target) return std::nullopt;
  int links = 0;
  for (std::string_view at = prefix; !at.empty(); at = parent_path(at)) {
    const std::string folder = file_of(at);
    if (folder_id(folder) == target) return std::nullopt;
    std::error_code ignored;
    if (fs::is_symlink(path_of_utf8(folder), ignored)) ++links;
  }
  return links < kMaxLinks ? kind : EntryKind::other;
}

DirectoryListing FileSystemStore::list(std::string_view prefix, const ListOptions& options) {
  const std::string path = folder_at(prefix);
  DirectoryListing listing;
  with_context(path, [&] {
    visit_folder(path, [&](const FolderEntry& entry) {
      const std::string_view name = entry.name;
      const auto listed = listed_kind(prefix, name, entry.kind);
      if (!listed || name.ends_with(kTemporarySuffix)) return true;
      // A broken link is listed as a key: reading it reports the error.
      (*listed == EntryKind::other ? listing.keys : listing.prefixes).emplace_back(name);
      return listing.size() < options.max_names;
    });
  });
  std::sort(listing.keys.begin(), listing.keys.end());
  std::sort(listing.prefixes.begin(), listing.prefixes.end());
  return listing;
}

// However many there are, their names are not in memory at once.
void FileSystemStore::visit_values(std::string_view prefix, const VisitValue& visit,
                                   const VisitOptions& options) {
  const std::string path = folder_at(prefix);
  std::vector<std::string> prefixes;
  with_context(path, [&] {
    visit_folder(path, [&](const FolderEntry& entry) {
      const std::string_view name = entry.name;
      const auto listed = listed_kind(prefix, name, entry.kind);
      if (!listed) return true;
      if (name.ends_with(kTemporarySuffix) && !options.with_temporary_files) return true;
      if (*listed == EntryKind::other) {
        const std::string key = join_path(prefix, name);
        const bool wants_size = !options.wants_size || options.wants_size(key);
        visit(key, wants_size ? entry.size() : std::nullopt);
      } else if (is_valid_segment(name)) {
        prefixes.push_back(join_path(prefix, name));
      } else {
        visit(join_path(prefix, name), std::nullopt);
      }
      return true;
    });
  });
  for (const std::string& below : prefixes) visit_values(below, visit, options);
}

void FileSystemStore::erase_prefix(std::string_view prefix, std::span<const std::string> first) {
  const std::string path = file_of(prefix);
  erase_all(first);
  folders_.check(path);
  if (!is_folder(path)) return;
  remove_folder(path);
  folders_.forget(path);
  sync_if_durable(folder_of(path));
}

bool FileSystemStore::rename_prefix(std::string_view from, std::string_view to,
                                    const RenameOptions& options) {
  const std::string source = file_of(from);
  const std::string target = file_of(to);
  return with_context(source, [&] {
    folders_.check(source);
    if (options.exchanges) {
      folders_.check(target);
      if (!exchange_folders(source, target)) return false;
      const std::string between = target + '\n';
      folders_.rename(target, between);
      folders_.rename(source, target);
      folders_.rename(between, source);
    } else {
      folders_.make(folder_of(target));
      with_context({"cannot become ", target}, [&] { rename_folder(source, target); });
      folders_.rename(source, target);
    }
    sync_if_durable(folder_of(target));
    sync_if_durable(folder_of(source));
    return true;
  });
}

void FileSystemStore::flush() {
  // What others have put is on the disk when their call has ended, or this one.
  const std::lock_guard lock(sync_mutex_);
  if (!must_sync_.exchange(false)) return;
  try {
    sync_file_system(folders_.root());
  } catch (...) {
    must_sync_ = true;
    throw;
  }
}

std::optional<Store::Parent> FileSystemStore::parent() const {
  std::error_code error;
  const fs::path path = fs::absolute(path_of_utf8(folders_.root()), error).lexically_normal();
  const fs::path folder = path.has_filename() ? path : path.parent_path();
  if (error || !folder.has_filename()) return std::nullopt;
  return Parent{std::make_shared<FileSystemStore>(folder.parent_path(), options_),
                utf8_of(folder.filename())};
}

}  // namespace zarrcore
