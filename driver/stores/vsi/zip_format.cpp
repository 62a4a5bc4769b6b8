#include "driver/stores/vsi/zip_format.h"

#include <algorithm>
#include <ctime>
#include <initializer_list>
#include <utility>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

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
  explicit Record(std::uint32_t signature) { add(signature); }

  template <typename Integer>
  Record& add(Integer value) {
    const std::size_t end = bytes_.size();
    bytes_.resize(end + sizeof(Integer));
    zarrcore::store_integer(value, zarrcore::Endian::little, bytes_.data() + end);
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
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), bytes, bytes + text.size());
    return *this;
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// The extra field with the values that need 64 bits.
std::string zip64_field(std::initializer_list<std::uint64_t> values) {
  std::string field;
  for (const std::uint64_t value : values) {
    std::byte bytes[sizeof(value)];
    zarrcore::store_integer(value, zarrcore::Endian::little, bytes);
    field.append(reinterpret_cast<const char*>(bytes), sizeof(value));
  }
  if (field.empty()) return field;
  std::byte header[4];
  zarrcore::store_integer(kZip64Field, zarrcore::Endian::little, header);
  zarrcore::store_integer(static_cast<std::uint16_t>(field.size()), zarrcore::Endian::little,
                          header + 2);
  return std::string(reinterpret_cast<const char*>(header), sizeof(header)) + field;
}

void check_name(const std::string& name) {
  if (name.size() > kMax16) throw zarrcore::Error("the name is too long for a ZIP archive");
}

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

std::vector<std::byte> zip_local_header(const ZipEntry& entry) {
  check_name(entry.name);
  const bool is_zip64 = entry.size >= kMax32;
  const std::string extra = is_zip64 ? zip64_field({entry.size, entry.size}) : std::string();
  Record record(0x04034b50);
  record.add(is_zip64 ? kVersionOfZip64 : kVersion).add(kNamesAreUtf8).add16(0).add(entry.time);
  record.add(entry.checksum).add32(entry.size).add32(entry.size);
  return record.add16(entry.name.size()).add16(extra.size()).add(entry.name).add(extra).take();
}

std::vector<std::byte> zip_central_record(const ZipEntry& entry) {
  check_name(entry.name);
  const bool has_large_size = entry.size >= kMax32;
  const bool has_large_offset = entry.offset >= kMax32;
  const std::string extra = has_large_size && has_large_offset
                                ? zip64_field({entry.size, entry.size, entry.offset})
                            : has_large_size   ? zip64_field({entry.size, entry.size})
                            : has_large_offset ? zip64_field({entry.offset})
                                               : std::string();
  const std::uint16_t version = extra.empty() ? kVersion : kVersionOfZip64;
  Record record(0x02014b50);
  record.add(static_cast<std::uint16_t>(version | kMadeOnUnix)).add(version);
  record.add(kNamesAreUtf8).add16(0).add(entry.time).add(entry.checksum);
  record.add32(entry.size).add32(entry.size);
  record.add16(entry.name.size()).add16(extra.size());
  // No comment, the first disk, a binary file.
  record.add16(0).add16(0).add16(0).add(kRegularFile).add32(entry.offset);
  return record.add(entry.name).add(extra).take();
}

std::vector<std::byte> zip_end_records(std::uint64_t count, std::uint64_t offset,
                                       std::uint64_t size, const std::string& comment) {
  std::vector<std::byte> bytes;
  const auto append = [&](Record record) {
    const auto more = record.take();
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  if (count >= kMax16 || offset >= kMax32 || size >= kMax32) {
    constexpr std::uint64_t kSizeOfTheRest = 44;
    Record end(0x06064b50);
    end.add(kSizeOfTheRest).add(static_cast<std::uint16_t>(kVersionOfZip64 | kMadeOnUnix));
    end.add(kVersionOfZip64).add(std::uint32_t{0}).add(std::uint32_t{0});
    end.add(count).add(count).add(size).add(offset);
    append(std::move(end));
    Record locator(0x07064b50);
    locator.add(std::uint32_t{0}).add(offset + size).add(std::uint32_t{1});
    append(std::move(locator));
  }
  Record end(0x06054b50);
  end.add16(0).add16(0).add16(count).add16(count).add32(size).add32(offset);
  end.add16(comment.size()).add(comment);
  append(std::move(end));
  return bytes;
}

}  // namespace gdal_zarr
