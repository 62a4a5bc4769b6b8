#include "zarrcore/codec/codec_chain.h"

#include <algorithm>
#include <numeric>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/element_codec.h"
#include "zarrcore/codec/registry.h"

namespace zarrcore {

CodecChain::CodecChain(std::span<const CodecMetadata> codecs, const ChunkSpec& spec)
    : spec_(spec),
      axis_order_(spec.shape.size()),
      stored_spec_(spec),
      decoded_size_(spec.byte_count()) {
  // Each codec may keep a copy of the fill value, which a file can make large.
  constexpr std::size_t kMaxCodecs = 64;
  if (codecs.size() > kMaxCodecs) {
    throw Error("there are " + std::to_string(codecs.size()) + " codecs, more than the " +
                std::to_string(kMaxCodecs) + " that are run");
  }
  std::iota(axis_order_.begin(), axis_order_.end(), std::size_t{0});
  bool is_known = true;
  for (const CodecMetadata& metadata : codecs) {
    const CodecFactory make = find_codec(metadata.name);
    if (make == nullptr) {
      if (!metadata.must_understand) {
        is_known = false;
        continue;
      }
      const std::string reason(refusal_reason(metadata.name));
      throw Error("the codec \"" + metadata.name + "\" is not supported" +
                  (reason.empty() ? "" : ": " + reason));
    }
    with_context({"codec \"", metadata.name, "\""}, [&] {
      const Json configuration = known_members(metadata.name, metadata.configuration);
      const bool had_bytes = array_to_bytes_ != nullptr;
      if (is_imagecodecs(metadata.name)) {
        add_imagecodecs(metadata.name, configuration, stored_endian(codecs), is_known);
      } else {
        add(make(configuration, last_spec()), is_known);
      }
      codecs_.push_back(metadata);
      if (can_encode() && !all_encode()) decode_only_ = metadata.name;
      if (!had_bytes && array_to_bytes_ && !assumes_bytes_) {
        array_to_bytes_->state_byte_order(codecs_.back().configuration);
      }
    });
  }
  if (!array_to_bytes_) {
    add_missing_bytes(is_known, "the codecs do not include one from arrays to bytes");
  }

  std::optional<std::uint64_t> size = array_to_bytes_->encoded_size();
  for (const auto& codec : bytes_codecs_) {
    bytes_sizes_.push_back(size);
    size = size ? codec->encoded_size(*size) : std::nullopt;
    if (const Framing* framing = codec->framing()) {
      framing_.prefix += framing->prefix;
      framing_.suffix += framing->suffix;
    } else {
      is_framed_ = false;
    }
  }
  encoded_size_ = size;
  if (array_codecs_.empty()) sharding_ = array_to_bytes_->as_sharding();
}

const ChunkSpec& CodecChain::last_spec() const {
  if (array_to_bytes_) return bytes_spec_;
  return array_codecs_.empty() ? stored_spec_ : array_codecs_.back()->encoded_spec();
}

bool CodecChain::all_encode() const {
  const auto can = [](const auto& codec) { return codec->can_encode(); };
  return std::ranges::all_of(array_codecs_, can) && (!array_to_bytes_ || can(array_to_bytes_)) &&
         std::ranges::all_of(bytes_codecs_, can);
}

// Writers that leave out the array-to-bytes codec mean `bytes`, little-endian.
void CodecChain::add_missing_bytes(bool is_known, const char* problem) {
  if (!is_known || last_spec().data_type.is_variable()) throw Error(problem);
  codecs_.push_back({"bytes", {{"endian", "little"}}});
  add(find_codec("bytes")(codecs_.back().configuration, last_spec()), true);
  assumes_bytes_ = true;
}

void CodecChain::add_imagecodecs(std::string_view name, Json configuration, Endian endian,
                                 bool is_known) {
  const CodecFactory make = find_codec(name);
  if (array_to_bytes_) {
    const bool are_elements = std::ranges::all_of(bytes_codecs_, [](const auto& codec) {
      return dynamic_cast<const Filter*>(codec.get()) != nullptr;
    });
    if (are_elements) {
      configuration = in_stored_order(std::move(configuration), bytes_spec_.data_type, endian);
    }
    add(make(configuration, bytes_spec_), is_known);
    return;
  }
  const ChunkSpec& input = last_spec();
  Codec codec = make(with_array_members(name, std::move(configuration), input, endian), input);
  auto* filter = std::get_if<std::unique_ptr<const Filter>>(&codec);
  if (filter == nullptr) {
    add(std::move(codec), is_known);
    return;
  }
  const Endian order = (*filter)->encoded_endian();
  array_codecs_.push_back(make_array_filter(std::move(*filter), input, order));
  filter_endian_ = Endian::little;
}

// `is_known` is false if a codec before this one is not known, and left out.
void CodecChain::add(Codec codec, bool is_known) {
  if (auto* filter = std::get_if<std::unique_ptr<const Filter>>(&codec)) {
    if (array_to_bytes_) {
      bytes_spec_.data_type = (*filter)->encoded_type();
      bytes_codecs_.push_back(std::move(*filter));
      return;
    }
    const Endian endian = (*filter)->encoded_endian();
    codec = make_array_filter(std::move(*filter), last_spec(), filter_endian_);
    filter_endian_ = endian;
  } else {
    filter_endian_ = Endian::little;
  }
  if (auto* bytes_codec = std::get_if<std::unique_ptr<const BytesToBytesCodec>>(&codec)) {
    if (!array_to_bytes_) {
      add_missing_bytes(is_known, "it comes before the array-to-bytes codec");
    }
    // Another byte order would be ambiguous.
    if ((*bytes_codec)->makes_elements() && bytes_spec_.data_type.item_size != 1 &&
        array_to_bytes_->is_identity() != (kHostEndian == Endian::little)) {
      throw Error("it does not support this byte order");
    }
    bytes_codecs_.push_back(std::move(*bytes_codec));
    return;
  }
  if (array_to_bytes_) throw Error("it comes after the array-to-bytes codec");
  if (auto* to_bytes = std::get_if<std::unique_ptr<const ArrayToBytesCodec>>(&codec)) {
    bytes_spec_ = last_spec();
    array_to_bytes_ = std::move(*to_bytes);
    return;
  }
  auto& array_codec = std::get<std::unique_ptr<const ArrayToArrayCodec>>(codec);
  const std::vector<std::size_t>* order = array_codec->axis_order();
  if (order == nullptr || !array_codecs_.empty()) {
    array_codecs_.push_back(std::move(array_codec));
    return;
  }
  const std::vector<std::size_t> before = axis_order_;
  for (std::size_t i = 0; i < order->size(); ++i) axis_order_[i] = before[(*order)[i]];
  stored_spec_ = array_codec->encoded_spec();
}

std::uint64_t CodecChain::max_encoded_size() const {
  if (encoded_size_) return *encoded_size_;
  // No codec makes its input much larger.
  constexpr std::uint64_t kSlack = 1 << 20;
  const auto doubled = checked_multiply(max_uncompressed_size(), 2);
  return doubled ? checked_add(*doubled, kSlack).value_or(UINT64_MAX) : UINT64_MAX;
}

Buffer CodecChain::decode_shard(ByteSpan encoded) const {
  Buffer held;
  const ByteSpan bytes = decode_bytes(encoded, std::nullopt, held);
  return bytes.data() == held.data() && bytes.size() == held.size() ? std::move(held)
                                                                    : Buffer::copy_of(bytes);
}

void CodecChain::check_frame(ByteSpan encoded) const {
  Buffer held;
  decode_bytes(encoded, std::nullopt, held);
}

Buffer CodecChain::encode_shard(Buffer shard) const {
  for (const auto& codec : bytes_codecs_) shard = codec->encode(shard.span());
  return shard;
}

Buffer CodecChain::encode(ByteSpan decoded, bool stores_empty) const {
  Buffer held;
  for (const auto& codec : array_codecs_) {
    Buffer encoded(codec->encoded_spec().byte_count());
    codec->encode(decoded, encoded.span());
    held = std::move(encoded);
    decoded = held.span();
  }
  if (bytes_codecs_.empty() || !array_to_bytes_->is_identity()) {
    return encode_shard(stores_empty ? array_to_bytes_->encode_all(decoded)
                                     : array_to_bytes_->encode(decoded));
  }
  for (const auto& codec : bytes_codecs_) {
    held = codec->encode(decoded);
    decoded = held.span();
  }
  return held;
}

Buffer CodecChain::encode(Buffer&& decoded, bool stores_empty) const {
  if (array_codecs_.empty() && bytes_codecs_.empty() && array_to_bytes_->is_identity()) {
    return std::move(decoded);
  }
  return encode(ByteSpan(decoded.span()), stores_empty);
}

bool CodecChain::is_filled(ByteSpan decoded) const {
  const DataType& type = spec_.data_type;
  const std::size_t size = memory_size(type.item_size);
  if (decoded.empty()) return true;
  if (!same_element(type, decoded.data(), spec_.fill_value.data())) return false;
  if (!type.is_variable()) {
    // If each element equals its neighbour, all equal the first.
    return std::memcmp(decoded.data(), decoded.data() + size, decoded.size() - size) == 0;
  }
  for (std::size_t i = size; i < decoded.size(); i += size) {
    if (!same_element(type, decoded.data() + i, spec_.fill_value.data())) return false;
  }
  return true;
}

void CodecChain::check_plausible(ByteSpan encoded) const {
  if (encoded_size_) check_size("the chunk has ", encoded.size(), *encoded_size_);
  if (bytes_codecs_.empty() || !bytes_sizes_.back()) return;
  const std::uint64_t limit = bytes_codecs_.back()->max_decoded_size(encoded);
  if (limit < *bytes_sizes_.back()) {
    throw Error("the chunk decodes to at most " + std::to_string(limit) + " bytes where " +
                std::to_string(*bytes_sizes_.back()) + " are expected");
  }
}

ByteSpan CodecChain::decode_bytes(ByteSpan encoded, std::optional<MutableByteSpan> target,
                                  Buffer& held) const {
  for (std::size_t i = bytes_codecs_.size(); i-- > 0;) {
    const BytesToBytesCodec& codec = *bytes_codecs_[i];
    const std::optional<std::uint64_t> size = bytes_sizes_[i];
    if (codec.framing() != nullptr) {
      encoded = codec.unframe(encoded);
      if (size) check_size("the chunk has ", encoded.size(), *size);
    } else if (i == 0 && target && size == target->size()) {
      codec.decode(encoded, *target);
      encoded = *target;
    } else if (size) {
      Buffer decoded(*size);
      codec.decode(encoded, decoded.span());
      held = std::move(decoded);
      encoded = held.span();
    } else {
      held = codec.decode(encoded, max_encoded_size());
      encoded = held.span();
    }
  }
  return encoded;
}

void CodecChain::decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const {
  check_plausible(encoded);
  Buffer held;
  if (array_codecs_.empty()) {
    const bool in_place = array_to_bytes_->decodes_in_place();
    const ByteSpan bytes =
        decode_bytes(encoded, in_place ? std::optional(decoded) : std::nullopt, held);
    if (in_place && bytes.data() == decoded.data() && bytes.size() == decoded.size()) {
      array_to_bytes_->decode_in_place(decoded);
    } else {
      array_to_bytes_->decode(bytes, decoded, arena);
    }
    return;
  }
  const ByteSpan bytes = decode_bytes(encoded, std::nullopt, held);
  Buffer chunk(array_codecs_.back()->encoded_spec().byte_count());
  array_to_bytes_->decode(bytes, chunk.span(), arena);
  for (std::size_t i = array_codecs_.size(); i-- > 1;) {
    Buffer previous(array_codecs_[i - 1]->encoded_spec().byte_count());
    array_codecs_[i]->decode(chunk.span(), previous.span());
    chunk = std::move(previous);
  }
  array_codecs_.front()->decode(chunk.span(), decoded);
}

Strides CodecChain::c_order_strides() const {
  const Strides strides = c_strides(spec_.shape, spec_.data_type.item_size);
  Strides stored;
  for (const std::size_t axis : axis_order_) stored.push_back(strides[axis]);
  return stored;
}

Buffer CodecChain::encode_from_c_order(ByteSpan chunk) const {
  Buffer stored(decoded_size_);
  const std::uint64_t item_size = spec_.data_type.item_size;
  copy_strided(stored_spec_.shape, item_size, chunk.data(), c_order_strides(), stored.data(),
               c_strides(stored_spec_.shape, item_size));
  return encode(std::move(stored));
}

void CodecChain::decode_to_c_order(ByteSpan encoded, MutableByteSpan chunk, Arena& arena) const {
  const std::uint64_t item_size = spec_.data_type.item_size;
  const Strides stored_strides = c_strides(stored_spec_.shape, item_size);
  if (c_order_strides() == stored_strides) return decode(encoded, chunk, arena);
  check_plausible(encoded);
  Buffer stored(decoded_size_);
  decode(encoded, stored.span(), arena);
  copy_strided(stored_spec_.shape, item_size, stored.data(), stored_strides, chunk.data(),
               c_order_strides());
}

void CodecChain::check_round_trip(ByteSpan encoded) const {
  if (round_trips()) return;
  Buffer held;
  array_to_bytes_->check_round_trip(decode_bytes(encoded, std::nullopt, held));
}

std::optional<ByteSpan> CodecChain::find_decoded(ByteSpan encoded) const {
  if (!array_codecs_.empty() || !is_framed_ || !array_to_bytes_->is_identity()) return std::nullopt;
  check_plausible(encoded);
  Buffer held;
  const ByteSpan decoded = decode_bytes(encoded, std::nullopt, held);
  check_size("the chunk has ", decoded.size(), decoded_size_);
  return decoded;
}

const BytesToBytesCodec* CodecChain::only_compressor() const {
  const bool is_only = array_codecs_.empty() && bytes_codecs_.size() == 1 &&
                       array_to_bytes_->decodes_in_place() && bytes_sizes_.front() == decoded_size_;
  return is_only ? bytes_codecs_.front().get() : nullptr;
}

std::optional<std::uint64_t> CodecChain::prefix_step() const {
  const BytesToBytesCodec* compressor = only_compressor();
  const auto step = compressor != nullptr ? compressor->prefix_step() : std::nullopt;
  return step && *step % spec_.data_type.item_size == 0 ? step : std::nullopt;
}

std::optional<Buffer> CodecChain::decode_prefix(ByteSpan encoded, std::uint64_t size) const {
  check_plausible(encoded);
  Buffer prefix(size);
  if (!bytes_codecs_.front()->decode_prefix(encoded, decoded_size_, prefix.span())) {
    return std::nullopt;
  }
  array_to_bytes_->decode_in_place(prefix.span());
  return prefix;
}

std::optional<std::uint64_t> CodecChain::block_size(ByteSpan encoded) const {
  const BytesToBytesCodec* compressor = only_compressor();
  if (compressor == nullptr) return std::nullopt;
  check_plausible(encoded);
  const auto size = compressor->block_size(encoded);
  if (!size || *size >= decoded_size_ || *size % spec_.data_type.item_size != 0) {
    return std::nullopt;
  }
  return size;
}

void CodecChain::decode_block(ByteSpan encoded, std::uint64_t offset, MutableByteSpan block) const {
  bytes_codecs_.front()->decode_block(encoded, decoded_size_, offset, block);
  array_to_bytes_->decode_in_place(block);
}

bool CodecChain::elements_stand_alone() const {
  return array_codecs_.empty() && bytes_codecs_.empty() && array_to_bytes_->decodes_in_place();
}

void CodecChain::decode_elements(MutableByteSpan elements) const {
  array_to_bytes_->decode_in_place(elements);
}

DecodedChunk CodecChain::decode(ByteSpan encoded) const {
  check_plausible(encoded);
  DecodedChunk chunk{Buffer(decoded_size_), {}};
  decode(encoded, chunk.elements.span(), chunk.arena);
  return chunk;
}

}  // namespace zarrcore
