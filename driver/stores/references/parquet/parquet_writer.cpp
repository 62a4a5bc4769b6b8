#include "driver/stores/references/parquet/parquet_writer.h"

#include "driver/stores/references/parquet/parquet_encodings.h"
#include "driver/stores/references/parquet/thrift.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// Sizes of pages are int32.
constexpr std::uint64_t kMaxPageSize = std::uint64_t{1} << 30;

template <typename Integer>
void append_integer(std::string& text, Integer value) {
  std::byte bytes[sizeof(Integer)];
  zarrcore::store_integer(value, zarrcore::Endian::little, bytes);
  text.append(reinterpret_cast<const char*>(bytes), sizeof(Integer));
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

ParquetWriter::ParquetWriter(std::uint64_t row_count) : row_count_(row_count), file_("PAR1") {}

void ParquetWriter::add_page(Column column, std::string_view page) {
  if (page.size() > kMaxPageSize) {
    throw Error("the column " + column.name + " would have " + std::to_string(page.size()) +
                " bytes; the limit is " + std::to_string(kMaxPageSize));
  }
  const zarrcore::Buffer stored = encode_page(std::as_bytes(std::span(page)));
  using Field = ThriftField;
  const std::string header = thrift_structure(
      {Field::int32(1, 0), Field::int32(2, page.size()), Field::int32(3, stored.size()),
       Field::structure(
           5, {Field::int32(1, row_count_), Field::int32(2, number_of(ParquetEncoding::plain)),
               Field::int32(3, number_of(ParquetEncoding::rle)),
               Field::int32(4, number_of(ParquetEncoding::rle))})});
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
    append_integer(page, static_cast<std::uint64_t>(number));
  }
  Column column;
  column.name = name;
  add_page(std::move(column), page);
}

void ParquetWriter::add_texts(std::string_view name,
                              std::span<const std::optional<std::string_view>> texts, Texts kind) {
  std::string page;
  const std::string levels = definition_levels(texts);
  append_integer(page, static_cast<std::uint32_t>(levels.size()));
  page += levels;
  for (const auto& text : texts) {
    if (!text) continue;
    if (text->size() > kMaxPageSize) throw Error("a value is too large for a Parquet file");
    append_integer(page, static_cast<std::uint32_t>(text->size()));
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
  using Field = ThriftField;
  std::vector<std::string> schema{
      thrift_structure({Field::text(4, "schema"), Field::int32(5, columns_.size())})};
  std::vector<std::string> chunks;
  std::uint64_t decoded_size = 0;
  for (const Column& column : columns_) {
    const auto type = static_cast<std::uint64_t>(column.type);
    std::vector<Field> element{Field::int32(1, type), Field::int32(3, column.is_optional ? 1 : 0),
                               Field::text(4, column.name)};
    if (column.is_utf8) element.push_back(Field::int32(6, 0));
    schema.push_back(thrift_structure(element));
    const Field metadata =
        Field::structure(3, {Field::int32(1, type),
                             Field::list(2, ThriftType::int32,
                                         {thrift_number(number_of(ParquetEncoding::plain)),
                                          thrift_number(number_of(ParquetEncoding::rle))}),
                             Field::list(3, ThriftType::binary, {thrift_text(column.name)}),
                             Field::int32(4, static_cast<std::uint64_t>(ParquetCodec::zstd)),
                             Field::int64(5, row_count_), Field::int64(6, column.decoded_size),
                             Field::int64(7, column.stored_size), Field::int64(9, column.offset)});
    chunks.push_back(thrift_structure({Field::int64(2, column.offset), metadata}));
    decoded_size += column.decoded_size;
  }
  const std::string group =
      thrift_structure({Field::list(1, ThriftType::structure, chunks),
                        Field::int64(2, decoded_size), Field::int64(3, row_count_)});
  const std::string footer =
      thrift_structure({Field::int32(1, 1), Field::list(2, ThriftType::structure, schema),
                        Field::int64(3, row_count_), Field::list(4, ThriftType::structure, {group}),
                        Field::text(6, "gdal-zarr")});
  file_ += footer;
  append_integer(file_, static_cast<std::uint32_t>(footer.size()));
  file_ += "PAR1";
  return std::move(file_);
}

}  // namespace gdal_zarr
