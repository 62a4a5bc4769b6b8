#include "driver/codecs/grib_message.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::ByteSpan;
using zarrcore::Error;

// A section, whose octets are counted from 1 as in the manual.
class Section {
 public:
  explicit Section(ByteSpan bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size(); }
  ByteSpan from(std::size_t octet) const {
    check(octet, 0);
    return bytes_.subspan(octet - 1);
  }
  std::uint64_t number(std::size_t octet, std::size_t count) const {
    check(octet, count);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      value = value << 8 | std::to_integer<std::uint64_t>(bytes_[octet - 1 + i]);
    }
    return value;
  }
  // Whose first bit is the sign.
  double signed_number(std::size_t octet, std::size_t count) const {
    const std::uint64_t value = number(octet, count);
    const std::uint64_t sign = std::uint64_t{1} << (8 * count - 1);
    const auto magnitude = static_cast<double>(value & (sign - 1));
    return (value & sign) != 0 ? -magnitude : magnitude;
  }

 private:
  void check(std::size_t octet, std::size_t count) const {
    if (octet - 1 > bytes_.size() || bytes_.size() - (octet - 1) < count) {
      throw Error("the GRIB message is truncated");
    }
  }

  ByteSpan bytes_;
};

bool starts_with(ByteSpan bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

Error unsupported_grid(std::uint64_t number) {
  return Error("the GRIB message has a grid of the template " + std::to_string(number) +
               ", which is not supported");
}

// The common fields of the grid templates of both editions.
struct GridTemplate {
  std::uint64_t number;
  GribGrid::Kind kind;
  bool is_rotated;
  std::size_t scanning;  // octet
  std::size_t steps;     // octet of the step of columns; the step of rows follows
};
using Kind = GribGrid::Kind;

constexpr GridTemplate kTemplates1[] = {
    {0, Kind::latlon, false, 28, 24},    {1, Kind::projected, false, 28, 29},
    {3, Kind::projected, false, 28, 21}, {4, Kind::gaussian, false, 28, 24},
    {5, Kind::projected, false, 28, 21}, {10, Kind::latlon, true, 28, 24},
};
constexpr GridTemplate kTemplates2[] = {
    {0, Kind::latlon, false, 72, 64},     {1, Kind::latlon, true, 72, 64},
    {10, Kind::projected, false, 60, 65}, {20, Kind::projected, false, 65, 56},
    {30, Kind::projected, false, 65, 56}, {31, Kind::projected, false, 65, 56},
    {40, Kind::gaussian, false, 72, 64},  {140, Kind::projected, false, 64, 56},
};

template <typename Templates>
const GridTemplate& find_template(const Templates& templates, std::uint64_t number) {
  const auto* found = std::ranges::find(templates, number, &GridTemplate::number);
  if (found == std::end(templates)) throw unsupported_grid(number);
  return *found;
}

constexpr const char* kReduced = "the GRIB message has rows of different lengths";

// --- Edition 1

GribGrid read_grid1(const Section& gds) {
  const GridTemplate& kind = find_template(kTemplates1, gds.number(6, 1));
  constexpr std::uint64_t kMissing = 0xFFFF;
  if (gds.number(7, 2) == kMissing || gds.number(9, 2) == kMissing ||
      (gds.number(4, 1) == 0 && gds.number(5, 1) != 255)) {
    throw Error(kReduced);
  }
  const auto degrees = [&](std::size_t octet) { return gds.signed_number(octet, 3) / 1000; };
  GribGrid grid{};
  grid.kind = kind.kind;
  grid.is_rotated = kind.is_rotated;
  grid.columns = static_cast<std::uint32_t>(gds.number(7, 2));
  grid.rows = static_cast<std::uint32_t>(gds.number(9, 2));
  grid.scanning = static_cast<std::uint8_t>(gds.number(kind.scanning, 1));
  grid.first_latitude = degrees(11);
  grid.first_longitude = degrees(14);
  if (kind.kind == Kind::projected) {
    grid.column_step = static_cast<double>(gds.number(kind.steps, 3));
    grid.row_step = static_cast<double>(gds.number(kind.steps + 3, 3));
    return grid;
  }
  grid.last_latitude = degrees(18);
  grid.last_longitude = degrees(21);
  grid.column_step = static_cast<double>(gds.number(kind.steps, 2)) / 1000;
  grid.row_step = static_cast<double>(gds.number(kind.steps + 2, 2)) / 1000;
  if (kind.kind == Kind::gaussian) {
    grid.parallels = static_cast<std::uint32_t>(gds.number(kind.steps + 2, 2));
  }
  if (kind.is_rotated) {
    grid.pole_latitude = degrees(33);
    grid.pole_longitude = degrees(36);
    grid.rotation = static_cast<double>(gds.number(39, 4));  // not 0 or 0 is what matters
  }
  return grid;
}

GribMessage parse_grib1(ByteSpan chunk) {
  const Section start(chunk);
  std::uint64_t length = start.number(5, 3);
  std::size_t at = 8;
  const auto section = [&] {
    const std::uint64_t size = Section(chunk.subspan(std::min(at, chunk.size()))).number(1, 3);
    if (size < 4 || size > chunk.size() - at) throw Error("the GRIB message is truncated");
    const Section found(chunk.subspan(at, static_cast<std::size_t>(size)));
    at += static_cast<std::size_t>(size);
    return found;
  };
  const std::uint64_t flags = section().number(8, 1);
  if ((flags & 0x80) == 0) throw Error("the GRIB message does not describe its grid");
  GribMessage message{};
  message.edition = 1;
  message.grid = read_grid1(section());
  if ((flags & 0x40) != 0) {
    const Section bitmap = section();
    if (bitmap.number(5, 2) != 0) throw Error("the GRIB message uses a predefined bitmap");
    message.bitmap = bitmap.from(7);
  }
  const Section data(chunk.subspan(std::min(at, chunk.size())));
  message.packing = static_cast<unsigned>(data.number(4, 1) >> 4);
  // For messages of more than 8 MB, the length is in units of 120 bytes.
  constexpr std::uint64_t kLarge = 0x800000;
  if ((length & kLarge) != 0) length = (length & (kLarge - 1)) * 120 - data.number(1, 3) + 4;
  if (length < at + 8 || length > chunk.size()) throw Error("the GRIB message is truncated");
  message.bytes = chunk.first(static_cast<std::size_t>(length));
  return message;
}

// --- Edition 2

GribGrid read_grid2(const Section& section) {
  if (section.number(6, 1) != 0) throw Error("the GRIB message uses a predefined grid");
  if (section.number(11, 1) != 0) throw Error(kReduced);
  const GridTemplate& kind = find_template(kTemplates2, section.number(13, 2));
  GribGrid grid{};
  grid.kind = kind.kind;
  grid.is_rotated = kind.is_rotated;
  grid.columns = static_cast<std::uint32_t>(section.number(31, 4));
  grid.rows = static_cast<std::uint32_t>(section.number(35, 4));
  grid.scanning = static_cast<std::uint8_t>(section.number(kind.scanning, 1));
  if (grid.point_count() != section.number(7, 4)) throw Error(kReduced);
  if (kind.kind == Kind::projected) {
    grid.first_latitude = section.signed_number(39, 4) / 1e6;
    grid.first_longitude = section.signed_number(43, 4) / 1e6;
    grid.column_step = static_cast<double>(section.number(kind.steps, 4)) / 1e3;
    grid.row_step = static_cast<double>(section.number(kind.steps + 4, 4)) / 1e3;
    return grid;
  }
  // The unit of angles; 0 or missing is a millionth of a degree.
  constexpr std::uint64_t kMissing = 0xFFFFFFFF;
  const std::uint64_t basic = section.number(39, 4);
  const std::uint64_t parts = section.number(43, 4);
  const bool is_usual = basic == 0 || basic == kMissing || parts == 0 || parts == kMissing;
  const double unit = is_usual ? 1e6 : static_cast<double>(parts) / static_cast<double>(basic);
  grid.first_latitude = section.signed_number(47, 4) / unit;
  grid.first_longitude = section.signed_number(51, 4) / unit;
  grid.last_latitude = section.signed_number(56, 4) / unit;
  grid.last_longitude = section.signed_number(60, 4) / unit;
  grid.column_step = static_cast<double>(section.number(kind.steps, 4)) / unit;
  grid.row_step = static_cast<double>(section.number(kind.steps + 4, 4)) / unit;
  if (kind.kind == Kind::gaussian) {
    grid.parallels = static_cast<std::uint32_t>(section.number(kind.steps + 4, 4));
  }
  if (kind.is_rotated) {
    grid.pole_latitude = section.signed_number(73, 4) / unit;
    grid.pole_longitude = section.signed_number(77, 4) / unit;
    grid.rotation = static_cast<double>(section.number(81, 4));
  }
  return grid;
}

// Multiplied step by step, as eccodes does.
double power(double base, int exponent) {
  double result = 1;
  for (; exponent < 0; ++exponent) result /= base;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}

GribMessage parse_grib2(ByteSpan chunk) {
  constexpr std::size_t kStart = 16;
  constexpr std::size_t kEnd = 4;
  const std::uint64_t length = Section(chunk).number(9, 8);
  if (length < kStart + kEnd || length > chunk.size()) throw Error("the GRIB message is truncated");
  GribMessage message{};
  message.edition = 2;
  message.bytes = chunk.first(static_cast<std::size_t>(length));
  if (!starts_with(message.bytes.last(kEnd), "7777")) throw Error("the GRIB message has no end");
  std::uint64_t simple_bits = 0;  // of the values in simple packing
  unsigned seen = 0;              // a bit for each section
  for (ByteSpan rest = message.bytes.subspan(kStart); rest.size() > kEnd;) {
    const Section head(rest);
    const std::uint64_t size = head.number(1, 4);
    const std::uint64_t number = head.number(5, 1);
    if (size < 5 || size > rest.size() - kEnd || number < 1 || number > 7) {
      throw Error("the GRIB message has a damaged section");
    }
    if ((seen >> number & 1) != 0) throw Error("the GRIB message holds several fields");
    seen |= 1U << number;
    const Section section(rest.first(static_cast<std::size_t>(size)));
    if (number == 3) message.grid = read_grid2(section);
    if (number == 5) {
      if (section.number(6, 4) > message.grid.point_count()) {
        throw Error("the GRIB message has more values than its grid has points");
      }
      message.packing = static_cast<unsigned>(section.number(10, 2));
      const bool is_complex = message.packing == 2 || message.packing == 3;
      if (message.packing == kGribIeee) {
        const std::uint64_t precision = section.number(12, 1);
        if (precision != 1 && precision != 2) {
          throw Error("the GRIB message has IEEE numbers of an unknown precision");
        }
        message.ieee_size = precision == 1 ? 4 : 8;
      } else {
        message.scale =
            GribScale{std::bit_cast<float>(static_cast<std::uint32_t>(section.number(12, 4))),
                      power(2.0, static_cast<int>(section.signed_number(16, 2))),
                      power(10.0, -static_cast<int>(section.signed_number(18, 2)))};
      }
      const std::uint64_t management = is_complex ? section.number(23, 1) : 0;
      if (management > 1) {
        throw Error("the GRIB message has missing values of two kinds, which is not supported");
      }
      message.manages_missing = management != 0;
      if (message.manages_missing) {
        message.missing_offset =
            static_cast<std::size_t>(section.from(24).data() - message.bytes.data());
        message.missing_is_integer = section.number(21, 1) != 0;
      }
      if (message.packing == 0) simple_bits = section.number(6, 4) * section.number(20, 1);
    }
    if (number == 6) {
      const std::uint64_t indicator = section.number(6, 1);
      if (indicator != 0 && indicator != 255) {
        throw Error("the GRIB message uses a bitmap that it does not have");
      }
      if (indicator == 0) message.bitmap = section.from(7);
    }
    if (number == 7) {
      message.data = section.from(6);
      if (simple_bits > message.data.size() * std::uint64_t{8}) {
        throw Error("the GRIB message ends before its values do");
      }
    }
    rest = rest.subspan(static_cast<std::size_t>(size));
  }
  constexpr unsigned kNeeded = 1U << 3 | 1U << 4 | 1U << 5 | 1U << 6 | 1U << 7;
  if ((seen & kNeeded) != kNeeded) throw Error("the GRIB message lacks a section");
  return message;
}

}  // namespace

bool GribMessage::is_missing(std::uint64_t index) const {
  if (!bitmap) return false;
  const auto byte = std::to_integer<unsigned>((*bitmap)[static_cast<std::size_t>(index / 8)]);
  return (byte >> (7 - index % 8) & 1) == 0;
}

std::vector<double> ieee_values(const GribMessage& message) {
  std::vector<double> values(static_cast<std::size_t>(message.grid.point_count()),
                             std::numeric_limits<double>::quiet_NaN());
  const Section data(message.data);
  std::size_t octet = 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (message.is_missing(i)) continue;
    const std::uint64_t bits = data.number(octet, message.ieee_size);
    values[i] = message.ieee_size == 8 ? std::bit_cast<double>(bits)
                                       : std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    octet += message.ieee_size;
  }
  return values;
}

double GribScale::exact(double value) const {
  const double packed = std::round((value / factor - reference) / unit);
  const double found = (packed * unit + reference) * factor;
  // Other values are further away than single precision explains.
  constexpr double kSingle = 1.0 / (1 << 21);
  return std::abs(found - value) <= std::abs(value) * kSingle ? found : value;
}

GribMessage parse_grib(ByteSpan chunk) {
  if (!starts_with(chunk, "GRIB")) throw Error("the chunk does not start as a GRIB message");
  const std::uint64_t edition = Section(chunk).number(8, 1);
  if (edition != 1 && edition != 2) {
    throw Error("GRIB edition " + std::to_string(edition) + " is not supported");
  }
  GribMessage message = edition == 1 ? parse_grib1(chunk) : parse_grib2(chunk);
  const ByteSpan rest = chunk.subspan(message.bytes.size());
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  if (text.find("GRIB") != std::string_view::npos) {
    throw Error("the chunk holds several GRIB messages");
  }
  if (message.grid.columns == 0 || message.grid.rows == 0) {
    throw Error("the grid of the GRIB message is empty");
  }
  if (message.bitmap && message.bitmap->size() < (message.grid.point_count() + 7) / 8) {
    throw Error("the bitmap of the GRIB message is truncated");
  }
  return message;
}

}  // namespace gdal_zarr
