// Filters of imagecodecs, which make the numbers of images easier to compress; `delta` and
// `floatpred` are TIFF's predictors 2 and 3. Chunks of all of them can be read, not written.
//
// They see the bytes of a chunk as an array of `shape` and `dtype`, and work along its `axis`.
#include <limits>
#include <utility>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/decoder_codec.h"
#include "zarrcore/codec/element_codec.h"
#include "zarrcore/dtype/elements.h"

namespace zarrcore {
namespace {

// A filter whose decoded elements have the type and the size of the encoded ones.
class Predictor final : public Filter {
 public:
  using Undo = std::function<void(ByteSpan encoded, MutableByteSpan decoded)>;

  // `undo` gets two spans of one size.
  Predictor(std::string name, NumpyType type, Undo undo)
      : name_(std::move(name)), type_(std::move(type)), undo_(std::move(undo)) {}

  DataType encoded_type() const override { return type_.type; }
  Endian encoded_endian() const override { return type_.endian; }
  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    return decoded_size;
  }
  std::uint64_t max_decoded_size(ByteSpan encoded) const override { return encoded.size(); }

  Buffer encode(ByteSpan /*decoded*/) const override { throw only_decodes(name_); }
  bool can_encode() const override { return false; }

  std::string name() const override { return name_; }
  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    check_size(name_ + ": ", encoded.size(), decoded.size());
    with_context(name_, [&] { undo_(encoded, decoded); });
  }

 private:
  std::string name_;
  NumpyType type_;
  Undo undo_;
};

Codec make_predictor(std::string name, NumpyType type, Predictor::Undo undo) {
  return std::unique_ptr<const Filter>(
      std::make_unique<Predictor>(std::move(name), std::move(type), std::move(undo)));
}

// An array as rows along an axis. A row has the dimensions after the axis as well: its elements
// have their neighbours along the axis `stride` elements apart.
struct Rows {
  std::uint64_t count = 1;
  std::uint64_t size = 0;  // bytes of a row; 0: one row has all bytes
  std::size_t stride = 1;
  std::size_t item_size = 1;
  Endian endian = Endian::little;
};

// Without `shape`, all elements are one row; without `dtype`, they are bytes.
Rows parse_rows(const Json& configuration, const NumpyType& type) {
  if (const std::int64_t dist = integer_option(configuration, "dist", 1); dist != 1) {
    throw Error("\"dist\" is " + std::to_string(dist) + ", which is not supported");
  }
  Rows rows;
  rows.item_size = memory_size(type.type.item_size);
  rows.endian = type.endian;
  const Json* member = find_value(configuration, "shape");
  if (member == nullptr) return rows;
  const Shape shape = as_unsigned_list(*member, "\"shape\"");
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis = integer_option(configuration, "axis", -1);
  if (axis < -rank || axis >= rank) {
    throw Error("\"axis\" is " + std::to_string(axis) + ", which \"shape\" does not have");
  }
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const std::span<const std::uint64_t> lengths(shape);
  const auto stride = checked_product(lengths.subspan(at + 1));
  const auto row = checked_product(lengths.subspan(at));
  const auto size = row ? checked_multiply(*row, rows.item_size) : std::nullopt;
  const auto count = checked_product(lengths.first(at));
  if (!stride || !size || !count || *size == 0) {
    throw Error("\"shape\" is " + excerpt(*member) + ", which no chunk has");
  }
  rows.count = *count;
  rows.size = *size;
  rows.stride = memory_size(*stride);
  return rows;
}

// Calls `undo(encoded_row, decoded_row)` for each row.
template <typename Undo>
void for_each_row(const Rows& rows, ByteSpan encoded, MutableByteSpan decoded, const Undo& undo) {
  const std::size_t size = rows.size == 0 ? encoded.size() : memory_size(rows.size);
  const std::size_t row_bytes = rows.stride * rows.item_size;
  if (size != 0 && (encoded.size() / size != rows.count || encoded.size() % size != 0 ||
                    size % row_bytes != 0)) {
    throw Error(std::to_string(encoded.size()) + " bytes are not an array of this shape and type");
  }
  for (std::size_t at = 0; at < encoded.size(); at += size) {
    undo(encoded.subspan(at, size), decoded.subspan(at, size));
  }
}

// Replaces each number by `combine(number before it, number)`, in the host's byte order.
template <typename Integer, typename Combine>
void accumulate(MutableByteSpan row, std::size_t stride, const Combine& combine) {
  const std::size_t distance = stride * sizeof(Integer);
  for (std::size_t at = distance; at < row.size(); at += sizeof(Integer)) {
    Integer before = 0;
    Integer value = 0;
    std::memcpy(&before, row.data() + at - distance, sizeof(value));
    std::memcpy(&value, row.data() + at, sizeof(value));
    value = static_cast<Integer>(combine(before, value));
    std::memcpy(row.data() + at, &value, sizeof(value));
  }
}

// A filter by which each number was replaced by its difference from the number before it in its
// row, or by what differs in their bits. Of floats, these are their bits as integers.
template <typename Combine>
Codec make_differences(const char* name, const Json& configuration, const Combine& combine) {
  const NumpyType type =
      numpy_type_option(configuration, "dtype", {{TypeKind::unsigned_integer, 1}});
  const bool is_number = type.type.is_integer() || type.type.is_time() ||
                         type.type.kind == TypeKind::boolean ||
                         type.type.kind == TypeKind::floating;
  if (!is_number)
    throw Error("\"dtype\" is " + type_name(type.type) + ", which has no differences");
  const Rows rows = parse_rows(configuration, type);
  return make_predictor(name, type, [=](ByteSpan encoded, MutableByteSpan decoded) {
    for_each_row(rows, encoded, decoded, [&](ByteSpan encoded_row, MutableByteSpan row) {
      std::copy(encoded_row.begin(), encoded_row.end(), row.begin());
      if (rows.endian != kHostEndian) swap_bytes(row, rows.item_size);
      with_size<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(
          rows.item_size,
          [&](auto tag) { accumulate<typename decltype(tag)::Type>(row, rows.stride, combine); });
      if (rows.endian != kHostEndian) swap_bytes(row, rows.item_size);
    });
  });
}

struct ByteShuffle {
  bool has_differences = false;  // the planes of a row are differences of bytes
  // The first plane has the most significant bytes, whatever the byte order. Else it has the first.
  bool by_significance = false;
};

// A filter that put the first bytes of all elements of a row before their second bytes.
Codec make_byte_shuffle(const char* name, const Json& configuration, const NumpyType& type,
                        ByteShuffle shuffle) {
  const Rows rows = parse_rows(configuration, type);
  const bool is_reversed = shuffle.by_significance && rows.endian == Endian::little;
  return make_predictor(name, type, [=](ByteSpan encoded, MutableByteSpan decoded) {
    Buffer planes;
    for_each_row(rows, encoded, decoded, [&](ByteSpan encoded_row, MutableByteSpan row) {
      planes = Buffer::copy_of(encoded_row);
      if (shuffle.has_differences) {
        accumulate<std::uint8_t>(planes.span(), rows.stride, std::plus<>());
      }
      unshuffle_bytes(planes.span(), rows.item_size, row, is_reversed);
    });
  });
}

// The block of the Bitshuffle library, in elements: 8 KB, but not too few elements.
std::size_t bit_shuffle_block(std::size_t item_size) {
  constexpr std::size_t kBytes = 8192;
  constexpr std::size_t kMinElements = 128;
  return std::max(kBytes / item_size / 8 * 8, kMinElements);
}

// Undoes what the Bitshuffle library does to the bits of a block: the lowest bits of the first
// bytes of all elements, eight to a byte, then their second lowest bits, and so on.
void unshuffle_bits(ByteSpan encoded, MutableByteSpan decoded, std::size_t item_size) {
  const std::size_t groups = encoded.size() / item_size / 8;
  for (std::size_t k = 0; k < item_size; ++k) {
    for (std::size_t group = 0; group < groups; ++group) {
      std::uint64_t bits[8];
      for (std::size_t b = 0; b < 8; ++b) {
        bits[b] = std::to_integer<std::uint64_t>(encoded[(8 * k + b) * groups + group]);
      }
      for (std::size_t i = 0; i < 8; ++i) {
        std::uint64_t byte = 0;
        for (std::size_t b = 0; b < 8; ++b) byte |= (bits[b] >> i & 1) << b;
        decoded[(8 * group + i) * item_size + k] = static_cast<std::byte>(byte);
      }
    }
  }
}

}  // namespace

// Running sums, which wrap around.
Codec make_imagecodecs_delta(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_differences("delta", configuration, [](auto a, auto b) { return a + b; });
}

Codec make_xor(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_differences("xor", configuration, [](auto a, auto b) { return a ^ b; });
}

Codec make_floatpred(const Json& configuration, const ChunkSpec& spec) {
  const NumpyType type = numpy_type_option(configuration, "dtype", {spec.data_type});
  if (type.type.kind != TypeKind::floating) {
    throw Error("\"dtype\" is " + type_name(type.type) + ", which is not a type of floats");
  }
  return make_byte_shuffle("floatpred", configuration, type, {true, true});
}

Codec make_byteshuffle(const Json& configuration, const ChunkSpec& spec) {
  const NumpyType type = numpy_type_option(configuration, "dtype", {spec.data_type});
  if (!type.type.is_numeric() || type.type.kind == TypeKind::complex) {
    throw Error("\"dtype\" is " + type_name(type.type) + ", which is not a type of numbers");
  }
  return make_byte_shuffle("byteshuffle", configuration, type,
                           {boolean_option(configuration, "delta", false),
                            boolean_option(configuration, "reorder", false)});
}

// Configuration: `itemsize` in bytes; `blocksize` in elements, 0 for the library's default.
Codec make_bitshuffle(const Json& configuration, const ChunkSpec& spec) {
  const std::int64_t item = integer_option(configuration, "itemsize", 1);
  const std::int64_t given = integer_option(configuration, "blocksize", 0);
  if (item < 1 || static_cast<std::uint64_t>(item) > kMaxItemSize) {
    throw Error("\"itemsize\" is " + std::to_string(item) + ", which is not a size of elements");
  }
  if (given < 0 || given % 8 != 0 || given > std::numeric_limits<std::int32_t>::max()) {
    throw Error("\"blocksize\" is " + std::to_string(given) + ", not a multiple of 8");
  }
  const NumpyType type = numpy_type_option(configuration, "dtype", {spec.data_type});
  const auto item_size = static_cast<std::size_t>(item);
  const std::size_t block =
      given == 0 ? bit_shuffle_block(item_size) : static_cast<std::size_t>(given);
  return make_predictor("bitshuffle", type, [=](ByteSpan encoded, MutableByteSpan decoded) {
    if (encoded.size() % item_size != 0) {
      throw Error(std::to_string(encoded.size()) + " bytes are not a whole number of elements of " +
                  std::to_string(item_size));
    }
    // Whole blocks, and one of the groups of eight that are left. The last elements stay as
    // they are.
    const std::size_t shuffled = encoded.size() / item_size / 8 * 8 * item_size;
    for (std::size_t at = 0; at < shuffled;) {
      const std::size_t size = std::min(block * item_size, shuffled - at);
      unshuffle_bits(encoded.subspan(at, size), decoded.subspan(at, size), item_size);
      at += size;
    }
    std::copy(encoded.begin() + static_cast<std::ptrdiff_t>(shuffled), encoded.end(),
              decoded.begin() + static_cast<std::ptrdiff_t>(shuffled));
  });
}

// The bits of every byte in the opposite order (TIFF's FillOrder 2).
Codec make_bitorder(const Json& /*configuration*/, const ChunkSpec& spec) {
  return make_predictor("bitorder", {spec.data_type},
                        [](ByteSpan encoded, MutableByteSpan decoded) {
                          for (std::size_t i = 0; i < encoded.size(); ++i) {
                            auto bits = std::to_integer<unsigned>(encoded[i]);
                            bits = (bits & 0x0f) << 4 | (bits & 0xf0) >> 4;
                            bits = (bits & 0x33) << 2 | (bits & 0xcc) >> 2;
                            bits = (bits & 0x55) << 1 | (bits & 0xaa) >> 1;
                            decoded[i] = static_cast<std::byte>(bits);
                          }
                        });
}

// Numbers from which digits were removed, which decoding cannot restore.
Codec make_imagecodecs_quantize(const Json& /*configuration*/, const ChunkSpec& spec) {
  return make_predictor("quantize", {spec.data_type},
                        [](ByteSpan encoded, MutableByteSpan decoded) {
                          std::copy(encoded.begin(), encoded.end(), decoded.begin());
                        });
}

// virtual-tiff's name for `delta` along the last axis; in its chains it precedes `bytes`.
Codec make_horizontal_delta(const Json& /*configuration*/, const ChunkSpec& spec) {
  const auto dtype = format_numpy_type(spec.data_type, Endian::little);
  if (!dtype) throw Error("the data type " + type_name(spec.data_type) + " has no differences");
  Codec delta = make_imagecodecs_delta({{"shape", spec.shape}, {"dtype", *dtype}}, spec);
  return make_array_filter(std::get<std::unique_ptr<const Filter>>(std::move(delta)), spec,
                           Endian::little);
}

}  // namespace zarrcore
