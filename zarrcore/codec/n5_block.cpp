// Codecs for blocks of N5. All decode the bytes after the header as a chunk of the header's shape,
// and store it at the start of the chunk:
// - `n5_default` (zarr-extensions): `codecs` encode the elements. The header has the
//   dimensions in the order of the array, whose axes are N5's. The rest of a chunk is the fill
//   value. `bytes` is big-endian, also where its configuration does not say so.
// - `n5.block` (our name): blocks of N5's own containers. The header has the dimensions in reverse
//   order, as zarr-python shows them.
// - `n5_wrapper` (zarr-python 2, in v2): `compressor_config` is a codec of numcodecs, or null. The
//   header has the dimensions in reverse order. The rest of a chunk is zero. It takes the array
//   itself, whatever byte order its metadata states.
#include <algorithm>
#include <functional>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/metadata/codec_metadata.h"
#include "zarrcore/metadata/numpy_array.h"

namespace zarrcore {
namespace {

// Blocks may be larger than a chunk, up to this number of bytes.
constexpr std::uint64_t kMaxBlockBytes = std::uint64_t{1} << 26;

// The header of an N5 block (N5 specification, "the chunk format"): a mode and the rank, 16 bits
// each, then the block's lengths, 32 bits each, all big-endian. In mode 1, the number of elements
// follows. After the header come the block's elements, big-endian and compressed. Each block states
// its shape, because blocks at the edge of an array may be smaller.
struct N5BlockHeader {
  Shape shape;           // in the order in which the header has it
  std::size_t size = 0;  // of the header, in bytes
};

// Throws Error when the block is too short, does not have `rank` dimensions, or has elements of
// varying length (mode 2, or mode 1 with another number of elements than its shape has).
N5BlockHeader parse_n5_block_header(ByteSpan block, std::size_t rank) {
  std::size_t position = 0;
  const auto next = [&]<typename Integer>(Integer /*type*/) {
    if (block.size() - position < sizeof(Integer)) throw Error("the block ends within its header");
    position += sizeof(Integer);
    return load_integer<Integer>(block.data() + position - sizeof(Integer), Endian::big);
  };
  const auto mode = next(std::uint16_t{});
  if (mode > 1) {
    throw Error("the block has the mode " + std::to_string(mode) +
                ", whose elements are not numbers");
  }
  const auto dimensions = next(std::uint16_t{});
  if (dimensions != rank) {
    throw Error("the block has " + std::to_string(dimensions) + " dimensions, the array " +
                std::to_string(rank));
  }
  N5BlockHeader header;
  for (std::size_t i = 0; i < rank; ++i) header.shape.push_back(next(std::uint32_t{}));
  if (mode == 1 && checked_product(header.shape) != next(std::uint32_t{})) {
    throw Error("the block's elements vary in length");
  }
  header.size = position;
  return header;
}

// The header, in mode 0. Throws Error when a length has more than 32 bits.
Buffer make_n5_block_header(const Shape& shape) {
  Buffer header(2 * sizeof(std::uint16_t) + shape.size() * sizeof(std::uint32_t));
  store_integer(std::uint16_t{0}, Endian::big, header.data());
  store_integer(static_cast<std::uint16_t>(shape.size()), Endian::big,
                header.data() + sizeof(std::uint16_t));
  std::byte* end = header.data() + 2 * sizeof(std::uint16_t);
  for (const std::uint64_t length : shape) {
    if (length > UINT32_MAX) throw Error("a chunk is longer than a block of N5 can be");
    store_integer(static_cast<std::uint32_t>(length), Endian::big, end);
    end += sizeof(std::uint32_t);
  }
  return header;
}

class N5BlockCodec final : public ArrayToBytesCodec {
 public:
  N5BlockCodec(const ChunkSpec& spec, std::vector<CodecMetadata> codecs, bool is_reversed,
               bool can_encode = true)
      : codecs_(std::move(codecs)),
        is_reversed_(is_reversed),
        can_encode_(can_encode),
        chain_(codecs_, spec),
        header_(make_n5_block_header(in_header_order(spec.shape))) {}

  std::uint64_t max_encoded_size() const override {
    return checked_add(chain_.max_uncompressed_size(),
                       std::max<std::uint64_t>(header_.size(), kMaxBlockBytes))
        .value_or(UINT64_MAX);
  }

  bool can_encode() const override { return can_encode_ && chain_.can_encode(); }

  Buffer encode(ByteSpan decoded) const override {
    const Buffer elements = chain_.encode_from_c_order(decoded);
    Buffer block(header_.size() + elements.size());
    std::ranges::copy(header_.span(), block.data());
    std::ranges::copy(elements.span(), block.data() + header_.size());
    return block;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override {
    const ChunkSpec& spec = chain_.spec();
    N5BlockHeader header = parse_n5_block_header(encoded, spec.shape.size());
    const ByteSpan elements = encoded.subspan(header.size);
    const Shape shape = in_header_order(std::move(header.shape));
    // Such a block would cover others, and is an error in zarr-python, but not in zarr-extensions.
    const bool is_larger = !std::ranges::equal(shape, spec.shape, std::less_equal<>());
    if (is_reversed_ && is_larger) throw Error("the block is larger than a chunk");
    if (shape == spec.shape) return chain_.decode_to_c_order(elements, decoded, arena);
    const ChunkSpec block_spec{shape, spec.data_type, spec.fill_value};
    const std::uint64_t size = block_spec.byte_count();
    check_max_size("the block's header makes ", size, std::max(kMaxBlockBytes, spec.byte_count()));
    const CodecChain block_chain(codecs_, block_spec);
    block_chain.check_plausible(elements);
    Buffer block(size);
    block_chain.decode_to_c_order(elements, block.span(), arena);
    const std::uint64_t item_size = spec.data_type.item_size;
    const Strides strides = c_strides(spec.shape, item_size);
    copy_strided(spec.shape, item_size, spec.fill_value.data(), Strides(shape.size(), 0),
                 decoded.data(), strides);
    Shape common;
    std::ranges::transform(shape, spec.shape, std::back_inserter(common),
                           [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); });
    copy_strided(common, item_size, block.data(), c_strides(shape, item_size), decoded.data(),
                 strides);
  }

 private:
  Shape in_header_order(Shape shape) const {
    if (is_reversed_) std::ranges::reverse(shape);
    return shape;
  }

  std::vector<CodecMetadata> codecs_;
  bool is_reversed_;
  bool can_encode_;
  CodecChain chain_;
  Buffer header_;
};

}  // namespace

std::vector<CodecMetadata> with_n5_bytes(std::vector<CodecMetadata> codecs, const DataType& type) {
  const auto bytes = std::ranges::find_if_not(
      codecs, [](const CodecMetadata& codec) { return codec.name == "transpose"; });
  if (bytes == codecs.end() || bytes->name != "bytes") {
    codecs.insert(bytes, {"bytes", {{"endian", "big"}}});
  } else if (!bytes->configuration.contains("endian")) {
    bytes->configuration["endian"] = "big";
  } else if (bytes->configuration["endian"] == "little" && type.item_size > 1) {
    throw Error("its codec \"bytes\" is little-endian, but blocks of N5 are big-endian");
  }
  return codecs;
}

Codec make_n5_default(const Json& configuration, const ChunkSpec& spec) {
  return std::make_unique<N5BlockCodec>(
      spec, with_n5_bytes(codecs_member(configuration, "codecs"), spec.data_type), false);
}

Codec make_n5_block(const Json& configuration, const ChunkSpec& spec) {
  return std::make_unique<N5BlockCodec>(spec, codecs_member(configuration, "codecs"), true, false);
}

Codec make_n5_wrapper(const Json& configuration, const ChunkSpec& spec) {
  std::vector<CodecMetadata> codecs{{"bytes", {{"endian", "big"}}}};
  const Json* compressor = find_member(configuration, "compressor_config");
  if (compressor == nullptr) compressor = find_member(configuration, "compressor");
  const bool is_raw = compressor == nullptr || compressor->is_null() ||
                      (compressor->is_object() && compressor->value("id", Json()) == "raw");
  if (!is_raw) codecs.push_back(parse_numcodec(*compressor, "\"compressor_config\""));
  ChunkSpec padded = spec;
  std::ranges::fill(padded.fill_value, std::byte{0});
  return std::make_unique<N5BlockCodec>(padded, std::move(codecs), true);
}

}  // namespace zarrcore
