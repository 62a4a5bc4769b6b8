// Array codecs on elements that a test can write down.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "autotest/cpp/support/codecs.h"
#include "zarrcore/base/buffer.h"

namespace zarrcore::test {

inline const DataType kInt8{TypeKind::signed_integer, 1};
inline const DataType kInt64{TypeKind::signed_integer, 8};
inline const DataType kUint16{TypeKind::unsigned_integer, 2};
inline const DataType kUint64{TypeKind::unsigned_integer, 8};
inline const DataType kFloat16{TypeKind::floating, 2};
inline const DataType kFloat32{TypeKind::floating, 4};
inline const DataType kString{TypeKind::variable_string, sizeof(VariableElement)};
inline const DataType kBytes{TypeKind::variable_bytes, sizeof(VariableElement)};

inline std::unique_ptr<const ArrayToArrayCodec> make_array_to_array(std::string_view name,
                                                                    std::string_view configuration,
                                                                    const ChunkSpec& spec) {
  return std::get<std::unique_ptr<const ArrayToArrayCodec>>(make_codec(name, configuration, spec));
}

inline std::unique_ptr<const ArrayToBytesCodec> make_array_to_bytes(std::string_view name,
                                                                    std::string_view configuration,
                                                                    const ChunkSpec& spec) {
  return std::get<std::unique_ptr<const ArrayToBytesCodec>>(make_codec(name, configuration, spec));
}

// Numbers as they stand in memory, and back.
template <typename T>
Bytes elements(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <typename T>
std::vector<T> values_of(ByteSpan bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

inline Bytes encoded_by(const ArrayToArrayCodec& codec, const Bytes& decoded) {
  Bytes encoded(codec.encoded_spec().byte_count());
  codec.encode(decoded, encoded);
  return encoded;
}
inline Bytes decoded_by(const ArrayToArrayCodec& codec, const Bytes& encoded, std::size_t size) {
  Bytes decoded(size);
  codec.decode(encoded, decoded);
  return decoded;
}

inline Bytes encoded_by(const ArrayToBytesCodec& codec, const Bytes& decoded) {
  return to_bytes(codec.encode(decoded).span());
}
inline Bytes decoded_by(const ArrayToBytesCodec& codec, const Bytes& encoded, std::size_t size) {
  Bytes decoded(size);
  Arena arena;
  codec.decode(encoded, decoded, arena);
  return decoded;
}

// Texts as elements, which point into `texts`, and back.
inline Bytes elements(const std::vector<std::string>& texts) {
  std::vector<VariableElement> all;
  for (const std::string& text : texts) all.push_back({text.data(), text.size()});
  return elements(all);
}
inline std::vector<std::string> texts_by(const ArrayToBytesCodec& codec, const Bytes& encoded,
                                         std::size_t count) {
  Bytes decoded(count * sizeof(VariableElement));
  Arena arena;
  codec.decode(encoded, decoded, arena);
  std::vector<std::string> texts;
  for (const auto& element : values_of<VariableElement>(decoded))
    texts.emplace_back(element.text());
  return texts;
}

}  // namespace zarrcore::test
