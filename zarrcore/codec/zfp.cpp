// The `zfp` codec (zarr-extensions) and numcodecs' `zfpy`: blocks of 4^d integers or floats,
// compressed by the zfp library with or without loss. `zfp` stores only the blocks; in `zfpy` they
// follow zfp's own header, which has the parameters.
#include "zarrcore/codec/zfp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/dtype/elements.h"

namespace zarrcore {
namespace {

constexpr std::size_t kMaxRank = 4;
// The library reads and writes words of at most this many bytes; their size is chosen when it is
// built.
constexpr std::size_t kWord = 8;

// Parameters as the library keeps them; they mean the same for each of its modes.
struct Parameters {
  unsigned min_bits = ZFP_MIN_BITS;  // per block
  unsigned max_bits = ZFP_MAX_BITS;
  unsigned max_precision = ZFP_MAX_PREC;
  int min_exponent = ZFP_MIN_EXP;

  bool is_reversible() const { return min_exponent < ZFP_MIN_EXP; }
};

struct CloseStream {
  void operator()(zfp_stream* stream) const { zfp_library().zfp_stream_close(stream); }
  void operator()(bitstream* stream) const { zfp_library().stream_close(stream); }
};
struct FreeField {
  void operator()(zfp_field* field) const { zfp_library().zfp_field_free(field); }
};
using ZfpField = std::unique_ptr<zfp_field, FreeField>;

// A stream of compressed blocks over a buffer, or without one.
class Stream {
 public:
  explicit Stream(MutableByteSpan bytes = {})
      : bits_(zfp_library().stream_open(bytes.data(), bytes.size())),
        stream_(zfp_library().zfp_stream_open(bits_.get())) {
    if (!bits_ || !stream_) throw std::bad_alloc();
  }

  zfp_stream* get() const { return stream_.get(); }

  void set(const Parameters& parameters) const {
    if (zfp_library().zfp_stream_set_params(get(), parameters.min_bits, parameters.max_bits,
                                            parameters.max_precision,
                                            parameters.min_exponent) == 0) {
      throw Error("zfp has no mode with these parameters");
    }
  }

  Parameters parameters() const {
    Parameters result;
    zfp_library().zfp_stream_params(get(), &result.min_bits, &result.max_bits,
                                    &result.max_precision, &result.min_exponent);
    return result;
  }

 private:
  std::unique_ptr<bitstream, CloseStream> bits_;
  std::unique_ptr<zfp_stream, CloseStream> stream_;
};

// The library's words have the host's byte order; stored ones are little-endian.
void swap_words([[maybe_unused]] MutableByteSpan words) {
  if constexpr (kHostEndian == Endian::big) {
    swap_bytes(words, zfp_library().stream_alignment() / 8);
  }
}

zfp_type type_of(const DataType& type) {
  if (type.kind == TypeKind::signed_integer && type.item_size == 4) return zfp_type_int32;
  if (type.kind == TypeKind::signed_integer && type.item_size == 8) return zfp_type_int64;
  if (type.kind == TypeKind::floating && type.item_size == 4) return zfp_type_float;
  if (type.kind == TypeKind::floating && type.item_size == 8) return zfp_type_double;
  throw Error("elements of the type " + type_name(type) + " are none that zfp compresses");
}

std::uint64_t block_count(const Shape& shape) {
  Shape blocks;
  for (const std::uint64_t length : shape) blocks.push_back(ceil_divide(length, 4));
  return checked_product(blocks).value_or(UINT64_MAX);
}

class ZfpCodec final : public ArrayToBytesCodec {
 public:
  ZfpCodec(const ChunkSpec& spec, const Parameters& parameters, bool has_header)
      : data_type_(spec.data_type),
        type_(type_of(spec.data_type)),
        shape_(spec.shape),
        size_(spec.byte_count()),
        parameters_(parameters),
        has_header_(has_header) {
    if (shape_.empty()) shape_.push_back(1);
    const Stream stream;
    stream.set(parameters_);
    // Beyond this, what the library computes does not fit; no chunk in memory comes near it.
    constexpr std::uint64_t kManyBlocks = std::uint64_t{1} << 45;
    if (size_ != 0 && block_count(shape_) < kManyBlocks) {
      max_encoded_size_ =
          zfp_library().zfp_stream_maximum_size(stream.get(), make_field(shape_, nullptr).get());
    } else if (size_ != 0) {
      max_encoded_size_ = UINT64_MAX;
    }
  }

  std::uint64_t max_encoded_size() const override { return max_encoded_size_; }

  Buffer encode(ByteSpan decoded) const override {
    if (size_ == 0) return {};
    if (!parameters_.is_reversible()) check_is_compressible(decoded);
    Buffer buffer(max_encoded_size_);
    const Stream stream(buffer.span());
    stream.set(parameters_);
    // zfp does not write to it when it encodes.
    const ZfpField field = make_field(shape_, const_cast<std::byte*>(decoded.data()));
    if (has_header_ &&
        zfp_library().zfp_write_header(stream.get(), field.get(), ZFP_HEADER_FULL) == 0) {
      throw Error("zfp: the chunk shape does not fit a header");
    }
    const std::size_t size = zfp_library().zfp_compress(stream.get(), field.get());
    if (size == 0) throw Error("zfp: the chunk cannot be compressed");
    swap_words(buffer.span().first(size));
    // Copied, not truncated: the buffer can be many times as large.
    return Buffer::copy_of(ByteSpan(buffer.span()).first(size));
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& /*arena*/) const override {
    if (size_ == 0) {
      if (!encoded.empty()) throw Error("zfp: the chunk has bytes, but no elements");
      return;
    }
    Parameters parameters = parameters_;
    Shape shape = shape_;
    if (has_header_) read_header(encoded, parameters, shape);
    // The library does not check where the stream ends. It gets a stream that is followed by as
    // many zeros as it can read, and reports afterwards how far it read.
    Buffer padded(readable_size(encoded.size(), parameters, shape));
    std::memcpy(padded.data(), encoded.data(), encoded.size());
    std::memset(padded.data() + encoded.size(), 0, padded.size() - encoded.size());
    swap_words(padded.span());
    const Stream stream(padded.span());
    const ZfpField field = make_field(shape, decoded.data());
    if (has_header_) {
      const ZfpField stated(zfp_library().zfp_field_alloc());
      if (zfp_library().zfp_read_header(stream.get(), stated.get(), ZFP_HEADER_FULL) == 0)
        throw bad_header();
    } else {
      stream.set(parameters);
    }
    check_size(encoded, zfp_library().zfp_decompress(stream.get(), field.get()));
  }

 private:
  static Error bad_header() { return Error("zfp: the chunk does not start with a header of zfp"); }

  ZfpField make_field(const Shape& shape, std::byte* data) const {
    // The library's x is the dimension that varies fastest.
    std::array<std::size_t, kMaxRank> lengths{};
    std::copy(shape.rbegin(), shape.rend(), lengths.begin());
    ZfpField field(zfp_library().zfp_field_alloc());
    if (!field) throw std::bad_alloc();
    zfp_library().zfp_field_set_type(field.get(), type_);
    zfp_library().zfp_field_set_pointer(field.get(), data);
    field->nx = lengths[0];
    field->ny = lengths[1];
    field->nz = lengths[2];
    field->nw = lengths[3];
    return field;
  }

  // Reads the header, which must fit the chunk.
  void read_header(ByteSpan encoded, Parameters& parameters, Shape& shape) const {
    std::array<std::byte, (ZFP_HEADER_MAX_BITS / 64 + 2) * kWord> head{};
    std::copy_n(encoded.begin(), std::min(encoded.size(), head.size()), head.begin());
    swap_words(head);
    const Stream stream(head);
    const ZfpField field(zfp_library().zfp_field_alloc());
    if (!field) throw std::bad_alloc();
    if (zfp_library().zfp_read_header(stream.get(), field.get(), ZFP_HEADER_FULL) == 0)
      throw bad_header();
    Shape stated;
    for (const std::size_t length : {field->nw, field->nz, field->ny, field->nx}) {
      if (length != 0) stated.push_back(length);
    }
    // Accepts writers that see only a run of elements.
    const bool is_flat = stated.size() == 1 && stated == Shape{*checked_product(shape_)};
    if (field->type != type_ || (stated != shape_ && !is_flat)) {
      throw Error("zfp: the chunk holds another type or shape, " + excerpt(Json(stated)) +
                  ", than the array");
    }
    parameters = stream.parameters();
    shape = std::move(stated);
  }

  // `read` is the number of bytes that were read of `encoded` and the zeros after it. It reveals a
  // stream that has been cut off anywhere: its reader needs at least another bit.
  static void check_size(ByteSpan encoded, std::size_t read) {
    // Our library may have larger words than the writer's, or smaller ones, which leave zeros at
    // the end.
    const std::size_t own_word = zfp_library().stream_alignment() / 8;
    const ByteSpan rest = encoded.subspan(std::min(read, encoded.size()));
    const bool has_zeros_left = rest.size() < kWord && is_zero(rest);
    if (read == 0 || encoded.size() + own_word <= read || !has_zeros_left) {
      throw Error("zfp: the chunk has " + std::to_string(encoded.size()) + " bytes where " +
                  std::to_string(read) + " are expected");
    }
  }

  // The number of bytes that the library can read of a stream of `size` bytes followed by zeros.
  std::size_t readable_size(std::size_t size, const Parameters& parameters,
                            const Shape& shape) const {
    const std::uint64_t blocks = block_count(shape);
    // Every block has at least one bit, and as many as the mode requires.
    const auto least_bits = checked_multiply(blocks, std::max(parameters.min_bits, 1u));
    if (!least_bits || ceil_divide(*least_bits, 8) > size) {
      throw Error("zfp: the chunk has " + std::to_string(size) + " bytes, too few for " +
                  std::to_string(blocks) + " blocks");
    }
    // A block of zeros reads one bit, or for integers one for each bit plane; any block reads at
    // most max_bits. One block can pass the end.
    constexpr std::uint64_t kZeroBlockBits = 128;
    const std::uint64_t zero_bits = std::max<std::uint64_t>(kZeroBlockBits, parameters.min_bits);
    const std::uint64_t last_bits = std::max<std::uint64_t>(ZFP_MAX_BITS, parameters.max_bits);
    const auto tail = checked_multiply(blocks, zero_bits);
    if (!tail) throw std::bad_alloc();
    const std::uint64_t readable = size + *tail / 8 + last_bits / 8 + 4 * kWord;
    return static_cast<std::size_t>(ceil_divide(readable, kWord) * kWord);
  }

  // With loss, integers that take all bits and floats that are not finite become unrelated numbers,
  // and so do their neighbours.
  void check_is_compressible(ByteSpan decoded) const {
    with_real_type(data_type_, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      for (std::size_t i = 0; i < decoded.size(); i += sizeof(T)) {
        const auto value = load_element<T>(decoded.data() + i);
        if constexpr (std::is_integral_v<T>) {
          constexpr T kLimit = std::numeric_limits<T>::max() / 2 + 1;
          // NOLINTNEXTLINE(misc-redundant-expression): of unsigned types, which zfp lacks
          if (value > -kLimit && value < kLimit) continue;
        } else if (std::isfinite(value)) {
          continue;
        }
        throw Error(
            std::string("zfp: the chunk has ") +
            (std::is_integral_v<T> ? "integers that take all bits" : "a NaN or an infinity") +
            ", which only the reversible mode can store");
      }
    });
  }

  DataType data_type_;
  zfp_type type_;
  Shape shape_;
  std::uint64_t size_;  // bytes, decoded
  Parameters parameters_;
  bool has_header_;
  std::uint64_t max_encoded_size_ = 0;
};

double finite_number(const Json& configuration, std::string_view key) {
  const Json& number = number_member(configuration, key);
  if (std::isfinite(number.get<double>())) return number.get<double>();
  throw Error("\"" + std::string(key) + "\" is " + excerpt(number) + ", not a finite number");
}

int integer_from(const Json& configuration, std::string_view key, int low, int high) {
  number_member(configuration, key);  // there is no default
  return static_cast<int>(integer_option(configuration, key, 0, low, high));
}

Parameters reversible() {
  const Stream stream;
  zfp_library().zfp_stream_set_reversible(stream.get());
  return stream.parameters();
}

Parameters fixed_accuracy(double tolerance) {
  if (tolerance < 0) throw Error("\"tolerance\" is negative");
  const Stream stream;
  zfp_library().zfp_stream_set_accuracy(stream.get(), tolerance);
  return stream.parameters();
}

Parameters fixed_precision(int precision) {
  const Stream stream;
  zfp_library().zfp_stream_set_precision(stream.get(), static_cast<unsigned>(precision));
  return stream.parameters();
}

Parameters fixed_rate(double rate, const ChunkSpec& spec) {
  const auto rank = static_cast<unsigned>(std::max<std::size_t>(spec.shape.size(), 1));
  const double values = std::ldexp(1.0, static_cast<int>(2 * rank));
  if (rate <= 0 || rate * values > ZFP_MAX_BITS) {
    throw Error("\"rate\" is " + dump_json(Json(rate)) + ", no number of bits for a value");
  }
  const Stream stream;
  zfp_library().zfp_stream_set_rate(stream.get(), rate, type_of(spec.data_type), rank, zfp_false);
  return stream.parameters();
}

Parameters expert(const Json& configuration) {
  Parameters parameters;
  parameters.min_bits =
      static_cast<unsigned>(integer_from(configuration, "minbits", 0, ZFP_MAX_BITS));
  parameters.max_bits =
      static_cast<unsigned>(integer_from(configuration, "maxbits", 1, ZFP_MAX_BITS));
  parameters.max_precision =
      static_cast<unsigned>(integer_from(configuration, "maxprec", 1, ZFP_MAX_PREC));
  // The library's mark of the reversible mode is less than ZFP_MIN_EXP.
  parameters.min_exponent = integer_from(configuration, "minexp", ZFP_MIN_EXP - 1, 1 << 14);
  if (parameters.min_bits > parameters.max_bits)
    throw Error("\"minbits\" is more than \"maxbits\"");
  return parameters;
}

void check_rank(const ChunkSpec& spec) {
  if (spec.shape.size() > kMaxRank) {
    throw Error("the array has " + std::to_string(spec.shape.size()) +
                " dimensions, zfp is for up to " + std::to_string(kMaxRank));
  }
}

}  // namespace

Codec make_zfp(const Json& configuration, const ChunkSpec& spec) {
  check_rank(spec);
  if (const auto carrier = zfp_carrier(spec.data_type)) {
    const ChunkSpec carried = spec_with_zero(spec.shape, *carrier);
    return make_zfp_carrier(spec, *carrier, make_zfp(configuration, carried));
  }
  const std::string mode = text_member(configuration, "mode");
  const auto parameters = [&] {
    if (mode == "reversible") return reversible();
    if (mode == "fixed_accuracy") {
      return fixed_accuracy(finite_number(configuration, "tolerance"));
    }
    if (mode == "fixed_precision") {
      return fixed_precision(integer_from(configuration, "precision", 1, ZFP_MAX_PREC));
    }
    if (mode == "fixed_rate") return fixed_rate(finite_number(configuration, "rate"), spec);
    if (mode == "expert") return expert(configuration);
    throw Error("\"mode\" is \"" + mode +
                "\", none of reversible, fixed_accuracy, fixed_precision, fixed_rate, expert");
  }();
  return std::make_unique<ZfpCodec>(spec, parameters, false);
}

Codec make_zfpy(const Json& configuration, const ChunkSpec& spec) {
  check_rank(spec);
  // The library's numbers of the modes. A negative parameter was not given; without parameters
  // there is no loss.
  const std::int64_t mode = integer_option(configuration, "mode", zfp_mode_fixed_accuracy);
  const auto given = [&](std::string_view key) {
    return number_option(configuration, key) == nullptr ? -1 : finite_number(configuration, key);
  };
  const auto parameters = [&] {
    if (mode == zfp_mode_fixed_accuracy && given("tolerance") >= 0) {
      return fixed_accuracy(given("tolerance"));
    }
    if (mode == zfp_mode_fixed_rate && given("rate") >= 0) return fixed_rate(given("rate"), spec);
    if (mode == zfp_mode_fixed_precision && given("precision") >= 0) {
      return fixed_precision(integer_from(configuration, "precision", 1, ZFP_MAX_PREC));
    }
    if (mode >= zfp_mode_fixed_rate && mode <= zfp_mode_reversible) return reversible();
    throw Error("\"mode\" is " + std::to_string(mode) + ", which is none of zfpy's");
  }();
  return std::make_unique<ZfpCodec>(spec, parameters, true);
}

}  // namespace zarrcore
