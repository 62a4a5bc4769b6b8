#include "driver/stores/references/parquet/parquet_page.h"

#include "driver/stores/references/parquet/parquet_encodings.h"
#include "driver/stores/references/parquet/thrift_reader.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using PageField = ThriftReader::Field;

ParquetEncoding encoding_of(std::int64_t number) {
  if (number < 0 || number > static_cast<int>(ParquetEncoding::byte_stream_split)) {
    throw Error("the encoding " + std::to_string(number) + " is not known");
  }
  return static_cast<ParquetEncoding>(number);
}

// The headers of data pages and of dictionaries begin alike.
void read_header_of_values(ThriftReader& reader, const PageField& field, ParquetPage& page) {
  reader.check_is_struct(field);
  reader.read_struct([&](const PageField& member) {
    if (member.id == 1) {
      page.value_count = reader.read_unsigned(member);
      return true;
    }
    if (member.id != 2) return false;
    page.encoding = encoding_of(reader.read_integer(member));
    return true;
  });
}

void read_header_version_2(ThriftReader& reader, const PageField& field, ParquetPage& page) {
  reader.check_is_struct(field);
  page.is_version_2 = true;
  reader.read_struct([&](const PageField& member) {
    switch (member.id) {
      case 1:
        page.value_count = reader.read_unsigned(member);
        return true;
      case 4:
        page.encoding = encoding_of(reader.read_integer(member));
        return true;
      case 5:
        page.definition_bytes = reader.read_unsigned(member);
        return true;
      case 6:
        page.repetition_bytes = reader.read_unsigned(member);
        return true;
      case 7:
        page.is_compressed = reader.read_bool(member);
        return true;
      default:
        return false;
    }
  });
}

}  // namespace

ParquetPage take_parquet_page(zarrcore::ByteSpan& pages) {
  ThriftReader reader(pages);
  ParquetPage page;
  std::uint64_t stored_size = 0;
  reader.read_struct([&](const PageField& field) {
    switch (field.id) {
      case 1: {
        const std::int64_t type = reader.read_integer(field);
        if (type == 0 || type == 3) page.kind = ParquetPage::Kind::data;
        if (type == 2) page.kind = ParquetPage::Kind::dictionary;
        return true;
      }
      case 2:
        page.decoded_size = reader.read_unsigned(field);
        return true;
      case 3:
        stored_size = reader.read_unsigned(field);
        return true;
      case 5:
      case 7:
        read_header_of_values(reader, field, page);
        return true;
      case 8:
        read_header_version_2(reader, field, page);
        return true;
      default:
        return false;
    }
  });
  take_bytes(pages, reader.position());
  page.bytes = take_bytes(pages, stored_size);
  return page;
}

}  // namespace gdal_zarr
