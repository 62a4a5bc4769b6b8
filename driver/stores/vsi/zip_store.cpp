// The store that writes into a ZIP archive; see zip_archive.h.
#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi_error.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_store.h"
#include "driver/stores/vsi/zip_archive.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/process.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/checksum.h"
#include "zarrcore/metadata/document_names.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteRange;
using zarrcore::ByteSpan;
using zarrcore::Error;
using zarrcore::ValuePart;

// Documents and other small values that are replaced or erased again.
bool is_held_back(std::string_view key) {
  const std::string_view name = zarrcore::last_segment(key);
  return name.starts_with('.') || zarrcore::is_document_name(name);
}

class ZipStore final : public zarrcore::Store {
 public:
  // `old` is the store of the values in an existing archive; null for a new archive.
  ZipStore(std::string path, ZipTarget target, std::shared_ptr<zarrcore::Store> old)
      : path_(std::move(path)),
        target_(std::move(target)),
        old_(std::move(old)),
        is_local_(VSIIsLocal(target_.archive.c_str()) != FALSE),
        working_path_(is_local_ ? partial_path(target_.archive)
                                : CPLGenerateTempFilename("zarr") + std::string(".zip")) {
    const VsiCall call;
    if (old_) {
      zarrcore::with_context(target_.archive, [this] { read_directory(); });
    } else {
      create();
    }
  }

  ~ZipStore() override {
    if (process_ != zarrcore::process_id()) {  // a forked child; the files are the parent's
      file_.reset();
      return;
    }
    const VsiCall call;
    // An archive that was complete before is completed again.
    if (is_changed_ && was_complete_ && !old_) {
      try {
        complete();
      } catch (const Error&) {
        // Reported by the flush before.
      }
    }
    file_.reset();
    if (!has_name_ || !is_local_) VSIUnlink(working_path_.c_str());
  }

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    const std::lock_guard lock(mutex_);
    const auto it = values_.find(key);
    if (it == values_.end()) return std::nullopt;
    if (it->second.is_old) return found(key, old_->get(key, max_size));
    zarrcore::check_value_size(it->second.size(), max_size);
    return read(it->second, 0, it->second.size());
  }

  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    const std::lock_guard lock(mutex_);
    const auto it = values_.find(key);
    if (it == values_.end()) return std::nullopt;
    if (it->second.is_old) return found(key, old_->get_ranges(key, ranges));
    std::vector<Buffer> parts;
    parts.reserve(ranges.size());
    for (const ByteRange& range : ranges) {
      const std::uint64_t offset = zarrcore::resolve_range(range, it->second.size());
      parts.push_back(read(it->second, offset, range.length));
    }
    return parts;
  }

  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const zarrcore::PutOptions& /*options*/) override {
    zarrcore::check_key(key);
    Buffer value = zarrcore::join_parts(parts);  // may read from this store
    const std::lock_guard lock(mutex_);
    if (is_held_back(key)) {
      is_changed_ = true;
      values_.insert_or_assign(std::string(key), Value{std::move(value), {}});
      return true;
    }
    zarrcore::with_context({path_, "/", key}, [&] {
      ZipEntry entry = append(key, value.span(), end_);
      end_ = entry.data_offset + entry.size;
      values_.insert_or_assign(std::string(key), Value{{}, std::move(entry)});
    });
    return true;
  }

  bool erase(std::string_view key, const zarrcore::EraseOptions& /*options*/) override {
    const std::lock_guard lock(mutex_);
    const auto it = values_.find(key);
    if (it == values_.end()) return true;
    values_.erase(it);
    is_changed_ = true;
    return true;
  }

  zarrcore::DirectoryListing list(std::string_view prefix,
                                  const zarrcore::ListOptions& /*options*/) override {
    const std::lock_guard lock(mutex_);
    return zarrcore::list_sorted(prefix, values_);
  }

  void flush() override {
    const VsiCall call;
    const std::lock_guard lock(mutex_);
    if (is_changed_ && process_ == zarrcore::process_id()) complete();
  }

  std::string description() const override { return path_; }

 private:
  struct Value {
    std::uint64_t size() const { return held ? held->size() : entry.size; }

    std::optional<Buffer> held;  // if it is held back
    ZipEntry entry;              // otherwise, unless
    bool is_old = false;         // it is a value of the archive before
  };

  // Begins with the existing archive.
  void read_directory() {
    version_ = version_now();
    has_name_ = was_complete_ = true;
    reopen("r+b");  // fails for a file that must not be written
    directory_ = read_zip_directory(file_.get());
    end_ = directory_.offset;
    is_changed_ = false;
    for (const ZipDirectory::Record& record : directory_.records) {
      const std::string_view name = record.name;
      if (!zarrcore::is_utf8(name) || name.starts_with("./") || name.find('\\') != name.npos) {
        throw Error("it cannot be changed, since GDAL reads one of its entries by another name");
      }
      if (const auto key = key_of(record))
        values_.try_emplace(std::string(*key), Value{{}, {}, true});
    }
  }

  // The version of the archive; absent if it does not exist.
  zarrcore::ValueVersion version_now() const {
    if (!target_.archive.starts_with("/vsi")) {
      return zarrcore::LocalFile::version(target_.archive);
    }
    constexpr std::int64_t kNanoseconds = 1'000'000'000;
    const auto found = find_file_version(target_.archive);
    return found ? zarrcore::file_version(0, found->size, found->seconds * kNanoseconds, 0)
                 : zarrcore::ValueVersion::absent();
  }

  // The key of a value of this store; nullopt for folders, and for files elsewhere.
  std::optional<std::string_view> key_of(const ZipDirectory::Record& record) const {
    const auto key = zarrcore::key_below(target_.prefix, record.name);
    if (!key || key->ends_with('/')) return std::nullopt;
    try {
      zarrcore::check_key(*key);
    } catch (const Error&) {
      return std::nullopt;
    }
    return key;
  }

  // Returns the result of reading a value that the directory lists. Throws Error if it is empty.
  template <typename Read>
  Read found(std::string_view key, Read read) const {
    if (!read) throw Error(path_ + "/" + std::string(key) + ": GDAL cannot find this entry");
    return read;
  }

  // Copies the entries of the archive to a new file.
  void copy_entries() {
    constexpr std::uint64_t kBlock = std::uint64_t{4} << 20;
    if (version_now().differs_from(version_)) {
      throw Error(target_.archive + " was changed by another program");
    }
    File archive = std::move(file_);
    try {
      has_name_ = false;
      create();
      for (std::uint64_t offset = 0; offset < end_; offset += kBlock) {
        write(offset, read_bytes(archive.get(), offset, std::min(kBlock, end_ - offset)).span());
      }
    } catch (...) {
      has_name_ = true;
      file_ = std::move(archive);
      VSIUnlink(working_path_.c_str());
      throw;
    }
  }

  bool is_on_disk() const { return is_local_ && !target_.archive.starts_with("/vsi"); }

  // Creates a new file for the archive, whose lock shows that this process lives. Removes leftover
  // files of killed processes.
  void create() {
    if (is_on_disk()) {
      zarrcore::remove_abandoned_files(target_.archive);
      lock_ = std::make_unique<const zarrcore::LocalFile>(working_path_,
                                                          zarrcore::LocalFile::Mode::create);
    }
    reopen("w+b");
  }

  void reopen(const char* mode) {
    const std::string& path = has_name_ && is_local_ ? target_.archive : working_path_;
    file_.reset(VSIFOpenExL(path.c_str(), mode, TRUE));
    if (!file_) {
      throw Error(target_.archive + " cannot be written: " + VSIGetLastErrorMsg());
    }
  }

  Buffer read(const Value& value, std::uint64_t offset, std::uint64_t length) {
    if (value.held) return Buffer::copy_of(value.held->span().subspan(offset, length));
    const VsiCall call;
    return zarrcore::with_context({target_.archive, ": ", value.entry.name}, [&] {
      if (!file_) reopen("r+b");
      return read_bytes(file_.get(), value.entry.data_offset + offset, length);
    });
  }

  void write(std::uint64_t offset, ByteSpan bytes) {
    if (VSIFSeekL(file_.get(), offset, SEEK_SET) != 0 ||
        VSIFWriteL(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
      throw Error("writing " + std::to_string(bytes.size()) + " bytes to " + target_.archive +
                  " failed");
    }
  }

  // Takes the name from a completed archive that is changed.
  void take_name() {
    if (!has_name_) return;
    if (old_) return copy_entries();
    file_.reset();
    if (is_local_) {
      if (find_file_version(target_.archive).value_or(FileVersion()).size != size_) {
        throw Error(target_.archive + " was changed by another program or by GDAL: it is complete");
      }
      if (VSIRename(target_.archive.c_str(), working_path_.c_str()) != 0) {
        throw Error(target_.archive + " cannot be renamed to be changed");
      }
    }
    has_name_ = false;
  }

  // Appends an entry at `offset`, which is not before end_.
  ZipEntry append(std::string_view key, ByteSpan value, std::uint64_t offset) {
    const VsiCall call;
    take_name();
    if (!file_) reopen("r+b");
    is_changed_ = true;
    ZipEntry entry;
    entry.name = zarrcore::join_path(target_.prefix, key);
    entry.offset = offset;
    entry.size = value.size();
    entry.checksum = zarrcore::crc32(value);
    entry.time = zip_time();
    const std::string header = zip_local_header(entry);
    entry.data_offset = offset + header.size();
    write(offset, std::as_bytes(std::span(header)));
    if (!value.empty()) write(entry.data_offset, value);
    return entry;
  }

  // Writes the values held back and the central directory, and gives the archive its name.
  void complete() {
    take_name();
    if (!file_) reopen("r+b");
    std::uint64_t offset = end_;
    std::string records;
    std::uint64_t count = 0;
    for (const ZipDirectory::Record& record : directory_.records) {
      const auto key = key_of(record);
      const auto it = key ? values_.find(*key) : values_.end();
      if (key && (it == values_.end() || !it->second.is_old)) continue;
      records += record.bytes;
      ++count;
    }
    for (const auto& [key, value] : values_) {
      if (value.is_old) continue;
      ++count;
      const ZipEntry entry = value.held ? append(key, value.held->span(), offset) : value.entry;
      if (value.held) offset = entry.data_offset + entry.size;
      records += zip_central_record(entry);
    }
    const std::string ends = zip_end_records(count, offset, records.size(), directory_.comment);
    write(offset, std::as_bytes(std::span(records)));
    write(offset + records.size(), std::as_bytes(std::span(ends)));
    size_ = offset + records.size() + ends.size();
    if (VSIFTruncateL(file_.get(), size_) != 0 || VSIFCloseL(file_.release()) != 0) {
      throw Error(target_.archive + " cannot be written");
    }
    publish();
    has_name_ = true;
    // Held, since another program may replace the archive.
    if (old_) reopen("rb");
    was_complete_ = true;
    is_changed_ = false;
  }

  void publish() {
    if (old_ && version_now().differs_from(version_)) {
      throw Error(target_.archive + " was changed by another program, and is left as it is");
    }
    if (is_local_) {
      if (!old_ && path_exists(target_.archive)) throw Error(target_.archive + " exists already");
      if (old_ && is_on_disk()) {
        zarrcore::adopt_owner(working_path_, target_.archive);
        // The bytes must be on the disk, or a loss of power could leave neither archive.
        lock_->sync();
        zarrcore::replace_file(working_path_, target_.archive);
        zarrcore::sync_folder(zarrcore::folder_of(target_.archive));
        lock_.reset();
      } else if (VSIRename(working_path_.c_str(), target_.archive.c_str()) != 0) {
        throw Error(working_path_ + " cannot be renamed to " + target_.archive);
      }
      if (old_) version_ = version_now();
      return;
    }
    if (CPLCopyFile(target_.archive.c_str(), working_path_.c_str()) != 0) {
      throw Error(target_.archive + " cannot be written: " + VSIGetLastErrorMsg());
    }
  }

  const std::string path_;
  const ZipTarget target_;
  const std::shared_ptr<zarrcore::Store> old_;  // null if the archive is new
  const bool is_local_;
  const std::string working_path_;
  std::mutex mutex_;                                 // guards the members below
  File file_;                                        // null if it must be opened again
  std::unique_ptr<const zarrcore::LocalFile> lock_;  // of the working file on a disk
  std::map<std::string, Value, std::less<>> values_;
  ZipDirectory directory_;  // of the archive before
  zarrcore::ValueVersion version_ = zarrcore::ValueVersion::absent();
  const long process_ = zarrcore::process_id();
  std::uint64_t end_ = 0;   // of the entries that are not held back
  std::uint64_t size_ = 0;  // of the completed archive
  bool is_changed_ = true;  // since it was completed
  bool has_name_ = false;
  bool was_complete_ = false;
};

}  // namespace

std::shared_ptr<zarrcore::Store> make_zip_store(const std::string& path, const ZipTarget& target) {
  check_parent_exists(target.archive);
  if (path_exists(target.archive)) {
    throw Error(target.archive +
                " exists already: ZIP archives are created, but an existing one is not changed");
  }
  return std::make_shared<ZipStore>(path, target, nullptr);
}

std::shared_ptr<zarrcore::Store> open_zip_store(const std::string& path, const ZipTarget& target) {
  ZipTarget real = target;
  // A link stays; the file that it leads to is replaced.
  std::error_code error;
  const auto archive = zarrcore::path_of_utf8(target.archive);
  if (!target.archive.starts_with("/vsi") && std::filesystem::is_symlink(archive, error)) {
    real.archive = zarrcore::utf8_of(std::filesystem::canonical(archive, error));
    if (error) throw Error(target.archive + " is a link that leads to no file");
  }
  return std::make_shared<ZipStore>(path, real, with_last_entries(make_store(path), real));
}

}  // namespace gdal_zarr
