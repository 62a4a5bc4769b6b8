#include "driver/stores/references/parquet/parquet_file.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "driver/stores/references/parquet/parquet_encodings.h"
#include "driver/stores/references/parquet/thrift.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::ByteSpan;
using zarrcore::Error;

constexpr std::string_view kMagic = "PAR1";
constexpr std::string_view kEncryptedMagic = "PARE";
constexpr std::size_t kTrailerSize = 8;
constexpr std::size_t kMaxSchemaElements = 1000;  // files of references have four columns

ParquetType parquet_type(std::int64_t number) {
  if (number < 0 || number > static_cast<int>(ParquetType::fixed_byte_array)) {
    throw Error("the type of a column is not known");
  }
  return static_cast<ParquetType>(number);
}

// The leaves of the tree whose elements `schema` has in depth-first order.
std::vector<ParquetColumn> columns_of(const std::vector<ThriftValue>& schema) {
  if (schema.empty()) throw Error("it has no schema");
  if (schema.size() > kMaxSchemaElements) throw Error("it has too many columns");
  std::vector<ParquetColumn> columns;
  std::uint64_t nested = 0;  // elements that follow and are not children of the root
  for (std::size_t i = 1; i < schema.size(); ++i) {
    const ThriftValue& element = schema[i];
    const bool is_nested = nested > 0;
    if (is_nested) --nested;
    const std::uint64_t child_count = element.field(5).size();
    if (child_count > schema.size()) throw Error("its schema is corrupt");
    nested += child_count;
    const ThriftValue& type = element.field(1);
    if (type.is_missing() || child_count > 0) continue;
    const std::int64_t repetition = element.field(3).number();  // required, optional, repeated
    columns.push_back({element.field(4).text(), parquet_type(type.number()), repetition == 1,
                       is_nested || repetition > 1});
  }
  return columns;
}

ParquetColumnChunk column_chunk_of(const ThriftValue& value) {
  const ThriftValue& metadata = value.field(3);
  const std::uint64_t codec = metadata.field(4).size();
  if (codec > static_cast<std::uint64_t>(ParquetCodec::lz4)) {
    throw Error("the compression " + std::to_string(codec) + " is not known");
  }
  ParquetColumnChunk chunk;
  chunk.type = parquet_type(metadata.field(1).number());
  chunk.codec = static_cast<ParquetCodec>(codec);
  chunk.byte_count = metadata.field(7).size();
  // Some writers store 0 when there is no dictionary.
  const std::uint64_t data_offset = metadata.field(9).size();
  const std::uint64_t dictionary_offset = metadata.field(11).size();
  chunk.offset = dictionary_offset != 0 ? std::min(dictionary_offset, data_offset) : data_offset;
  chunk.is_elsewhere = !value.field(1).text().empty();
  return chunk;
}

void check_footer(const ParquetFooter& footer, std::uint64_t data_end) {
  std::uint64_t rows = 0;
  for (const ParquetRowGroup& group : footer.row_groups) {
    if (group.chunks.size() != footer.columns.size()) {
      throw Error("a row group has " + std::to_string(group.chunks.size()) + " columns, not " +
                  std::to_string(footer.columns.size()));
    }
    for (const ParquetColumnChunk& chunk : group.chunks) {
      if (chunk.is_elsewhere) continue;
      if (chunk.offset > data_end || chunk.byte_count > data_end - chunk.offset) {
        throw Error("a column is not inside the file");
      }
    }
    const auto sum = zarrcore::checked_add(rows, group.row_count);
    if (!sum) throw Error("its rows cannot be counted");
    rows = *sum;
  }
  if (rows != footer.row_count) {
    throw Error("it has " + std::to_string(rows) + " rows, not " +
                std::to_string(footer.row_count));
  }
}

// --- writing

// Sizes of pages are int32.
constexpr std::uint64_t kMaxPageSize = std::uint64_t{1} << 30;

template <typename Integer>
void append_little(std::string& bytes, Integer value) {
  zarrcore::append_integer(bytes, value, zarrcore::Endian::little);
}

// A bit for each text, packed: whether it is not null.
std::string definition_levels(std::span<const std::optional<std::string_view>> texts) {
  const std::uint64_t groups = (texts.size() + 7) / 8;
  std::string bits(groups, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i]) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << (i % 8));
  }
  return thrift_varint(groups << 1 | 1) + bits;
}

constexpr std::uint64_t number_of(ParquetEncoding encoding) {
  return static_cast<std::uint64_t>(encoding);
}

}  // namespace

ParquetFooter read_parquet_footer(ByteSpan file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.ends_with(kEncryptedMagic)) throw Error("it is encrypted");
  if (file.size() < kMagic.size() + kTrailerSize || !text.starts_with(kMagic) ||
      !text.ends_with(kMagic)) {
    throw Error("it is not a complete Parquet file");
  }
  const std::size_t trailer = file.size() - kTrailerSize;
  const auto size =
      zarrcore::load_integer<std::uint32_t>(file.data() + trailer, zarrcore::Endian::little);
  if (size > trailer - kMagic.size()) throw Error("its footer is not inside the file");
  const std::size_t start = trailer - size;
  ByteSpan stored = file.subspan(start, size);
  const ThriftValue metadata = take_thrift_structure(stored);
  ParquetFooter footer;
  footer.columns = columns_of(metadata.field(2).structures());
  footer.row_count = metadata.field(3).size();
  for (const ThriftValue& group : metadata.field(4).structures()) {
    ParquetRowGroup& row_group = footer.row_groups.emplace_back();
    row_group.row_count = group.field(3).size();
    for (const ThriftValue& chunk : group.field(1).structures()) {
      row_group.chunks.push_back(column_chunk_of(chunk));
    }
  }
  check_footer(footer, start);
  return footer;
}

ParquetWriter::ParquetWriter(std::uint64_t row_count) : row_count_(row_count), file_(kMagic) {}

void ParquetWriter::add_page(Column column, std::string_view page) {
  if (page.size() > kMaxPageSize) {
    throw Error("the column " + column.name + " would have " + std::to_string(page.size()) +
                " bytes; the limit is " + std::to_string(kMaxPageSize));
  }
  const zarrcore::Buffer stored = encode_page(std::as_bytes(std::span(page)));
  const std::string header = thrift_bytes(thrift_structure(
      0, {thrift_int32(1, 0), thrift_int32(2, page.size()), thrift_int32(3, stored.size()),
          thrift_structure(
              5, {thrift_int32(1, row_count_), thrift_int32(2, number_of(ParquetEncoding::plain)),
                  thrift_int32(3, number_of(ParquetEncoding::rle)),
                  thrift_int32(4, number_of(ParquetEncoding::rle))})}));
  column.offset = file_.size();
  column.stored_size = header.size() + stored.size();
  column.decoded_size = header.size() + page.size();
  file_ += header;
  file_ += stored.text();
  columns_.push_back(std::move(column));
}

void ParquetWriter::add_numbers(std::string_view name, std::span<const std::int64_t> numbers) {
  std::string page;
  page.reserve(numbers.size() * sizeof(std::int64_t));
  for (const std::int64_t number : numbers) {
    append_little(page, static_cast<std::uint64_t>(number));
  }
  Column column;
  column.name = name;
  add_page(std::move(column), page);
}

void ParquetWriter::add_texts(std::string_view name,
                              std::span<const std::optional<std::string_view>> texts, Texts kind) {
  std::string page;
  const std::string levels = definition_levels(texts);
  append_little(page, static_cast<std::uint32_t>(levels.size()));
  page += levels;
  for (const auto& text : texts) {
    if (!text) continue;
    if (text->size() > kMaxPageSize) throw Error("a value is too large for a Parquet file");
    append_little(page, static_cast<std::uint32_t>(text->size()));
    page += *text;
  }
  Column column;
  column.name = name;
  column.type = ParquetType::byte_array;
  column.is_optional = true;
  column.is_utf8 = kind == Texts::utf8;
  add_page(std::move(column), page);
}

std::string ParquetWriter::finish() {
  std::vector<ThriftValue> schema{
      thrift_structure(0, {thrift_text(4, "schema"), thrift_int32(5, columns_.size())})};
  std::vector<ThriftValue> chunks;
  std::uint64_t decoded_size = 0;
  for (const Column& column : columns_) {
    const auto type = static_cast<std::uint64_t>(column.type);
    std::vector<ThriftValue> element{thrift_int32(1, type),
                                     thrift_int32(3, column.is_optional ? 1 : 0),
                                     thrift_text(4, column.name)};
    if (column.is_utf8) element.push_back(thrift_int32(6, 0));
    schema.push_back(thrift_structure(0, std::move(element)));
    const ThriftValue metadata =
        thrift_structure(3, {thrift_int32(1, type),
                             thrift_list(2, {thrift_int32(0, number_of(ParquetEncoding::plain)),
                                             thrift_int32(0, number_of(ParquetEncoding::rle))}),
                             thrift_list(3, {thrift_text(0, column.name)}),
                             thrift_int32(4, static_cast<std::uint64_t>(ParquetCodec::zstd)),
                             thrift_int64(5, row_count_), thrift_int64(6, column.decoded_size),
                             thrift_int64(7, column.stored_size), thrift_int64(9, column.offset)});
    chunks.push_back(thrift_structure(0, {thrift_int64(2, column.offset), metadata}));
    decoded_size += column.decoded_size;
  }
  const ThriftValue group =
      thrift_structure(0, {thrift_list(1, std::move(chunks)), thrift_int64(2, decoded_size),
                           thrift_int64(3, row_count_)});
  const std::string footer = thrift_bytes(thrift_structure(
      0, {thrift_int32(1, 1), thrift_list(2, std::move(schema)), thrift_int64(3, row_count_),
          thrift_list(4, {group}), thrift_text(6, "gdal-zarr")}));
  file_ += footer;
  append_little(file_, static_cast<std::uint32_t>(footer.size()));
  file_ += kMagic;
  return std::move(file_);
}

}  // namespace gdal_zarr
