// The headers of netCDF-3 files (NetCDF Classic Format Specification).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "driver/stores/vsi/vsi_file.h"
#include "driver/virtual/array_blocks.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Endian;
using zarrcore::Error;
using zarrcore::Shape;

// In bytes, by the number of the type from 1 (byte) to 11 (unsigned 64-bit integer).
constexpr std::uint64_t kTypeSizes[] = {1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{1} << 48;

std::uint64_t padded(std::uint64_t size) {
  return (size + 3) / 4 * 4;
}

struct Netcdf3Variable {
  std::string name;
  Shape shape;  // of a record, if it has records
  bool has_records = false;
  std::uint64_t item_size = 0;
  std::uint64_t begin = 0;

  // Of a record, if it has records.
  std::uint64_t size() const {
    const auto count = zarrcore::checked_product(shape);
    if (!count || *count > kMaxVariableBytes) throw Error("a variable of its file is too large");
    return *count * item_size;
  }
};

class Netcdf3Header {
 public:
  explicit Netcdf3Header(VSILFILE* file) : file_(file), file_size_(file_size(file)) {}

  // Returns false if it is no such file.
  bool read() {
    constexpr std::uint64_t kMagic = 4;
    if (file_size_ < kMagic) return false;
    const Buffer magic = read_bytes(file_, 0, kMagic);
    version_ = std::to_integer<int>(magic.data()[3]);
    if (magic.text().substr(0, 3) != "CDF" || (version_ != 1 && version_ != 2 && version_ != 5)) {
      return false;
    }
    at_ = kMagic;
    count();  // of records
    for (auto left = list(kDimensions); left > 0; --left) {
      name();
      lengths_.push_back(count());
    }
    skip_attributes();
    for (auto left = list(kVariables); left > 0; --left) read_variable();
    return true;
  }

  const std::vector<Netcdf3Variable>& variables() const { return variables_; }

  // The bytes from one record to the next: values are padded unless there is only one variable.
  std::uint64_t record_size() const {
    std::uint64_t size = 0;
    std::uint64_t plain = 0;
    int found = 0;
    for (const Netcdf3Variable& variable : variables_) {
      if (!variable.has_records) continue;
      ++found;
      plain = variable.size();
      if (size > kMaxVariableBytes) throw Error("its records are too large");
      size += padded(plain);
    }
    return found == 1 ? plain : size;
  }

 private:
  static constexpr std::uint32_t kDimensions = 10;
  static constexpr std::uint32_t kVariables = 11;
  static constexpr std::uint32_t kAttributes = 12;

  // The next bytes. The file is read in larger parts, as most fields are small.
  const std::byte* take(std::uint64_t size) {
    constexpr std::uint64_t kPart = 64 << 10;
    const std::uint64_t start = skip(size);
    if (start < part_start_ || at_ > part_start_ + part_.size()) {
      part_ = read_bytes(file_, start, std::min(std::max(size, kPart), file_size_ - start));
      part_start_ = start;
    }
    return part_.data() + (start - part_start_);
  }

  // Returns where the skipped bytes begin.
  std::uint64_t skip(std::uint64_t size) {
    if (at_ > file_size_ || size > file_size_ - at_) throw Error("its header is too short");
    at_ += size;
    return at_ - size;
  }

  std::uint32_t u32() { return zarrcore::load_integer<std::uint32_t>(take(4), Endian::big); }
  std::uint64_t u64() { return zarrcore::load_integer<std::uint64_t>(take(8), Endian::big); }
  std::uint64_t count() { return version_ == 5 ? u64() : u32(); }

  // The number of elements of a list.
  std::uint64_t list(std::uint32_t tag) {
    const std::uint32_t found = u32();
    const std::uint64_t length = count();
    if (found != tag && (found != 0 || length != 0)) throw Error("its header is not valid");
    return length;
  }

  std::string name() {
    constexpr std::uint64_t kMaxLength = 4096;
    const std::uint64_t length = count();
    if (length > kMaxLength) throw Error("a name in its header is too long");
    const auto* const text = reinterpret_cast<const char*>(take(padded(length)));
    return {text, static_cast<std::size_t>(length)};
  }

  std::uint64_t type_size() {
    const std::uint32_t type = u32();
    if (type == 0 || type > std::size(kTypeSizes)) throw Error("a data type is not valid");
    return kTypeSizes[type - 1];
  }

  void skip_attributes() {
    for (auto left = list(kAttributes); left > 0; --left) {
      name();
      const std::uint64_t size = type_size();
      const std::uint64_t length = count();
      if (length > file_size_) throw Error("its header is too short");
      skip(padded(length * size));
    }
  }

  void read_variable() {
    constexpr std::uint64_t kMaxRank = 1024;
    Netcdf3Variable variable;
    variable.name = name();
    const std::uint64_t rank = count();
    if (rank > kMaxRank) throw Error("a variable of its file has too many dimensions");
    for (std::uint64_t i = 0; i < rank; ++i) {
      const std::uint64_t dimension = count();
      if (dimension >= lengths_.size()) throw Error("its header is not valid");
      if (lengths_[dimension] != 0) {
        variable.shape.push_back(lengths_[dimension]);
      } else if (i == 0) {
        variable.has_records = true;
      } else {
        throw Error("the unlimited dimension of a variable is not its first");
      }
    }
    skip_attributes();
    variable.item_size = type_size();
    count();  // the size, which is wrong for large variables
    variable.begin = version_ == 1 ? u32() : u64();
    variables_.push_back(std::move(variable));
  }

  VSILFILE* file_;
  std::uint64_t file_size_;
  int version_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t part_start_ = 0;
  Buffer part_;
  Shape lengths_;  // of dimensions; 0 for the unlimited one
  std::vector<Netcdf3Variable> variables_;
};

}  // namespace

std::optional<RawBlocks> find_netcdf3_blocks(const GDALMDArray& array, const Shape& shape,
                                             const zarrcore::DataType& type) {
  const std::string& path = array.GetFilename();
  const File file = path.empty() ? nullptr : open_file(path);
  if (!file) return std::nullopt;
  Netcdf3Header header(file.get());
  if (!header.read()) return std::nullopt;
  const auto found = std::ranges::find(header.variables(), array.GetName(), &Netcdf3Variable::name);
  if (found == header.variables().end()) throw Error("its file has no variable of its name");
  const Netcdf3Variable& variable = *found;
  Shape expected = variable.shape;
  if (variable.has_records && !shape.empty()) expected.insert(expected.begin(), shape[0]);
  if (expected != shape || variable.item_size != type.item_size) {
    throw Error("its file has another shape or data type for it");
  }
  return contiguous_blocks(
      shape, type, "big", file_part(path, zarrcore::ByteRange::at(variable.begin, variable.size())),
      variable.has_records ? std::optional(header.record_size()) : std::nullopt);
}

}  // namespace gdal_zarr
