#include "driver/codecs/image_headers.h"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::Endian;
using zarrcore::Error;

template <typename Integer>
Integer load(ByteSpan bytes, std::size_t at, Endian endian) {
  if (at > bytes.size() || bytes.size() - at < sizeof(Integer)) {
    throw Error("the chunk is truncated");
  }
  return zarrcore::load_integer<Integer>(bytes.data() + at, endian);
}

bool has_text(ByteSpan bytes, std::size_t at, std::string_view text) {
  return at <= bytes.size() && bytes.size() - at >= text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

class Bytes {
 public:
  void add(ByteSpan bytes) { all_.insert(all_.end(), bytes.begin(), bytes.end()); }
  template <typename Integer>
  void add(Integer value, Endian endian) {
    std::byte bytes[sizeof(Integer)];
    zarrcore::store_integer(value, endian, bytes);
    add(ByteSpan(bytes));
  }
  std::size_t size() const { return all_.size(); }
  Buffer buffer() const { return Buffer::copy_of(ByteSpan(all_)); }

 private:
  std::vector<std::byte> all_;
};

// --- JPEG: markers of ITU-T T.81, table B.1

constexpr std::uint16_t kStartOfImage = 0xFFD8;
constexpr std::uint16_t kEndOfImage = 0xFFD9;
constexpr std::uint16_t kStartOfScan = 0xFFDA;
constexpr std::uint16_t kApplication0 = 0xFFE0;
constexpr std::uint16_t kApplication14 = 0xFFEE;
constexpr std::uint16_t kApplication15 = 0xFFEF;

bool is_start_of_frame(std::uint16_t marker) {
  return marker >= 0xFFC0 && marker <= 0xFFCF && marker != 0xFFC4 && marker != 0xFFC8 &&
         marker != 0xFFCC;
}

struct JpegParts {
  Bytes segments;  // before the first scan, without application segments
  ByteSpan scans;  // to the end
  bool is_jfif = false;
  std::optional<std::uint8_t> adobe_transform;
  std::vector<std::uint8_t> components;  // their identifiers
};

JpegParts split_jpeg(ByteSpan jpeg) {
  const auto word = [&](std::size_t at) { return load<std::uint16_t>(jpeg, at, Endian::big); };
  if (word(0) != kStartOfImage) throw Error("the chunk does not start as a JPEG image");
  JpegParts parts;
  for (std::size_t at = 2;;) {
    // Any number of bytes FF may precede a marker.
    while (load<std::uint8_t>(jpeg, at, Endian::big) == 0xFF && word(at) == 0xFFFF) ++at;
    const std::uint16_t marker = word(at);
    if (marker < 0xFF01) throw Error("the JPEG image has no marker where one is expected");
    if (marker == kStartOfScan) {
      parts.scans = jpeg.subspan(at);
      return parts;
    }
    const std::uint16_t length = word(at + 2);
    const ByteSpan rest = jpeg.subspan(at);
    if (length < 2 || rest.size() - 2 < length) throw Error("the JPEG image is truncated");
    const ByteSpan segment = rest.first(std::size_t{2} + length);
    if (is_start_of_frame(marker)) {
      const auto count = load<std::uint8_t>(segment, 9, Endian::big);
      for (std::size_t i = 0; i < count; ++i) {
        parts.components.push_back(load<std::uint8_t>(segment, 10 + 3 * i, Endian::big));
      }
    }
    if (marker == kApplication0 && has_text(segment, 4, "JFIF")) parts.is_jfif = true;
    if (marker == kApplication14 && has_text(segment, 4, "Adobe") && segment.size() >= 16) {
      parts.adobe_transform = load<std::uint8_t>(segment, 15, Endian::big);
    }
    if (marker < kApplication0 || marker > kApplication15) parts.segments.add(segment);
    at += segment.size();
  }
}

// Concludes the colours as libjpeg does, in this order: JFIF, Adobe, the components' identifiers.
JpegColors stated_colors(const JpegParts& parts) {
  const auto transform = parts.adobe_transform;
  switch (parts.components.size()) {
    case 1:
      return JpegColors::gray;
    case 3:
      if (parts.is_jfif) return JpegColors::ycbcr;
      if (transform) return *transform == 0 ? JpegColors::rgb : JpegColors::ycbcr;
      return parts.components == std::vector<std::uint8_t>{'R', 'G', 'B'} ? JpegColors::rgb
                                                                          : JpegColors::ycbcr;
    case 4:
      return transform && *transform == 2 ? JpegColors::ycck : JpegColors::cmyk;
    default:
      return JpegColors::unknown;
  }
}

std::size_t component_count(JpegColors colors) {
  constexpr std::size_t kCounts[] = {0, 1, 3, 3, 4, 4};
  return kCounts[static_cast<std::size_t>(colors)];
}

}  // namespace

JpegImage make_jpeg(ByteSpan chunk, const JpegHints& hints) {
  Bytes joined;
  joined.add(hints.header);
  if (hints.tables.size() >= 4) {
    if (load<std::uint16_t>(hints.tables, 0, Endian::big) != kStartOfImage ||
        load<std::uint16_t>(hints.tables, hints.tables.size() - 2, Endian::big) != kEndOfImage) {
      throw Error("\"tables\" is not an abbreviated JPEG image");
    }
    if (load<std::uint16_t>(chunk, 0, Endian::big) != kStartOfImage) {
      throw Error("the chunk does not start as a JPEG image");
    }
    joined.add(hints.tables.first(hints.tables.size() - 2));
    chunk = chunk.subspan(2);
  }
  joined.add(chunk);
  if (!hints.header.empty()) joined.add(kEndOfImage, Endian::big);
  const Buffer whole = joined.buffer();
  const JpegParts parts = split_jpeg(whole.span());

  JpegColors stored = stated_colors(parts);
  if (hints.stored != JpegColors::unknown) {
    if (component_count(hints.stored) != parts.components.size()) {
      throw Error("\"colorspace_jpeg\" does not fit an image of " +
                  std::to_string(parts.components.size()) + " components");
    }
    stored = hints.stored;
  }
  // The colours that decoders return.
  const JpegColors usual = stored == JpegColors::ycbcr  ? JpegColors::rgb
                           : stored == JpegColors::ycck ? JpegColors::cmyk
                                                        : stored;
  if (hints.wanted != JpegColors::unknown && hints.wanted != usual && hints.wanted != stored) {
    throw Error("\"colorspace_data\" asks for a conversion of colours that is not supported");
  }
  const bool is_converted = usual != stored && hints.wanted != stored;

  Bytes image;
  image.add(kStartOfImage, Endian::big);
  if (parts.components.size() >= 3) {
    // Adobe's segment: version, two words of flags, and the transformation.
    image.add(kApplication14, Endian::big);
    image.add(std::uint16_t{14}, Endian::big);
    image.add(std::as_bytes(std::span(std::string_view("Adobe"))));
    image.add(std::uint16_t{100}, Endian::big);
    image.add(std::uint32_t{0}, Endian::big);
    const int transform = !is_converted ? 0 : stored == JpegColors::ycbcr ? 1 : 2;
    image.add(static_cast<std::uint8_t>(transform), Endian::big);
  }
  image.add(parts.segments.buffer().span());
  image.add(parts.scans);
  return {image.buffer(), parts.components.size()};
}

void check_gif(ByteSpan chunk, std::uint64_t max_pixels) {
  if (!has_text(chunk, 0, "GIF87a") && !has_text(chunk, 0, "GIF89a")) {
    throw Error("the chunk does not start as a GIF image");
  }
  const auto byte = [&](std::size_t at) { return load<std::uint8_t>(chunk, at, Endian::little); };
  const auto word = [&](std::size_t at) { return load<std::uint16_t>(chunk, at, Endian::little); };
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
  if (std::uint64_t{width} * height > max_pixels) {
    throw Error("the GIF holds " + std::to_string(height) + " x " + std::to_string(width) +
                " pixels, more than the chunk");
  }
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
  Bytes file;
  file.add(std::uint32_t{0x002A4949}, Endian::little);
  file.add(static_cast<std::uint32_t>(directory), Endian::little);
  file.add(strip);
  if (padding != 0) file.add(std::uint8_t{0}, Endian::little);
  file.add(static_cast<std::uint16_t>(tags.size()), Endian::little);
  Bytes outside;  // values that do not fit the directory
  for (const Tag& tag : tags) {
    Bytes values;
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
      outside.add(values.buffer().span());
    } else {
      while (values.size() < 4) values.add(std::uint8_t{0}, Endian::little);
      file.add(values.buffer().span());
    }
  }
  file.add(std::uint32_t{0}, Endian::little);
  file.add(outside.buffer().span());
  return file.buffer();
}

StripImage read_lerc_header(ByteSpan blob) {
  const auto number = [&](std::size_t at) { return load<std::uint32_t>(blob, at, Endian::little); };
  constexpr std::uint16_t kLerc = 34887;
  if (has_text(blob, 0, "CntZImage ")) {
    return {number(22), number(18), 1, 32, 3, kLerc, 0, false};
  }
  if (!has_text(blob, 0, "Lerc2 ")) throw Error("the chunk does not start as LERC");
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
  if (size < blob.size() && has_text(blob, size, "Lerc2 ")) {
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

}  // namespace gdal_zarr
