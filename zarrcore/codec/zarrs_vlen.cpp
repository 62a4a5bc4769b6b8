// The `zarrs.vlen` codec: elements of variable length as an index and data. The index has, for n
// elements, n + 1 rising offsets into the data, in one dimension; the data are bytes in one
// dimension. Each is encoded by its own codec chain; empty data are not encoded at all. The size of
// the encoded index is a 64-bit little-endian integer at the start of the chunk, before index and
// data, or at its end, after data and index.
#include <algorithm>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/codec_chain.h"

namespace zarrcore {
namespace {

constexpr std::size_t kSize = sizeof(std::uint64_t);

class ZarrsVlenCodec final : public ArrayToBytesCodec {
 public:
  ZarrsVlenCodec(const Json& configuration, const ChunkSpec& spec)
      : offset_size_(choice_option<std::size_t>(configuration, "index_data_type", 0,
                                                {{"uint32", 4}, {"uint64", 8}})),
        is_at_end_(choice_option(configuration, "index_location", false,
                                 {{"start", false}, {"end", true}})),
        count_(spec.byte_count() / spec.data_type.item_size),
        is_text_(spec.data_type.kind == TypeKind::variable_string),
        index_chain_(codecs_member(configuration, "index_codecs"),
                     spec_with_zero({count_ + 1}, {TypeKind::unsigned_integer, offset_size_})),
        data_codecs_(codecs_member(configuration, "data_codecs")) {
    data_chain(1);  // throws Error if the chain cannot be created
  }

  bool assumes_byte_order() const override {
    return index_chain_.assumes_bytes() || data_chain(1).assumes_bytes();
  }
  void state_byte_order(Json& configuration) const override {
    if (!assumes_byte_order()) return;
    configuration["index_codecs"] = format_codec_list(index_chain_.codecs());
    configuration["data_codecs"] = format_codec_list(data_chain(1).codecs());
  }

  std::uint64_t max_encoded_size() const override {
    return checked_add(max_stored_size(count_), index_chain_.max_uncompressed_size())
        .value_or(UINT64_MAX);
  }

  bool can_encode() const override {
    return index_chain_.can_encode() && data_chain(1).can_encode();
  }

  Buffer encode(ByteSpan decoded) const override {
    std::string data;
    Buffer offsets((count_ + 1) * offset_size_);
    std::byte* end = offsets.data();
    const auto append_offset = [&] {
      if (offset_size_ == sizeof(std::uint32_t) && data.size() > UINT32_MAX) {
        throw Error("vlen: the chunk has more bytes than its index can state");
      }
      store_unsigned(data.size(), offset_size_, end);
      end += offset_size_;
    };
    append_offset();
    for (std::uint64_t i = 0; i < count_; ++i) {
      const auto element = VariableElement::load(decoded, i);
      if (element.size != 0) data += checked_text(i, element.text());
      append_offset();
    }
    const Buffer index = index_chain_.encode(std::move(offsets));
    Buffer encoded_data;
    if (!data.empty()) encoded_data = data_chain(data.size()).encode(Buffer::copy_of(data));
    Buffer size(kSize);
    store_integer<std::uint64_t>(index.size(), Endian::little, size.data());
    Buffer encoded(kSize + index.size() + encoded_data.size());
    std::byte* target = encoded.data();
    const Buffer* const at_start[] = {&size, &index, &encoded_data};
    const Buffer* const at_end[] = {&encoded_data, &index, &size};
    for (const Buffer* part : is_at_end_ ? at_end : at_start) {
      target = std::ranges::copy(part->span(), target).out;
    }
    return encoded;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override {
    if (encoded.size() < kSize) throw Error("vlen: the chunk has no size of its index");
    const bool at_end = is_at_end_;
    const ByteSpan rest = at_end ? encoded.first(encoded.size() - kSize) : encoded.subspan(kSize);
    const std::byte* size = at_end ? rest.data() + rest.size() : encoded.data();
    const auto index_size = load_integer<std::uint64_t>(size, Endian::little);
    check_max_size("vlen: the index has ", index_size, rest.size());
    const std::size_t data_size = rest.size() - static_cast<std::size_t>(index_size);
    const ByteSpan index = at_end ? rest.subspan(data_size) : rest.first(rest.size() - data_size);
    const DecodedChunk offsets =
        with_context("vlen: index", [&] { return index_chain_.decode(index); });
    const auto offset = [&](std::uint64_t i) {
      return load_unsigned(offsets.elements.data() + i * offset_size_, offset_size_);
    };
    const ByteSpan data = with_context("vlen: data", [&] {
      const ByteSpan bytes = at_end ? rest.first(data_size) : rest.subspan(rest.size() - data_size);
      check_max_size("the index makes ", offset(count_), max_stored_size(count_));
      if (offset(count_) != 0) {
        return arena.keep(data_chain(offset(count_)).decode(bytes).elements.span());
      }
      check_size("the chunk has ", bytes.size(), 0);
      return ByteSpan();
    });
    for (std::uint64_t i = 0; i < count_; ++i) {
      const std::uint64_t start = offset(i);
      const std::uint64_t end = offset(i + 1);
      if (start > end || end > data.size()) {
        throw Error("vlen: the offsets of element " + std::to_string(i) + " do not rise");
      }
      const VariableElement element{reinterpret_cast<const char*>(data.data()) + start,
                                    end - start};
      checked_text(i, element.text());
      element.store(decoded, i);
    }
  }

 private:
  CodecChain data_chain(std::uint64_t size) const {
    return {data_codecs_, spec_with_zero({size}, {})};
  }

  std::string_view checked_text(std::uint64_t i, std::string_view text) const {
    if (!is_text_ || is_utf8(text)) return text;
    throw Error("vlen: element " + std::to_string(i) + " is not UTF-8");
  }

  std::size_t offset_size_;  // bytes of an offset
  bool is_at_end_;
  std::uint64_t count_;
  bool is_text_;
  CodecChain index_chain_;
  std::vector<CodecMetadata> data_codecs_;
};

}  // namespace

Codec make_zarrs_vlen(const Json& configuration, const ChunkSpec& spec) {
  check_type(spec.data_type.is_variable(), spec.data_type);
  text_member(configuration, "index_data_type");  // throws Error if it is missing
  return std::make_unique<ZarrsVlenCodec>(configuration, spec);
}

}  // namespace zarrcore
