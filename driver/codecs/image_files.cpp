#include "driver/codecs/image_files.h"

#include <algorithm>
#include <memory>
#include <string>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/registry.h"

namespace gdal_zarr {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::ChunkSpec;
using zarrcore::Endian;
using zarrcore::Error;
using zarrcore::Json;
using zarrcore::Shape;

ImageFile make_gif_file(ByteSpan chunk, const Json& /*configuration*/, const ChunkSpec& spec) {
  if (!has_text_at(chunk, 0, "GIF87a") && !has_text_at(chunk, 0, "GIF89a")) {
    throw Error("the chunk does not start as a GIF image");
  }
  const auto byte = [&](std::size_t at) {
    return integer_at<std::uint8_t>(chunk, at, Endian::little);
  };
  const auto word = [&](std::size_t at) {
    return integer_at<std::uint16_t>(chunk, at, Endian::little);
  };
  const auto skip_colors = [](std::size_t at, std::uint8_t flags) {
    return (flags & 0x80) != 0 ? at + (std::size_t{6} << (flags & 7)) : at;
  };
  const auto skip_blocks = [&](std::size_t at) {
    while (byte(at) != 0) at += std::size_t{1} + byte(at);
    return at + 1;
  };
  const std::uint16_t width = word(6);
  const std::uint16_t height = word(8);
  constexpr std::uint8_t kExtension = 0x21;
  constexpr std::uint8_t kImage = 0x2C;
  constexpr std::uint8_t kTrailer = 0x3B;
  int images = 0;
  for (std::size_t at = skip_colors(13, byte(10)); byte(at) != kTrailer;) {
    if (byte(at) == kExtension) {
      at = skip_blocks(at + 2);
      continue;
    }
    if (byte(at) != kImage) throw Error("the GIF is damaged");
    if (word(at + 1) != 0 || word(at + 3) != 0 || word(at + 5) != width || word(at + 7) != height) {
      throw Error("the GIF holds an image that does not cover its screen");
    }
    if (++images > 1) throw Error("the GIF holds several images");
    at = skip_blocks(skip_colors(at + 10, byte(at + 9)) + 1);
  }
  if (images == 0) throw Error("the GIF holds no image");
  if (std::uint64_t{width} * height > spec.byte_count()) {
    throw Error("the GIF holds " + std::to_string(height) + " x " + std::to_string(width) +
                " pixels, more than the chunk");
  }
  return {Buffer::copy_of(chunk)};
}

Buffer make_tiff(ByteSpan strip, const StripImage& image) {
  constexpr std::uint16_t kShort = 3;
  constexpr std::uint16_t kLong = 4;
  struct Tag {
    std::uint16_t number;
    std::uint16_t type;
    std::vector<std::uint32_t> values;
  };
  const std::size_t samples = std::size_t{image.samples} + (image.has_mask ? 1 : 0);
  const bool is_fax = image.bits == 1;
  // Extra samples: 0 is not specified, 2 a mask.
  std::vector<std::uint32_t> extra(samples - 1, 0);
  if (image.has_mask) extra.back() = 2;
  std::vector<Tag> tags{
      {256, kLong, {image.width}},
      {257, kLong, {image.height}},
      {258, kShort, std::vector<std::uint32_t>(samples, image.bits)},
      {259, kShort, {image.compression}},
      {262, kShort, {is_fax ? 0u : 1u}},
      {273, kLong, {8}},
      {277, kShort, {static_cast<std::uint32_t>(samples)}},
      {278, kLong, {image.height}},
      {279, kLong, {static_cast<std::uint32_t>(strip.size())}},
      {284, kShort, {1}},
  };
  if (image.compression == 3) tags.push_back({292, kLong, {image.fax_options}});
  if (samples > 1) tags.push_back({338, kShort, extra});
  tags.push_back({339, kShort, std::vector<std::uint32_t>(samples, image.sample_format)});
  // LERC: the version of the library's format, and no compression around it.
  if (image.compression == 34887) tags.push_back({50674, kLong, {4, 0}});

  if (strip.empty()) throw Error("the chunk is empty");
  constexpr std::size_t kMaxStrip = 0xFFFF0000 - (std::size_t{1} << 20);
  if (strip.size() > kMaxStrip) throw Error("the chunk is too large for a TIFF");
  const std::size_t padding = strip.size() % 2;
  const std::size_t directory = 8 + strip.size() + padding;
  std::size_t values_at = directory + 2 + 12 * tags.size() + 4;
  ByteBuilder file;
  file.add(std::uint32_t{0x002A4949}, Endian::little);
  file.add(static_cast<std::uint32_t>(directory), Endian::little);
  file.add(strip);
  if (padding != 0) file.add(std::uint8_t{0}, Endian::little);
  file.add(static_cast<std::uint16_t>(tags.size()), Endian::little);
  ByteBuilder outside;  // values that do not fit the directory
  for (const Tag& tag : tags) {
    ByteBuilder values;
    for (const std::uint32_t value : tag.values) {
      if (tag.type == kShort) {
        values.add(static_cast<std::uint16_t>(value), Endian::little);
      } else {
        values.add(value, Endian::little);
      }
    }
    file.add(tag.number, Endian::little);
    file.add(tag.type, Endian::little);
    file.add(static_cast<std::uint32_t>(tag.values.size()), Endian::little);
    if (values.size() > 4) {
      file.add(static_cast<std::uint32_t>(values_at + outside.size()), Endian::little);
      outside.add(values.span());
    } else {
      while (values.size() < 4) values.add(std::uint8_t{0}, Endian::little);
      file.add(values.span());
    }
  }
  file.add(std::uint32_t{0}, Endian::little);
  file.add(outside.span());
  return file.buffer();
}

StripImage read_lerc_header(ByteSpan blob) {
  const auto number = [&](std::size_t at) {
    return integer_at<std::uint32_t>(blob, at, Endian::little);
  };
  constexpr std::uint16_t kLerc = 34887;
  if (has_text_at(blob, 0, "CntZImage ")) {
    return {number(22), number(18), 1, 32, 3, kLerc, 0, false};
  }
  if (!has_text_at(blob, 0, "Lerc2 ")) throw Error("the chunk does not start as LERC");
  const std::uint32_t revision = number(6);
  if (revision < 1 || revision > 6) {
    throw Error("the chunk is LERC of the unknown version 2." + std::to_string(revision));
  }
  std::size_t at = revision >= 3 ? 14 : 10;
  const std::uint32_t height = number(at);
  const std::uint32_t width = number(at + 4);
  at += 8;
  std::uint32_t depth = 1;
  if (revision >= 4) {
    depth = number(at);
    at += 4;
  }
  const std::uint32_t valid = number(at);
  const std::uint32_t size = number(at + 8);
  const std::uint32_t type = number(at + 12);
  if (size < blob.size() && has_text_at(blob, size, "Lerc2 ")) {
    throw Error("the chunk holds several bands of LERC");
  }
  constexpr std::uint32_t kMaxDepth = 1000;
  struct Type {
    std::uint16_t bits;
    std::uint16_t format;
  };
  constexpr Type kTypes[] = {{8, 2}, {8, 1}, {16, 2}, {16, 1}, {32, 2}, {32, 1}, {32, 3}, {64, 3}};
  if (type >= std::size(kTypes) || depth == 0 || depth > kMaxDepth) {
    throw Error("the header of the LERC chunk is damaged");
  }
  const Type& found = kTypes[type];
  return {width, height, static_cast<std::uint16_t>(depth),    found.bits, found.format,
          kLerc, 0,      valid < std::uint64_t{width} * height};
}

// A chunk may be compressed with zlib or Zstandard around LERC.
ImageFile make_lerc_file(ByteSpan chunk, const Json& /*configuration*/, const ChunkSpec& spec) {
  constexpr std::uint64_t kSlack = 1 << 16;
  Buffer held;
  const auto starts_with = [&](std::initializer_list<unsigned> bytes) {
    return chunk.size() >= bytes.size() &&
           std::equal(bytes.begin(), bytes.end(), chunk.begin(), [](unsigned wanted, std::byte b) {
             return b == static_cast<std::byte>(wanted);
           });
  };
  const char* around = starts_with({0x78})                     ? "zlib"
                       : starts_with({0x28, 0xB5, 0x2F, 0xFD}) ? "zstd"
                                                               : nullptr;
  if (around != nullptr) {
    const zarrcore::Codec codec = zarrcore::find_codec(around)(Json::object(), spec);
    const auto limit = zarrcore::checked_multiply(spec.byte_count(), 2).value_or(UINT64_MAX / 2);
    held = std::get<std::unique_ptr<const zarrcore::BytesToBytesCodec>>(codec)->decode(
        chunk, limit + kSlack);
    chunk = held.span();
  }
  StripImage image = read_lerc_header(chunk);
  const bool is_masked = image.has_mask;
  image.has_mask = is_masked && image.bits == 8;  // as GDAL knows it for bytes alone
  const auto elements = zarrcore::checked_product(Shape{image.width, image.height, image.samples});
  if (!elements || *elements != spec.byte_count() / spec.data_type.item_size) {
    throw Error("the LERC image holds " +
                zarrcore::shape_text(Shape{image.height, image.width, image.samples}, " x ") +
                " pixels where the chunk has " + zarrcore::shape_text(spec.shape, " x "));
  }
  return {make_tiff(chunk, image), false, is_masked && image.sample_format == 3};
}

ImageFile make_fax_file(ByteSpan chunk, const Json& configuration, const ChunkSpec& spec,
                        std::uint16_t compression) {
  // The last two dimensions that are not 1, unless the configuration states others.
  Shape shape = spec.shape;
  while (shape.size() > 2 && shape.front() == 1) shape.erase(shape.begin());
  if (shape.size() == 3 && shape.back() == 1) shape.pop_back();
  const auto length = [&](const char* key, std::size_t dimension) {
    const std::int64_t stated = zarrcore::integer_option(configuration, key, 0);
    const std::uint64_t found = stated > 0          ? static_cast<std::uint64_t>(stated)
                                : shape.size() == 2 ? shape[dimension]
                                                    : 0;
    if (found == 0 || found > UINT16_MAX) {
      throw Error("the width and height of the fax are not known, or too large");
    }
    return static_cast<std::uint32_t>(found);
  };
  const std::int64_t options = zarrcore::integer_option(configuration, "t4options", 0);
  return {make_tiff(chunk, {length("width", 1), length("height", 0), 1, 1, 1, compression,
                            static_cast<std::uint32_t>(options), false})};
}

}  // namespace gdal_zarr
