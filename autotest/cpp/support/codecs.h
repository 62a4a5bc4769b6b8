// Making codecs and chains as metadata would.
#pragma once

#include <memory>
#include <stdexcept>
#include <string_view>

#include "autotest/cpp/support/bytes.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/codec/registry.h"

namespace zarrcore::test {

inline const DataType kUint8{TypeKind::unsigned_integer, 1};
inline const DataType kInt16{TypeKind::signed_integer, 2};
inline const DataType kInt32{TypeKind::signed_integer, 4};
inline const DataType kFloat64{TypeKind::floating, 8};

// A spec whose fill value is zero.
inline ChunkSpec spec_of(Shape shape, const DataType& type = kUint8) {
  return {std::move(shape), type, Bytes(type.item_size)};
}

// A chain from the JSON list of its codecs.
inline CodecChain make_chain(std::string_view codecs, const ChunkSpec& spec) {
  return {parse_codec_list(parse_json(codecs), "codecs"), spec};
}

inline Codec make_codec(std::string_view name, std::string_view configuration,
                        const ChunkSpec& spec) {
  const CodecFactory make = find_codec(name);
  if (make == nullptr) throw std::invalid_argument("no codec " + std::string(name));
  return make(parse_json(configuration), spec);
}

inline std::unique_ptr<const BytesToBytesCodec> make_bytes_to_bytes(
    std::string_view name, std::string_view configuration = "{}",
    const ChunkSpec& spec = spec_of({1})) {
  return std::get<std::unique_ptr<const BytesToBytesCodec>>(make_codec(name, configuration, spec));
}

// `encoded` decoded to `size` bytes by a bytes-to-bytes codec.
inline Bytes decoded_by(const BytesToBytesCodec& codec, ByteSpan encoded, std::size_t size) {
  Bytes decoded(size);
  codec.decode(encoded, decoded);
  return decoded;
}

}  // namespace zarrcore::test
