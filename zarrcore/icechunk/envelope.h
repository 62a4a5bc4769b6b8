// The envelope of an Icechunk repository's files other than chunks:
//
//   offset  bytes
//   0       12     "ICE", U+1F9CA, "CHUNK"
//   12      24     the program that wrote the file
//   36      1      version of the format: 1 or 2
//   37      1      type of the file
//   38      1      compression of the rest: 0 none, 1 zstd
//   39             a FlatBuffer
#pragma once

#include <cstdint>

#include "zarrcore/base/buffer.h"

namespace zarrcore::icechunk {

inline constexpr std::size_t kEnvelopeSize = 39;

// As it is stored.
enum class FileType : std::uint8_t { snapshot = 1, manifest = 2, repository = 6 };

// Throws Error if a file says that it has a newer version of Icechunk's format than 2.
void check_not_newer(unsigned version);

// Whether the bytes begin as a file of this type does, whatever its version and compression.
bool has_envelope(ByteSpan start, FileType type);

// The FlatBuffer of a file that must be of this type. Throws Error that says what is wrong.
Buffer open_envelope(ByteSpan file, FileType type);

}  // namespace zarrcore::icechunk
