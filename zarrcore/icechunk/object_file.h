// The files of an Icechunk repository other than chunks, and the ids that are their names.
//
// An id has 12 bytes (snapshots, manifests, chunks) or 8 (nodes). As file names they are text: base
// 32 with Crockford's alphabet, from the most significant bit on. A file is
//
//   offset  bytes
//   0       12     "ICE", U+1F9CA, "CHUNK"
//   12      24     the program that wrote the file
//   36      1      version of the format: 1 or 2
//   37      1      type of the file
//   38      1      compression of the rest: 0 none, 1 zstd
//   39             a FlatBuffer
#pragma once

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"

namespace zarrcore::icechunk {

inline constexpr std::size_t kObjectIdSize = 12;
inline constexpr std::size_t kNodeIdSize = 8;
using ObjectId = std::array<std::byte, kObjectIdSize>;
using NodeId = std::array<std::byte, kNodeIdSize>;

std::string id_text(ByteSpan id);
// The inverse, for ids of as many bytes as `id` has. Throws Error if `text` is not one.
void parse_id(std::string_view text, MutableByteSpan id);
template <typename Id>
Id parse_id(std::string_view text) {
  Id id{};
  parse_id(text, id);
  return id;
}

// The id that has these bytes.
template <typename Id>
Id id_of(ByteSpan bytes) {
  Id id{};
  std::copy_n(bytes.begin(), id.size(), id.begin());
  return id;
}

// A new id, from the random numbers of the system.
void fill_randomly(MutableByteSpan id);
template <typename Id>
Id new_id() {
  Id id{};
  fill_randomly(id);
  return id;
}

// Returns true if `text` is the text of an id of 12 bytes: it may be part of a path.
bool is_object_id(std::string_view text);

inline constexpr std::size_t kEnvelopeSize = 39;

// As it is stored.
enum class FileType : std::uint8_t {
  snapshot = 1,
  manifest = 2,
  transaction_log = 4,
  repository = 6
};

// Throws Error if a file says that it has a newer version of Icechunk's format than 2.
void check_not_newer(unsigned version);

// Returns true if the bytes begin as a file of this type does, whatever its version and
// compression.
bool has_envelope(ByteSpan start, FileType type);

// The format that a file says it has, which open_envelope() checks.
int format_of(ByteSpan file);

// The FlatBuffer of a file that must be of this type. Throws Error that says what is wrong.
Buffer open_envelope(ByteSpan file, FileType type);

// The inverse: the file of a FlatBuffer, of format 1 or 2.
Buffer make_envelope(ByteSpan content, FileType type, int format);

struct FreeZstdDictionary {
  void operator()(ZSTD_DDict* dictionary) const { ZSTD_freeDDict(dictionary); }
};
using ZstdDictionary = std::unique_ptr<ZSTD_DDict, FreeZstdDictionary>;

// Copies `bytes`.
ZstdDictionary make_zstd_dictionary(ByteSpan bytes);

// Decodes Zstandard frames (RFC 8878), which need not state their content's size. Throws Error when
// they are damaged or incomplete, or decompress to more than `max_size` bytes. Memory is allocated
// as content appears, whatever size a frame states.
Buffer decompress_zstd(ByteSpan frames, std::uint64_t max_size,
                       const ZSTD_DDict* dictionary = nullptr);

}  // namespace zarrcore::icechunk
