#include "driver/stores/references/parquet/parquet_footer.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "driver/stores/references/parquet/thrift.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::ByteSpan;
using zarrcore::Error;
using Structure = ThriftReader::Structure;
using Structures = ThriftReader::Structures;

constexpr std::string_view kMagic = "PAR1";
constexpr std::string_view kEncryptedMagic = "PARE";
constexpr std::size_t kTrailerSize = 8;
// Files of references have four columns, and few row groups.
constexpr std::size_t kMaxSchemaElements = 1000;
constexpr std::size_t kMaxColumnChunks = 1'000'000;

struct SchemaElement {
  std::string name;
  std::optional<std::int64_t> type;
  std::int64_t repetition = 0;  // required, optional, repeated
  std::uint64_t child_count = 0;
};

ParquetType parquet_type(std::int64_t number) {
  if (number < 0 || number > static_cast<int>(ParquetType::fixed_byte_array)) {
    throw Error("the type of a column is not known");
  }
  return static_cast<ParquetType>(number);
}

// The leaves of the tree whose elements `schema` has in depth-first order.
std::vector<ParquetColumn> columns_of(const std::vector<SchemaElement>& schema) {
  if (schema.empty()) throw Error("it has no schema");
  std::vector<ParquetColumn> columns;
  std::uint64_t nested = 0;  // elements that follow and are not children of the root
  for (std::size_t i = 1; i < schema.size(); ++i) {
    const SchemaElement& element = schema[i];
    const bool is_nested = nested > 0;
    if (is_nested) --nested;
    if (element.child_count > schema.size()) throw Error("its schema is corrupt");
    nested += element.child_count;
    if (!element.type || element.child_count > 0) continue;
    columns.push_back({element.name, parquet_type(*element.type), element.repetition == 1,
                       is_nested || element.repetition > 1});
  }
  return columns;
}

ParquetColumnChunk read_column_chunk(ThriftReader& reader) {
  ParquetColumnChunk chunk;
  std::string file;
  std::int64_t type = 0;
  std::uint64_t codec = 0;
  std::uint64_t data_offset = 0;
  std::uint64_t dictionary_offset = 0;
  reader.read({{1, &file}, {3, Structure{[&] {
                              reader.read({{1, &type},
                                           {4, &codec},
                                           {7, &chunk.byte_count},
                                           {9, &data_offset},
                                           {11, &dictionary_offset}});
                            }}}});
  if (codec > static_cast<std::uint64_t>(ParquetCodec::lz4)) {
    throw Error("the compression " + std::to_string(codec) + " is not known");
  }
  chunk.type = parquet_type(type);
  chunk.codec = static_cast<ParquetCodec>(codec);
  // Some writers store 0 when there is no dictionary.
  chunk.offset = dictionary_offset != 0 ? std::min(dictionary_offset, data_offset) : data_offset;
  chunk.is_elsewhere = !file.empty();
  return chunk;
}

// `chunk_count` is the number of column chunks that have been read.
ParquetRowGroup read_row_group(ThriftReader& reader, std::size_t& chunk_count) {
  if (++chunk_count > kMaxColumnChunks) throw Error("it has too many row groups");
  ParquetRowGroup group;
  reader.read({{1, Structures{[&] {
                  if (++chunk_count > kMaxColumnChunks)
                    throw Error("it has too many column chunks");
                  group.chunks.push_back(read_column_chunk(reader));
                }}},
               {3, &group.row_count}});
  return group;
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
  ThriftReader reader(file.subspan(start, size));
  ParquetFooter footer;
  std::vector<SchemaElement> schema;
  std::size_t chunk_count = 0;
  const auto read_schema_element = [&] {
    if (schema.size() == kMaxSchemaElements) throw Error("it has too many columns");
    SchemaElement& element = schema.emplace_back();
    reader.read({{1, &element.type},
                 {3, &element.repetition},
                 {4, &element.name},
                 {5, &element.child_count}});
  };
  reader.read(
      {{2, Structures{read_schema_element}},
       {3, &footer.row_count},
       {4, Structures{[&] { footer.row_groups.push_back(read_row_group(reader, chunk_count)); }}}});
  footer.columns = columns_of(schema);
  check_footer(footer, start);
  return footer;
}

}  // namespace gdal_zarr
