#include "driver/stores/vsi/zip_archive.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/codec/checksum.h"
#include "zarrcore/codec/registry.h"
#include "zarrcore/store/forwarding_store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;

constexpr std::uint64_t kMax32 = 0xffffffff;
constexpr std::uint64_t kMax16 = 0xffff;
constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kVersionOfZip64 = 45;
constexpr std::uint16_t kMadeOnUnix = 3 << 8;
constexpr std::uint16_t kNamesAreUtf8 = 1 << 11;
constexpr std::uint16_t kZip64Field = 1;
constexpr std::uint32_t kRegularFile = 0100644U << 16;

class Record {
 public:
  template <typename Integer>
  Record& add(Integer value) {
    zarrcore::append_integer(bytes_, value, zarrcore::Endian::little);
    return *this;
  }
  Record& add16(std::uint64_t value) {
    return add(static_cast<std::uint16_t>(std::min(value, kMax16)));
  }
  // Larger values are in a record or field of ZIP64.
  Record& add32(std::uint64_t value) {
    return add(static_cast<std::uint32_t>(std::min(value, kMax32)));
  }
  Record& add(const std::string& text) {
    bytes_ += text;
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// The extra field with the values that need 64 bits.
std::string zip64_field(std::span<const std::uint64_t> values) {
  if (values.empty()) return {};
  Record field;
  field.add(kZip64Field).add16(values.size_bytes());
  for (const std::uint64_t value : values) field.add(value);
  return field.take();
}

void check_name(const std::string& name) {
  if (name.size() > kMax16) throw Error("the name is too long for a ZIP archive");
}

constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kLocatorSize = 20;
constexpr std::size_t kCentralSize = 46;
constexpr std::uint64_t kMaxDirectory = std::uint64_t{1} << 30;

template <typename Integer>
Integer little(std::string_view bytes, std::size_t offset) {
  return zarrcore::load_integer<Integer>(reinterpret_cast<const std::byte*>(bytes.data()) + offset,
                                         zarrcore::Endian::little);
}

Error damaged() {
  return Error("the ZIP archive has no complete directory");
}

// Where the end record begins in the last bytes of an archive.
std::size_t find_end(std::string_view tail) {
  for (std::size_t at = tail.rfind("PK\5\6"); at != tail.npos && at <= tail.size();
       at = at == 0 ? tail.npos : tail.rfind("PK\5\6", at - 1)) {
    const bool is_whole = tail.size() - at >= kEndSize;
    if (is_whole && at + kEndSize + little<std::uint16_t>(tail, at + 20) == tail.size()) return at;
  }
  throw damaged();
}

// A size or offset of a central record: in the field of ZIP64 if its 32 bits are all set. The field
// has those values alone, in this order.
class EntryNumbers {
 public:
  explicit EntryNumbers(std::string_view record) : record_(record) {
    constexpr std::size_t kFieldHeader = 4;
    std::string_view extra = record.substr(kCentralSize + little<std::uint16_t>(record, 28),
                                           little<std::uint16_t>(record, 30));
    while (extra.size() >= kFieldHeader) {
      const std::size_t size = little<std::uint16_t>(extra, 2);
      if (little<std::uint16_t>(extra, 0) == 1) zip64_ = extra.substr(kFieldHeader, size);
      extra.remove_prefix(std::min(extra.size(), kFieldHeader + size));
    }
  }

  std::uint64_t next(std::size_t offset) {
    const auto number = little<std::uint32_t>(record_, offset);
    if (number != UINT32_MAX) return number;
    if (zip64_.size() < sizeof(std::uint64_t)) throw damaged();
    const auto large = little<std::uint64_t>(zip64_, 0);
    zip64_.remove_prefix(sizeof(large));
    return large;
  }

 private:
  std::string_view record_;
  std::string_view zip64_;
};

// Values that an archive has several times. Programs that append to an archive leave the old value
// in it; the last one counts, as in Python. GDAL reads the first.
class LastEntries final : public zarrcore::ForwardingStore {
 public:
  using Entries = std::map<std::string, ZipDirectory::Record, std::less<>>;

  LastEntries(std::shared_ptr<zarrcore::Store> store, std::string archive, Entries entries)
      : ForwardingStore(std::move(store)),
        archive_(std::move(archive)),
        entries_(std::move(entries)) {}

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return ForwardingStore::get(key, max_size);
    return zarrcore::with_context({archive_, ": ", it->second.name}, [&] {
      const VsiCall call;
      const File file(VSIFOpenL(archive_.c_str(), "rb"));
      if (!file) throw Error("the archive cannot be opened");
      return std::make_optional(read_zip_entry(file.get(), it->second, max_size));
    });
  }

  std::optional<std::vector<Buffer>> get_ranges(
      std::string_view key, std::span<const zarrcore::ByteRange> ranges) override {
    return entries_.contains(key) ? Store::get_ranges(key, ranges)
                                  : ForwardingStore::get_ranges(key, ranges);
  }

  std::shared_ptr<zarrcore::OpenValue> open(std::string_view key) override {
    return entries_.contains(key) ? Store::open(key) : ForwardingStore::open(key);
  }

 private:
  const std::string archive_;
  const Entries entries_;
};

}  // namespace

std::uint32_t zip_time() {
  constexpr int kFirstYear = 80;  // 1980, in years since 1900
  const std::time_t now = std::time(nullptr);
  const std::tm* parts = std::localtime(&now);
  if (parts == nullptr || parts->tm_year < kFirstYear) return (1U << 5 | 1U) << 16;
  const auto number = [](int value) { return static_cast<std::uint32_t>(value); };
  const std::uint32_t date = number(parts->tm_year - kFirstYear) << 9 |
                             number(parts->tm_mon + 1) << 5 | number(parts->tm_mday);
  const std::uint32_t time =
      number(parts->tm_hour) << 11 | number(parts->tm_min) << 5 | number(parts->tm_sec) / 2;
  return date << 16 | time;
}

std::string zip_local_header(const ZipEntry& entry) {
  check_name(entry.name);
  std::vector<std::uint64_t> large;
  if (entry.size >= kMax32) large = {entry.size, entry.size};
  const std::string extra = zip64_field(large);
  Record record;
  record.add(std::uint32_t{0x04034b50}).add(large.empty() ? kVersion : kVersionOfZip64);
  record.add(kNamesAreUtf8).add16(0).add(entry.time);
  record.add(entry.checksum).add32(entry.size).add32(entry.size);
  return record.add16(entry.name.size()).add16(extra.size()).add(entry.name).add(extra).take();
}

std::string zip_central_record(const ZipEntry& entry) {
  check_name(entry.name);
  std::vector<std::uint64_t> large;
  if (entry.size >= kMax32) large = {entry.size, entry.size};
  if (entry.offset >= kMax32) large.push_back(entry.offset);
  const std::string extra = zip64_field(large);
  const std::uint16_t version = large.empty() ? kVersion : kVersionOfZip64;
  Record record;
  record.add(std::uint32_t{0x02014b50});
  record.add(static_cast<std::uint16_t>(version | kMadeOnUnix)).add(version);
  record.add(kNamesAreUtf8).add16(0).add(entry.time).add(entry.checksum);
  record.add32(entry.size).add32(entry.size);
  record.add16(entry.name.size()).add16(extra.size());
  // No comment, the first disk, a binary file.
  record.add16(0).add16(0).add16(0).add(kRegularFile).add32(entry.offset);
  return record.add(entry.name).add(extra).take();
}

std::string zip_end_records(std::uint64_t count, std::uint64_t offset, std::uint64_t size,
                            const std::string& comment) {
  Record records;
  if (count >= kMax16 || offset >= kMax32 || size >= kMax32) {
    constexpr std::uint64_t kSizeOfTheRest = 44;
    records.add(std::uint32_t{0x06064b50}).add(kSizeOfTheRest);
    records.add(static_cast<std::uint16_t>(kVersionOfZip64 | kMadeOnUnix)).add(kVersionOfZip64);
    records.add(std::uint32_t{0}).add(std::uint32_t{0});
    records.add(count).add(count).add(size).add(offset);
    // The locator of this record.
    records.add(std::uint32_t{0x07064b50}).add(std::uint32_t{0});
    records.add(offset + size).add(std::uint32_t{1});
  }
  records.add(std::uint32_t{0x06054b50}).add16(0).add16(0).add16(count).add16(count);
  return records.add32(size).add32(offset).add16(comment.size()).add(comment).take();
}

Buffer read_zip_entry(VSILFILE* file, const ZipDirectory::Record& record, std::uint64_t max_size) {
  constexpr std::size_t kLocalSize = 30;
  constexpr unsigned kEncrypted = 1;
  constexpr unsigned kDeflated = 8;
  const std::string_view bytes = record.bytes;
  EntryNumbers numbers(bytes);
  const std::uint64_t size = numbers.next(24);
  const std::uint64_t stored_size = numbers.next(20);
  const std::uint64_t offset = numbers.next(42);
  zarrcore::check_value_size(size, max_size);
  const unsigned method = little<std::uint16_t>(bytes, 10);
  if ((little<std::uint16_t>(bytes, 8) & kEncrypted) != 0) throw Error("the entry is encrypted");
  if (method != 0 && method != kDeflated) {
    throw Error("the entry has the unknown compression method " + std::to_string(method));
  }
  const std::uint64_t file_bytes = file_size(file);
  if (offset > file_bytes || file_bytes - offset < kLocalSize) throw damaged();
  const Buffer header = read_bytes(file, offset, kLocalSize);
  if (!header.text().starts_with("PK\3\4")) throw damaged();
  const std::uint64_t start = offset + kLocalSize + little<std::uint16_t>(header.text(), 26) +
                              little<std::uint16_t>(header.text(), 28);
  if (start > file_bytes || stored_size > file_bytes - start) throw damaged();
  Buffer value = read_bytes(file, start, stored_size);
  if (method == kDeflated) {
    const zarrcore::Codec codec =
        zarrcore::find_codec("imagecodecs_deflate")({{"raw", true}}, zarrcore::ChunkSpec());
    value = std::get<std::unique_ptr<const zarrcore::BytesToBytesCodec>>(codec)->decode(
        value.span(), size);
  }
  if (value.size() != size || zarrcore::crc32(value.span()) != little<std::uint32_t>(bytes, 16)) {
    throw Error("the entry is damaged");
  }
  return value;
}

ZipDirectory read_zip_directory(VSILFILE* file) {
  const std::uint64_t file_bytes = file_size(file);
  const std::uint64_t tail_size =
      std::min<std::uint64_t>(file_bytes, kEndSize + UINT16_MAX + kLocatorSize);
  const Buffer tail_bytes = read_bytes(file, file_bytes - tail_size, tail_size);
  const std::string_view tail = tail_bytes.text();
  const std::size_t end = find_end(tail);
  std::uint64_t count = little<std::uint16_t>(tail, end + 10);
  std::uint64_t size = little<std::uint32_t>(tail, end + 12);
  std::uint64_t directory_end = file_bytes - tail_size + end;
  ZipDirectory directory;
  directory.offset = little<std::uint32_t>(tail, end + 16);
  directory.comment = tail.substr(end + kEndSize);
  if (end >= kLocatorSize && tail.substr(end - kLocatorSize).starts_with("PK\6\7")) {
    const auto at = little<std::uint64_t>(tail, end - kLocatorSize + 8);
    if (at > directory_end || directory_end - at < kEnd64Size + kLocatorSize) throw damaged();
    const Buffer record = read_bytes(file, at, kEnd64Size);
    if (!record.text().starts_with("PK\6\6")) throw damaged();
    count = little<std::uint64_t>(record.text(), 32);
    size = little<std::uint64_t>(record.text(), 40);
    directory.offset = little<std::uint64_t>(record.text(), 48);
    directory_end = at;
  }
  if (size > kMaxDirectory || size > directory_end || directory.offset != directory_end - size) {
    throw damaged();
  }
  const Buffer records = read_bytes(file, directory.offset, size);
  for (std::string_view rest = records.text(); !rest.empty();) {
    if (rest.size() < kCentralSize || !rest.starts_with("PK\1\2")) throw damaged();
    const std::size_t name_size = little<std::uint16_t>(rest, 28);
    const std::size_t whole = kCentralSize + name_size + little<std::uint16_t>(rest, 30) +
                              little<std::uint16_t>(rest, 32);
    if (whole > rest.size()) throw damaged();
    directory.records.push_back(
        {std::string(rest.substr(kCentralSize, name_size)), std::string(rest.substr(0, whole))});
    rest.remove_prefix(whole);
  }
  if (directory.records.size() != count) throw damaged();
  return directory;
}

std::shared_ptr<zarrcore::Store> with_last_entries(std::shared_ptr<zarrcore::Store> store,
                                                   const ZipTarget& target) {
  std::map<std::string, const ZipDirectory::Record*, std::less<>> known;
  LastEntries::Entries entries;
  ZipDirectory directory;
  try {
    const VsiCall call;
    const File file(VSIFOpenL(target.archive.c_str(), "rb"));
    if (!file) return store;
    directory = read_zip_directory(file.get());
  } catch (const Error&) {
    return store;  // GDAL reports archives that it cannot read
  }
  for (const ZipDirectory::Record& record : directory.records) {
    const auto key = zarrcore::key_below(target.prefix, record.name);
    if (!key || key->empty() || key->ends_with('/')) continue;
    if (!known.try_emplace(std::string(*key), &record).second) {
      entries.insert_or_assign(std::string(*key), record);
    }
  }
  if (entries.empty()) return store;
  return std::make_shared<LastEntries>(std::move(store), target.archive, std::move(entries));
}

}  // namespace gdal_zarr
