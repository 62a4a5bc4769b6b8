#include "driver/stores/vsi/zip_directory.h"

#include <algorithm>
#include <string_view>

#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"

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

}  // namespace

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
