#include "driver/codecs/image_files.h"

#include <cpl_port.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/codecs/image_headers.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/base/text_encoding.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/registry.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::ChunkSpec;
using zarrcore::Error;
using zarrcore::Json;
using zarrcore::Shape;

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
  const Json* value = zarrcore::find_member(configuration, key);
  if (value == nullptr || value->is_null()) return JpegColors::unknown;
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

}  // namespace

ImageFile make_jpeg_file(ByteSpan chunk, const Json& configuration, const ChunkSpec& /*spec*/) {
  const std::vector<std::byte> header = base64_option(configuration, "header");
  const std::vector<std::byte> tables = base64_option(configuration, "tables");
  JpegImage image =
      make_jpeg(chunk, {header, tables, colors_option(configuration, "colorspace_jpeg"),
                        colors_option(configuration, "colorspace_data")});
  return {std::move(image.bytes), image.components == 4};
}

ImageFile make_gif_file(ByteSpan chunk, const Json& /*configuration*/, const ChunkSpec& spec) {
  check_gif(chunk, spec.byte_count());
  return {Buffer::copy_of(chunk)};
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
