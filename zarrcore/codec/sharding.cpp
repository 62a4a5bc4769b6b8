#include "zarrcore/codec/sharding.h"

#include <algorithm>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {
namespace {

Shape parse_inner_shape(const Json& configuration, const ChunkSpec& spec) {
  Shape shape = as_unsigned_list(required_member(configuration, "chunk_shape"), "\"chunk_shape\"");
  if (shape.size() != spec.shape.size()) {
    throw Error("\"chunk_shape\" has " + std::to_string(shape.size()) + " dimensions, the shard " +
                std::to_string(spec.shape.size()));
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool divides = shape[i] == 0 ? spec.shape[i] == 0 : spec.shape[i] % shape[i] == 0;
    if (!divides) {
      throw Error("the inner chunk length " + std::to_string(shape[i]) + " of dimension " +
                  std::to_string(i) + " does not divide the shard's, " +
                  std::to_string(spec.shape[i]));
    }
  }
  return shape;
}

}  // namespace

ShardingCodec::ShardingCodec(const Json& configuration, const ChunkSpec& spec) : spec_(spec) {
  ChunkSpec inner{parse_inner_shape(configuration, spec), spec.data_type, spec.fill_value};
  for (std::size_t i = 0; i < inner.shape.size(); ++i) {
    inner_grid_.push_back(spec.shape[i] == 0 ? 0 : spec.shape[i] / inner.shape[i]);
  }
  inner_chain_ = std::make_unique<const CodecChain>(codecs_member(configuration, "codecs"), inner);

  Shape index_shape = inner_grid_;
  index_shape.push_back(2);
  const ChunkSpec index =
      spec_with_zero(std::move(index_shape), {TypeKind::unsigned_integer, sizeof(std::uint64_t)});
  index_chain_ =
      std::make_unique<const CodecChain>(codecs_member(configuration, "index_codecs"), index);
  const auto index_size = index_chain_->encoded_size();
  if (!index_size) throw Error("\"index_codecs\" do not give an index of fixed size");
  // The index fits the memory, and so do the numbers.
  inner_count_ = static_cast<std::size_t>(index.byte_count() / (2 * sizeof(std::uint64_t)));
  index_size_ = memory_size(*index_size);

  index_at_end_ =
      choice_option(configuration, "index_location", true, {{"start", false}, {"end", true}});

  const Strides strides = c_strides(spec.shape, spec.data_type.item_size);
  for (const std::size_t axis : inner_chain_->axis_order()) inner_strides_.push_back(strides[axis]);
  stored_strides_ = c_strides(inner_chain_->stored_spec().shape, spec.data_type.item_size);
}

ShardIndex ShardingCodec::decode_index(ByteSpan encoded_index) const {
  return with_context("shard index", [&] {
    std::vector<ShardIndex::Entry> entries(inner_count_);
    // An entry is two integers without padding: the last dimension of the index.
    static_assert(sizeof(ShardIndex::Entry) == 2 * sizeof(std::uint64_t));
    Arena arena;
    index_chain_->decode_to_c_order(encoded_index, std::as_writable_bytes(std::span(entries)),
                                    arena);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!entries[i].is_present()) continue;
      if (entries[i].length == UINT64_MAX || !checked_add(entries[i].offset, entries[i].length)) {
        throw Error("inner chunk " + std::to_string(i) + " is said to have " +
                    std::to_string(entries[i].length) + " bytes at offset " +
                    std::to_string(entries[i].offset));
      }
    }
    return ShardIndex(std::move(entries));
  });
}

std::uint64_t ShardingCodec::max_encoded_size() const {
  // For the headers of codecs, such as the tables of a JPEG.
  constexpr std::uint64_t kHeaders = 1024;
  const DataType& type = spec_.data_type;
  const auto elements = type.is_variable()
                            ? max_stored_size(spec_.byte_count() / type.item_size)
                            : checked_multiply(inner_count_, inner_chain_->max_uncompressed_size());
  const std::uint64_t others = inner_count_ * kHeaders + index_size_;
  return elements ? checked_add(*elements, others).value_or(UINT64_MAX) : UINT64_MAX;
}

template <typename Body>
void ShardingCodec::for_each_inner_chunk(const Body& body) const {
  if (inner_count_ == 0) return;
  const Strides strides = c_strides(spec_.shape, spec_.data_type.item_size);
  std::vector<std::uint64_t> chunk(inner_grid_.size(), 0);
  std::size_t position = 0;
  std::ptrdiff_t offset = 0;
  do {
    body(position++, offset);
  } while (advance_position(
      chunk, [&](std::size_t i) { return inner_grid_[i]; },
      [&](std::size_t i, std::ptrdiff_t steps) {
        offset += static_cast<std::ptrdiff_t>(inner_shape()[i]) * strides[i] * steps;
      }));
}

std::uint64_t ShardingCodec::index_offset(std::uint64_t shard_size) const {
  if (shard_size < index_size_) {
    throw Error("a shard of " + std::to_string(shard_size) +
                " bytes is too short for its index of " + std::to_string(index_size_));
  }
  return index_at_end_ ? shard_size - index_size_ : 0;
}

std::optional<ShardIndex::Entry> ShardingCodec::find(const ShardIndex& index, std::size_t position,
                                                     std::uint64_t shard_size) const {
  const ShardIndex::Entry& entry = index.at(position);
  if (!entry.is_present()) return std::nullopt;
  const bool is_inside = entry.offset <= shard_size && entry.length <= shard_size - entry.offset;
  const bool is_too_long =
      inner_chain_->sharding() == nullptr && entry.length > inner_chain_->max_encoded_size();
  if (is_inside && !is_too_long) return entry;
  throw Error("the index says that inner chunk " + std::to_string(position) + " has " +
              std::to_string(entry.length) + " bytes at offset " + std::to_string(entry.offset) +
              ", which cannot be right");
}

ShardIndex ShardingCodec::index_of(ByteSpan shard) const {
  return decode_index(shard.subspan(memory_size(index_offset(shard.size())), index_size_));
}

template <typename Body>
bool ShardingCodec::visit_inner(ByteSpan shard, const ShardIndex& index, std::size_t position,
                                const Body& body) const {
  const auto entry = find(index, position, shard.size());
  if (!entry) return false;
  with_context({"inner chunk ", position}, [&] {
    body(shard.subspan(memory_size(entry->offset), memory_size(entry->length)));
  });
  return true;
}

void ShardingCodec::state_byte_order(Json& configuration) const {
  if (!assumes_byte_order()) return;
  configuration["codecs"] = format_codec_list(inner_chain_->codecs());
  configuration["index_codecs"] = format_codec_list(index_chain_->codecs());
}

void ShardingCodec::check_round_trip(ByteSpan encoded) const {
  const ShardIndex index = index_of(encoded);
  for (std::size_t position = 0; position < index.size(); ++position) {
    visit_inner(encoded, index, position,
                [&](ByteSpan inner) { inner_chain_->check_round_trip(inner); });
  }
}

void ShardingCodec::decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const {
  const ShardIndex index = index_of(encoded);
  const Shape& stored_shape = inner_chain_->stored_spec().shape;
  const Strides no_strides(stored_shape.size(), 0);
  Buffer scratch(inner_chain_->decoded_size());
  for_each_inner_chunk([&](std::size_t position, std::ptrdiff_t offset) {
    const bool is_present = visit_inner(encoded, index, position, [&](ByteSpan inner) {
      inner_chain_->decode(inner, scratch.span(), arena);
    });
    copy_strided(stored_shape, spec_.data_type.item_size,
                 is_present ? scratch.data() : spec_.fill_value.data(),
                 is_present ? stored_strides_ : no_strides, decoded.data() + offset,
                 inner_strides_);
  });
}

Buffer ShardingCodec::encode(ByteSpan decoded, bool stores_empty) const {
  const Shape& stored_shape = inner_chain_->stored_spec().shape;
  std::vector<Buffer> encoded;
  std::vector<ShardIndex::Entry> entries(inner_count_);
  std::uint64_t end = index_at_end_ ? 0 : index_size_;
  Buffer scratch(inner_chain_->decoded_size());
  for_each_inner_chunk([&](std::size_t position, std::ptrdiff_t start) {
    copy_strided(stored_shape, spec_.data_type.item_size, decoded.data() + start, inner_strides_,
                 scratch.data(), stored_strides_);
    if (!stores_empty && inner_chain_->is_filled(scratch.span())) return;
    encoded.push_back(inner_chain_->encode(scratch.span(), stores_empty));
    entries[position] = {end, encoded.back().size()};
    end += encoded.back().size();
  });
  Buffer index = encode_index(entries);
  Buffer shard(end + (index_at_end_ ? index.size() : 0));
  encoded.insert(index_at_end_ ? encoded.end() : encoded.begin(), std::move(index));
  std::byte* target = shard.data();
  for (const Buffer& part : encoded) {
    target = std::copy(part.span().begin(), part.span().end(), target);
  }
  return shard;
}

Buffer ShardingCodec::encode_index(std::span<const ShardIndex::Entry> entries) const {
  return index_chain_->encode_from_c_order(std::as_bytes(entries));
}

Codec make_sharding(const Json& configuration, const ChunkSpec& spec) {
  return std::make_unique<ShardingCodec>(configuration, spec);
}

CodecMetadata make_sharding_metadata(const Shape& inner_shape,
                                     const std::vector<CodecMetadata>& inner_codecs) {
  Json configuration = Json::object();
  configuration["chunk_shape"] = inner_shape;
  configuration["codecs"] = format_codec_list(inner_codecs);
  configuration["index_codecs"] =
      format_codec_list({{"bytes", {{"endian", "little"}}}, {"crc32c"}});
  configuration["index_location"] = "end";
  return {"sharding_indexed", std::move(configuration)};
}

}  // namespace zarrcore
