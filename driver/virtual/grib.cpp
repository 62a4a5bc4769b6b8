#include "driver/virtual/grib.h"

#include <cpl_string.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "driver/codecs/grib_message.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/virtual/raster_blocks.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteRange;
using zarrcore::Endian;
using zarrcore::Error;

// Where the next message begins; nullopt at the end.
std::optional<std::uint64_t> find_message(VSILFILE* file, std::uint64_t from, std::uint64_t size) {
  constexpr std::uint64_t kStep = 64 << 10;
  constexpr std::uint64_t kMark = 4;
  while (from + kMark <= size) {
    const Buffer bytes = read_bytes(file, from, std::min(kStep, size - from));
    const auto found = bytes.text().find("GRIB");
    if (found != std::string_view::npos) return from + found;
    from += bytes.size() - kMark + 1;
  }
  return std::nullopt;
}

constexpr std::uint64_t kHeader = 16;

// The messages, by their lengths. Throws Error if they are not the bands.
std::vector<ByteRange> find_messages(VSILFILE* file, std::uint64_t bands) {
  const std::uint64_t size = file_size(file);
  std::vector<ByteRange> messages;
  for (std::uint64_t at = 0; const auto start = find_message(file, at, size);) {
    const std::string name = "message " + std::to_string(messages.size() + 1);
    zarrcore::with_context(name, [&] {
      zarrcore::resolve_range(ByteRange::at(*start, kHeader), size);
      const Buffer header = read_bytes(file, *start, kHeader);
      const auto edition = std::to_integer<unsigned>(header.data()[7]);
      if (edition != 1 && edition != 2) {
        throw Error("it is of the unknown edition " + std::to_string(edition));
      }
      const std::uint64_t length =
          edition == 2 ? zarrcore::load_integer<std::uint64_t>(header.data() + 8, Endian::big)
                       : zarrcore::load_integer<std::uint32_t>(header.data() + 4, Endian::big) >> 8;
      const ByteRange message = ByteRange::at(*start, length);
      zarrcore::resolve_range(message, size);
      if (length < kHeader) throw Error("its length is not valid");
      messages.push_back(message);
      at = *start + length;
    });
  }
  if (messages.size() != bands) {
    throw Error("it has " + std::to_string(messages.size()) + " messages and " +
                std::to_string(bands) + " bands: messages with several fields cannot be chunks");
  }
  return messages;
}

// Calls the function with the file, and the messages in it.
template <typename Function>
auto with_messages(GDALDataset& dataset, const Function& function) {
  const CPLStringList files(dataset.GetFileList());
  const std::string path = files.empty() ? dataset.GetDescription() : files[0];
  return zarrcore::with_context({path}, [&] {
    const File file = open_file(path);
    if (!file) throw Error("the file does not exist");
    const auto bands = static_cast<std::uint64_t>(dataset.GetRasterCount());
    return function(path, file.get(), find_messages(file.get(), bands));
  });
}

// GDAL shows rows from the north. kerchunk's codec gives values in the order of the message;
// gribberish can turn them.
void set_codec(std::uint8_t scanning, RasterBlocks& blocks) {
  constexpr std::uint8_t kFromSouth = 0x40;
  if (scanning != 0 && scanning != kFromSouth) {
    throw Error("its points do not run from west to east, row after row");
  }
  blocks.codecs = {{"bytes", {{"endian", "little"}}},
                   {"numcodecs.grib", {{"var", "values"}, {"dtype", "float64"}}}};
  if (scanning == kFromSouth) {
    blocks.codecs.back() = {"numcodecs.gribberish", {{"var", "values"}, {"north_up", true}}};
  }
}

GribGrid grid_of(const Buffer& bytes, const RasterBlocks& blocks) {
  const GribMessage message = parse_grib(bytes.span());
  if (message.grid.columns != blocks.columns || message.grid.rows != blocks.rows) {
    throw Error("its grid has another size than that of the first message");
  }
  return message.grid;
}

std::string item_of(GDALRasterBand& band, const char* name) {
  const char* const value = band.GetMetadataItem(name);
  return value != nullptr ? value : "";
}

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double value = CPLStrtod(text.c_str(), &end);
  const bool is_number = !text.empty() && end == text.c_str() + text.size();
  return is_number ? std::optional(value) : std::nullopt;
}

// What a code of a code table means; empty if the table has no such code.
std::string meaning(std::span<const char* const> table, std::size_t code) {
  return code < table.size() ? table[code] : "";
}

constexpr const char* kStatistics[] = {
    "average",   "accumulation", "maximum",    "minimum", "difference", "root mean square",
    "deviation", "covariance",   "difference", "ratio",   "anomaly",    "sum"};
constexpr const char* kDerived[] = {"ensemble mean",      "weighted ensemble mean",
                                    "ensemble deviation", "normalized ensemble deviation",
                                    "ensemble spread",    "ensemble anomaly index",
                                    "cluster mean",       "ensemble interquartile range",
                                    "ensemble minimum",   "ensemble maximum"};

// A product definition template (4.x): the places, counted from 0, of the member of an ensemble, of
// what else distinguishes products, and of the first kind of statistics over time; -1 for none.
struct Product {
  enum class Wording : std::uint8_t { none, comment, code };

  int number;
  int member;
  int first;
  int last;
  int statistics;
  // Where words say what distinguishes it: GDAL's comment, or a code of kDerived.
  Wording wording = Wording::none;
};
constexpr int kEnd = 255;  // of any template
using Wording = Product::Wording;
constexpr Product kProducts[] = {{0, -1, -1, -1, -1},
                                 {1, 16, -1, -1, -1},
                                 {2, -1, 15, 15, -1, Wording::code},
                                 {5, -1, 15, 21, -1, Wording::comment},
                                 {6, -1, 15, 15, -1, Wording::comment},
                                 {8, -1, -1, -1, 23},
                                 {9, -1, 15, 21, 30, Wording::comment},
                                 {10, -1, 15, 15, 24, Wording::comment},
                                 {11, 16, -1, -1, 26},
                                 {12, -1, 15, 15, 25, Wording::code},
                                 {15, -1, 15, kEnd, -1},
                                 {32, -1, 9, kEnd, -1},
                                 {40, -1, 2, 2, -1},
                                 {48, -1, 2, 12, -1}};
constexpr Product kUnknown{-1, -1, 2, kEnd, -1};

void describe_product(GDALRasterBand& band, const std::string& definition, GribField& field) {
  const CPLStringList values(
      CSLTokenizeString(item_of(band, "GRIB_PDS_TEMPLATE_ASSEMBLED_VALUES").c_str()));
  const auto value_at = [&](int place) -> std::string {
    return place >= 0 && place < values.size() ? values[place] : "";
  };
  const auto code_at = [&](int place) -> std::size_t {
    const std::string value = value_at(place);
    return value.empty() ? std::size_t{kEnd} : std::strtoul(value.c_str(), nullptr, 10);
  };
  const auto* product =
      std::ranges::find(kProducts, std::atoi(definition.c_str()), &Product::number);
  if (product == std::end(kProducts)) product = &kUnknown;
  field.member = number_of(value_at(product->member));
  for (int place = product->first; place >= 0 && place <= product->last; ++place) {
    if (place < values.size()) field.kind += ' ' + value_at(place);
  }
  if (!field.kind.empty()) field.kind = "product 4." + definition + ':' + field.kind;
  if (product->wording == Wording::none) field.words = field.kind;
  if (product->wording == Wording::code) field.words = meaning(kDerived, code_at(product->first));
  if (product->statistics < 0) return;
  // Statistics of statistics, such as means of maxima, have several ranges of time.
  constexpr int kRange = 6;
  std::string words;
  const int count = std::atoi(value_at(product->statistics - 2).c_str());
  for (int i = 0; i < std::min(count, values.size()); ++i) {
    const int place = product->statistics + i * kRange;
    field.kind += '/' + value_at(place);
    const std::string word = meaning(kStatistics, code_at(place));
    if (!word.empty()) words += (words.empty() ? "" : " of ") + word;
  }
  if (!words.empty() && !field.words.empty()) words += ", ";
  field.words = words + field.words;
}

// How values of edition 1 relate to time.
struct TimeRange {
  const char* words;
  std::array<unsigned, 5> indicators;  // code table 5; zeros fill the rest
};
constexpr TimeRange kTimeRanges[] = {{"", {0, 1, 10}},
                                     {"range", {2}},
                                     {"average", {3, 113, 115, 117, 123}},
                                     {"accumulation", {4, 114, 116, 124}},
                                     {"difference", {5}},
                                     {"climatological mean", {51}},
                                     {"variance", {118}},
                                     {"deviation", {119, 125}}};

// Edition 1. Octets are counted from 1 as in the manual.
void describe_product(zarrcore::ByteSpan section, GribField& field) {
  const auto octet = [&](std::size_t number) {
    return number <= section.size() ? std::to_integer<unsigned>(section[number - 1]) : 0;
  };
  section = section.first(
      std::min<std::size_t>(section.size(), octet(1) << 16 | octet(2) << 8 | octet(3)));
  const unsigned indicator = octet(21);
  const auto* range = std::ranges::find_if(kTimeRanges, [&](const TimeRange& candidate) {
    return std::ranges::count(candidate.indicators, indicator) != 0;
  });
  if (range != std::begin(kTimeRanges)) {
    field.kind = "time range " + std::to_string(indicator);
    field.words = range != std::end(kTimeRanges) ? range->words : field.kind;
  }
  // ECMWF's labels of MARS: the type of a field, and the number of a member of an ensemble.
  constexpr unsigned kEcmwf = 98;
  constexpr unsigned kDefinitions[] = {1, 30, 36};
  if (octet(5) != kEcmwf || std::ranges::count(kDefinitions, octet(41)) == 0) return;
  constexpr unsigned kAtATime[] = {2, 9, 10, 11};  // analysis, forecast, control, perturbed
  const unsigned type = octet(43);
  if (std::ranges::count(kAtATime, type) == 0) {
    const std::string words = "type " + std::to_string(type);
    field.kind += '/' + words;
    field.words += (field.words.empty() ? "" : ", ") + words;
  }
  if (octet(50) != 0 || octet(51) != 0) field.member = octet(50);
}

}  // namespace

std::vector<Buffer> read_grib1_products(GDALDataset& dataset) {
  std::vector<Buffer> products(static_cast<std::size_t>(dataset.GetRasterCount()));
  bool has_first_edition = false;
  for (int band = 1; band <= dataset.GetRasterCount(); ++band) {
    has_first_edition |= dataset.GetRasterBand(band)->GetMetadataItem("GRIB_PDS_PDTN") == nullptr;
  }
  if (!has_first_edition) return products;
  with_messages(dataset, [&](const auto& /*path*/, VSILFILE* file, const auto& messages) {
    constexpr std::uint64_t kStart = 8;
    constexpr std::uint64_t kSize = 51;  // all that is looked at
    for (std::size_t i = 0; i < products.size(); ++i) {
      const ByteRange& message = messages[i];
      const Buffer bytes =
          read_bytes(file, message.offset, std::min(kStart + kSize, message.length));
      if (bytes.data()[7] == std::byte{1}) {
        products[i] = Buffer::copy_of(bytes.span().subspan(kStart));
      }
    }
  });
  return products;
}

RasterBlocks find_grib_blocks(GDALDataset& dataset, BlockCheck check) {
  RasterBlocks blocks;
  blocks.bands = static_cast<std::uint64_t>(dataset.GetRasterCount());
  blocks.rows = blocks.block_rows = static_cast<std::uint64_t>(dataset.GetRasterYSize());
  blocks.columns = blocks.block_columns = static_cast<std::uint64_t>(dataset.GetRasterXSize());
  blocks.data_type = {zarrcore::TypeKind::floating, 8};
  blocks.has_nan_for_nodata = true;
  std::string path;
  const auto messages = with_messages(
      dataset, [&](const auto& name_of_file, VSILFILE* file, std::vector<ByteRange> found) {
        path = name_of_file;
        std::uint8_t scanning = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
          const std::string name = "message " + std::to_string(i + 1);
          zarrcore::with_context(name, [&] {
            const auto grid = grid_of(read_bytes(file, found[i].offset, found[i].length), blocks);
            if (i > 0 && grid.scanning != scanning) throw Error("its points have another order");
            scanning = grid.scanning;
          });
        }
        set_codec(scanning, blocks);
        return std::make_shared<const std::vector<ByteRange>>(std::move(found));
      });
  blocks.visit = [path, messages](const VisitBlock& visit) {
    for (std::size_t i = 0; i < messages->size(); ++i) {
      if (!visit({i, 0, 0, file_part(path, (*messages)[i])})) return;
    }
  };
  const auto is_off = [](const char* option) {
    return !CPLTestBool(CPLGetConfigOption(option, "YES"));
  };
  const bool checks_all = check == BlockCheck::first || !is_off("GRIB_NORMALIZE_UNITS") ||
                          !is_off("GRIB_ADJUST_LONGITUDE_RANGE");
  try {
    blocks.visit([&](const RasterBlock& block) {
      check_block(blocks, block, dataset, 1);
      return checks_all;
    });
  } catch (const Error& problem) {
    throw Error(path + ": " + problem.what() +
                ", unless the configuration option GRIB_NORMALIZE_UNITS is NO");
  }
  return blocks;
}

bool GribField::is_alike(const GribField& other) const {
  return element == other.element && comment == other.comment && kind == other.kind &&
         level_type == other.level_type && level.has_value() == other.level.has_value() &&
         member.has_value() == other.member.has_value();
}

GribField describe_grib_band(GDALRasterBand& band, zarrcore::ByteSpan product) {
  GribField field;
  field.element = item_of(band, "GRIB_ELEMENT");
  if (field.element.empty()) field.element = "unknown";
  field.comment = item_of(band, "GRIB_COMMENT");
  const std::string definition = item_of(band, "GRIB_PDS_PDTN");
  if (definition.empty()) {
    describe_product(product, field);
  } else if (field.comment == "unknown") {
    throw Error("GDAL does not know its product definition template 4." + definition);
  } else {
    describe_product(band, definition, field);
  }
  field.level_type = item_of(band, "GRIB_SHORT_NAME");
  const auto dash = field.level_type.rfind('-');
  if (dash == std::string::npos) return field;
  field.level = number_of(field.level_type.substr(0, dash));
  if (field.level) field.level_type.erase(0, dash + 1);
  return field;
}

}  // namespace gdal_zarr
