// JPEG images whose tables are missing from their chunks.
#include <cpl_port.h>

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "driver/codecs/image_files.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::ChunkSpec;
using zarrcore::Endian;
using zarrcore::Error;
using zarrcore::Json;

// Colour spaces of JPEG images, by libjpeg's numbers.
enum class JpegColors : std::uint8_t { unknown, gray, rgb, ycbcr, cmyk, ycck };

// The names and numbers that imagecodecs accepts.
JpegColors colors_option(const Json& configuration, std::string_view key) {
  struct Name {
    std::string_view name;
    JpegColors colors;
  };
  static constexpr Name kNames[] = {
      {"UNKNOWN", JpegColors::unknown}, {"GRAY", JpegColors::gray},
      {"GRAYSCALE", JpegColors::gray},  {"MINISBLACK", JpegColors::gray},
      {"MINISWHITE", JpegColors::gray}, {"RGB", JpegColors::rgb},
      {"YCBCR", JpegColors::ycbcr},     {"CMYK", JpegColors::cmyk},
      {"SEPARATED", JpegColors::cmyk},  {"YCCK", JpegColors::ycck},
  };
  const Json* value = zarrcore::find_value(configuration, key);
  if (value == nullptr) return JpegColors::unknown;
  if (value->is_number_integer() && *value >= 0 && *value <= 5) {
    return static_cast<JpegColors>(value->get<int>());
  }
  if (value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    for (const Name& name : kNames) {
      if (EQUAL(text.c_str(), std::string(name.name).c_str())) return name.colors;
    }
  }
  throw Error('"' + std::string(key) + "\" is " + zarrcore::excerpt(*value) +
              ", not a colour space of JPEG images");
}

std::vector<std::byte> base64_option(const Json& configuration, std::string_view key) {
  const auto text = zarrcore::text_option(configuration, key);
  if (!text) return {};
  auto bytes = zarrcore::decode_base64(*text);
  if (!bytes) throw Error('"' + std::string(key) + "\" is not base64");
  return std::move(*bytes);
}

// Markers of ITU-T T.81, table B.1

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
  ByteBuilder segments;  // before the first scan, without application segments
  ByteSpan scans;        // to the end
  bool is_jfif = false;
  std::optional<std::uint8_t> adobe_transform;
  std::vector<std::uint8_t> components;  // their identifiers
};

JpegParts split_jpeg(ByteSpan jpeg) {
  const auto word = [&](std::size_t at) {
    return integer_at<std::uint16_t>(jpeg, at, Endian::big);
  };
  if (word(0) != kStartOfImage) throw Error("the chunk does not start as a JPEG image");
  JpegParts parts;
  for (std::size_t at = 2;;) {
    // Any number of bytes FF may precede a marker.
    while (integer_at<std::uint8_t>(jpeg, at, Endian::big) == 0xFF && word(at) == 0xFFFF) ++at;
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
      const auto count = integer_at<std::uint8_t>(segment, 9, Endian::big);
      for (std::size_t i = 0; i < count; ++i) {
        parts.components.push_back(integer_at<std::uint8_t>(segment, 10 + 3 * i, Endian::big));
      }
    }
    if (marker == kApplication0 && has_text_at(segment, 4, "JFIF")) parts.is_jfif = true;
    if (marker == kApplication14 && has_text_at(segment, 4, "Adobe") && segment.size() >= 16) {
      parts.adobe_transform = integer_at<std::uint8_t>(segment, 15, Endian::big);
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

ImageFile make_jpeg_file(ByteSpan chunk, const Json& configuration, const ChunkSpec& /*spec*/) {
  // The bytes before the chunk, without those after it; and an abbreviated image of tables alone.
  const std::vector<std::byte> header = base64_option(configuration, "header");
  const std::vector<std::byte> encoded_tables = base64_option(configuration, "tables");
  const ByteSpan tables(encoded_tables);
  const JpegColors overriding = colors_option(configuration, "colorspace_jpeg");
  const JpegColors wanted = colors_option(configuration, "colorspace_data");
  ByteBuilder joined;
  joined.add(header);
  if (tables.size() >= 4) {
    if (integer_at<std::uint16_t>(tables, 0, Endian::big) != kStartOfImage ||
        integer_at<std::uint16_t>(tables, tables.size() - 2, Endian::big) != kEndOfImage) {
      throw Error("\"tables\" is not an abbreviated JPEG image");
    }
    if (integer_at<std::uint16_t>(chunk, 0, Endian::big) != kStartOfImage) {
      throw Error("the chunk does not start as a JPEG image");
    }
    joined.add(tables.first(tables.size() - 2));
    chunk = chunk.subspan(2);
  }
  joined.add(chunk);
  if (!header.empty()) joined.add(kEndOfImage, Endian::big);
  const Buffer whole = joined.buffer();
  const JpegParts parts = split_jpeg(whole.span());

  JpegColors stored = stated_colors(parts);
  if (overriding != JpegColors::unknown) {
    if (component_count(overriding) != parts.components.size()) {
      throw Error("\"colorspace_jpeg\" does not fit an image of " +
                  std::to_string(parts.components.size()) + " components");
    }
    stored = overriding;
  }
  // The colours that decoders return.
  const JpegColors usual = stored == JpegColors::ycbcr  ? JpegColors::rgb
                           : stored == JpegColors::ycck ? JpegColors::cmyk
                                                        : stored;
  if (wanted != JpegColors::unknown && wanted != usual && wanted != stored) {
    throw Error("\"colorspace_data\" asks for a conversion of colours that is not supported");
  }
  const bool is_converted = usual != stored && wanted != stored;

  ByteBuilder image;
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
  image.add(parts.segments.span());
  image.add(parts.scans);
  return {image.buffer(), parts.components.size() == 4};
}

}  // namespace gdal_zarr
