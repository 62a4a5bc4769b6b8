// Reads the values of a column: of its pages in each row group.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "driver/stores/references/parquet/parquet_encodings.h"
#include "driver/stores/references/parquet/parquet_file.h"
#include "driver/stores/references/parquet/thrift.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::Error;

constexpr std::int64_t kMaxParquetEncoding = 9;  // of those that the format has

// A page: a header, and bytes.
struct Page {
  enum Type : std::uint8_t { data = 0, dictionary = 2, data_version_2 = 3 };

  std::int64_t type = -1;
  ByteSpan bytes;                  // as they are stored
  std::uint64_t decoded_size = 0;  // in bytes, with the levels
  std::uint64_t value_count = 0;   // with those that are null
  std::int64_t encoding = 0;
  // For data pages of version 2.
  bool is_version_2 = false;
  bool is_compressed = true;
  std::uint64_t definition_bytes = 0;
  std::uint64_t repetition_bytes = 0;
};

// Removes the first page from `pages`.
Page take_page(ByteSpan& pages) {
  const ThriftValue header = take_thrift_structure(pages);
  Page page;
  page.type = header.field(1).number(page.type);
  page.decoded_size = header.field(2).size();
  const std::uint64_t stored_size = header.field(3).size();
  const ThriftValue& version_2 = header.field(8);
  page.is_version_2 = !version_2.is_missing();
  // The headers of data pages and of dictionaries begin alike.
  const ThriftValue& values = page.is_version_2              ? version_2
                              : header.field(5).is_missing() ? header.field(7)
                                                             : header.field(5);
  page.value_count = values.field(1).size();
  page.encoding = values.field(page.is_version_2 ? 4 : 2).number();
  page.definition_bytes = version_2.field(5).size();
  page.repetition_bytes = version_2.field(6).size();
  page.is_compressed = version_2.field(7).flag(true);
  if (page.encoding < 0 || page.encoding > kMaxParquetEncoding) {
    throw Error("the encoding " + std::to_string(page.encoding) + " is not known");
  }
  ByteReader stored(pages);
  page.bytes = stored.take(stored_size);
  pages = stored.rest();
  return page;
}

// Values that are not null, in order.
struct DenseValues {
  std::vector<std::int64_t> numbers;
  std::vector<ByteSpan> texts;
};

std::int64_t integer_of(double value) {
  // Programs that have no null integers use floating-point numbers.
  if (!(std::abs(value) <= 9007199254740992.0) || value != std::floor(value)) {
    throw Error(std::to_string(value) + " is not an integer");
  }
  return static_cast<std::int64_t>(value);
}

class ColumnReader {
 public:
  ColumnReader(ParquetKind kind, ParquetType type, ParquetCodec codec, bool is_optional,
               ParquetValues& values)
      : kind_(kind), type_(type), codec_(codec), is_optional_(is_optional), values_(values) {}

  // Reads the pages of a column chunk, which have `row_count` values.
  void read(ByteSpan pages, std::uint64_t row_count);

 private:
  void read_dictionary(const Page& page);
  void read_data(const Page& page);
  ByteSpan decoded(ByteSpan bytes, std::uint64_t size);
  DenseValues decode_values(ParquetEncoding encoding, ByteReader& bytes, std::uint64_t count);
  DenseValues decode_plain(ByteReader& bytes, std::uint64_t count) const;
  DenseValues look_up(ByteReader& bytes, std::uint64_t count) const;
  void append(const std::vector<std::uint32_t>& levels, const DenseValues& dense);

  ParquetKind kind_;
  ParquetType type_;
  ParquetCodec codec_;
  bool is_optional_;
  ParquetValues& values_;
  std::optional<DenseValues> dictionary_;
};

bool is_number(ParquetType type) {
  return type == ParquetType::int32 || type == ParquetType::int64 || type == ParquetType::float64;
}

void ColumnReader::read(ByteSpan pages, std::uint64_t row_count) {
  const std::uint64_t end = values_.is_null.size() + row_count;
  while (values_.is_null.size() < end) {
    const Page page = take_page(pages);
    if (page.type == Page::dictionary) {
      read_dictionary(page);
    } else if (page.type == Page::data || page.type == Page::data_version_2) {
      if (page.value_count > end - values_.is_null.size()) {
        throw Error("a page has more values than its row group");
      }
      read_data(page);
    }
  }
}

// `bytes` decompressed; they stay in the storage.
ByteSpan ColumnReader::decoded(ByteSpan bytes, std::uint64_t size) {
  if (codec_ == ParquetCodec::none) {
    if (bytes.size() != size) throw Error("a page has the wrong size");
    return bytes;
  }
  if (size > kMaxParquetBytes - values_.stored_bytes) {
    throw Error("it has more than " + std::to_string(kMaxParquetBytes) + " bytes");
  }
  values_.storage.push_back(decode_page(codec_, bytes, size));
  values_.stored_bytes += size;
  return values_.storage.back().span();
}

void ColumnReader::read_dictionary(const Page& page) {
  if (page.value_count > kMaxParquetRows) throw Error("a dictionary has too many values");
  ByteReader bytes(decoded(page.bytes, page.decoded_size));
  dictionary_ = decode_plain(bytes, page.value_count);
}

void ColumnReader::read_data(const Page& page) {
  const std::uint64_t count = page.value_count;
  std::vector<std::uint32_t> levels(is_optional_ ? 0 : count, 1);
  ByteReader bytes(page.bytes);
  if (page.is_version_2) {
    // Levels are stored before the values and are never compressed.
    bytes.take(page.repetition_bytes);
    ByteReader stored(bytes.take(page.definition_bytes));
    if (is_optional_) levels = decode_runs(stored, 1, count);
    const std::uint64_t level_bytes = page.bytes.size() - bytes.size();
    if (page.decoded_size < level_bytes) throw Error("a page has the wrong size");
    if (page.is_compressed) {
      bytes = ByteReader(decoded(bytes.take(bytes.size()), page.decoded_size - level_bytes));
    }
  } else {
    bytes = ByteReader(decoded(page.bytes, page.decoded_size));
    if (is_optional_) {
      ByteReader stored(bytes.take(bytes.take_number(sizeof(std::uint32_t))));
      levels = decode_runs(stored, 1, count);
    }
  }
  const auto present = static_cast<std::uint64_t>(std::count(levels.begin(), levels.end(), 1U));
  append(levels, decode_values(static_cast<ParquetEncoding>(page.encoding), bytes, present));
}

DenseValues ColumnReader::decode_values(ParquetEncoding encoding, ByteReader& bytes,
                                        std::uint64_t count) {
  if (count == 0) return {};
  const bool is_text = kind_ == ParquetKind::texts;
  if (is_text ? type_ != ParquetType::byte_array : !is_number(type_)) {
    throw Error(is_text ? "it does not hold text" : "it does not hold integers");
  }
  const bool is_integer = type_ == ParquetType::int32 || type_ == ParquetType::int64;
  DenseValues values;
  switch (encoding) {
    case ParquetEncoding::plain:
      return decode_plain(bytes, count);
    case ParquetEncoding::plain_dictionary:
    case ParquetEncoding::rle_dictionary:
      return look_up(bytes, count);
    case ParquetEncoding::delta_binary_packed:
      if (!is_integer) break;
      values.numbers = decode_deltas(bytes, count);
      // Sums of 32 bits wrap around in 32 bits.
      if (type_ == ParquetType::int32) {
        for (std::int64_t& number : values.numbers) number = static_cast<std::int32_t>(number);
      }
      return values;
    case ParquetEncoding::delta_length_byte_array:
      if (!is_text) break;
      values.texts = decode_delta_lengths(bytes, count);
      return values;
    case ParquetEncoding::delta_byte_array: {
      if (!is_text) break;
      Buffer storage;
      values.texts =
          decode_delta_texts(bytes, count, kMaxParquetBytes - values_.stored_bytes, storage);
      values_.stored_bytes += storage.size();
      values_.storage.push_back(std::move(storage));
      return values;
    }
    default:
      break;
  }
  throw Error("the encoding " + std::to_string(static_cast<int>(encoding)) +
              " is not supported here");
}

DenseValues ColumnReader::decode_plain(ByteReader& bytes, std::uint64_t count) const {
  DenseValues values;
  if (type_ == ParquetType::byte_array) {
    // Each value takes at least its length.
    if (count > bytes.size() / sizeof(std::uint32_t)) throw Error("its data ends early");
    values.texts.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      values.texts.push_back(bytes.take(bytes.take_number(sizeof(std::uint32_t))));
    }
    return values;
  }
  if (!is_number(type_)) return values;
  const std::uint64_t size = type_ == ParquetType::int32 ? 4 : 8;
  if (count > bytes.size() / size) throw Error("its data ends early");
  values.numbers.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (type_ == ParquetType::int32) {
      values.numbers.push_back(static_cast<std::int32_t>(bytes.take_number(4)));
    } else if (const std::uint64_t number = bytes.take_number(8); type_ == ParquetType::int64) {
      values.numbers.push_back(static_cast<std::int64_t>(number));
    } else {
      const auto value = std::bit_cast<double>(number);
      values.numbers.push_back(std::isnan(value) ? 0 : integer_of(value));
    }
  }
  return values;
}

DenseValues ColumnReader::look_up(ByteReader& bytes, std::uint64_t count) const {
  if (!dictionary_) throw Error("a dictionary is missing");
  const auto bit_width = static_cast<unsigned>(bytes.take_number(1));
  const std::uint64_t size = std::max(dictionary_->numbers.size(), dictionary_->texts.size());
  DenseValues values;
  for (const std::uint32_t index : decode_runs(bytes, bit_width, count)) {
    if (index >= size) throw Error("a value is not in its dictionary");
    if (kind_ == ParquetKind::texts) {
      values.texts.push_back(dictionary_->texts[index]);
    } else {
      values.numbers.push_back(dictionary_->numbers[index]);
    }
  }
  return values;
}

void ColumnReader::append(const std::vector<std::uint32_t>& levels, const DenseValues& dense) {
  std::size_t next = 0;
  for (const std::uint32_t level : levels) {
    const bool is_null = level != 1;
    values_.is_null.push_back(is_null);
    if (kind_ == ParquetKind::texts) {
      values_.texts.push_back(is_null ? ByteSpan() : dense.texts[next]);
    } else {
      values_.numbers.push_back(is_null ? 0 : dense.numbers[next]);
    }
    if (!is_null) ++next;
  }
}

ParquetValues read_column(ByteSpan file, const ParquetFooter& footer, std::size_t index,
                          ParquetKind kind) {
  const ParquetColumn& column = footer.columns[index];
  if (column.is_nested) throw Error("it holds lists or structures");
  if (footer.row_count > kMaxParquetRows) {
    throw Error("it has " + std::to_string(footer.row_count) + " rows; the limit is " +
                std::to_string(kMaxParquetRows));
  }
  ParquetValues values;
  for (const ParquetRowGroup& group : footer.row_groups) {
    const ParquetColumnChunk& chunk = group.chunks[index];
    if (chunk.is_elsewhere) throw Error("its values are in another file");
    if (chunk.type != column.type) throw Error("its type differs from the schema's");
    ColumnReader reader(kind, chunk.type, chunk.codec, column.is_optional, values);
    reader.read(file.subspan(chunk.offset, chunk.byte_count), group.row_count);
  }
  return values;
}

}  // namespace

std::optional<ParquetValues> read_parquet_column(ByteSpan file, const ParquetFooter& footer,
                                                 std::string_view name, ParquetKind kind) {
  const auto it = std::ranges::find(footer.columns, name, &ParquetColumn::name);
  if (it == footer.columns.end()) return std::nullopt;
  return zarrcore::with_context({"column ", name}, [&] {
    return read_column(file, footer, static_cast<std::size_t>(it - footer.columns.begin()), kind);
  });
}

}  // namespace gdal_zarr
