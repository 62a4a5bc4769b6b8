#include "driver/stores/vsi/zip_directory.h"

#include <algorithm>
#include <string_view>

#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/checksum.h"
#include "zarrcore/codec/registry.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

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

}  // namespace

zarrcore::Buffer read_zip_entry(VSILFILE* file, const ZipDirectory::Record& record,
                                std::uint64_t max_size) {
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
  const zarrcore::Buffer header = read_bytes(file, offset, kLocalSize);
  if (!header.text().starts_with("PK\3\4")) throw damaged();
  const std::uint64_t start = offset + kLocalSize + little<std::uint16_t>(header.text(), 26) +
                              little<std::uint16_t>(header.text(), 28);
  if (start > file_bytes || stored_size > file_bytes - start) throw damaged();
  zarrcore::Buffer value = read_bytes(file, start, stored_size);
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
  const zarrcore::Buffer tail_bytes = read_bytes(file, file_bytes - tail_size, tail_size);
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
    const zarrcore::Buffer record = read_bytes(file, at, kEnd64Size);
    if (!record.text().starts_with("PK\6\6")) throw damaged();
    count = little<std::uint64_t>(record.text(), 32);
    size = little<std::uint64_t>(record.text(), 40);
    directory.offset = little<std::uint64_t>(record.text(), 48);
    directory_end = at;
  }
  if (size > kMaxDirectory || size > directory_end || directory.offset != directory_end - size) {
    throw damaged();
  }
  const zarrcore::Buffer records = read_bytes(file, directory.offset, size);
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

}  // namespace gdal_zarr
