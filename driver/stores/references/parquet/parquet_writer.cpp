#include "driver/stores/references/parquet/parquet_writer.h"

#include "driver/stores/references/parquet/page_codec.h"
#include "driver/stores/references/parquet/parquet_page.h"
#include "driver/stores/references/parquet/thrift_reader.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// Sizes of pages are int32.
constexpr std::uint64_t kMaxPageSize = std::uint64_t{1} << 30;

// Writes structs of Thrift's compact protocol; see thrift_reader.h.
class ThriftWriter {
 public:
  void add_number(int id, std::uint64_t value, ThriftType type = ThriftType::int32) {
    begin_field(id, type);
    append_number(value);
  }

  void add_long(int id, std::uint64_t value) { add_number(id, value, ThriftType::int64); }

  void add_text(int id, std::string_view text) {
    begin_field(id, ThriftType::binary);
    append_text(text);
  }

  template <typename Write>
  void add_struct(int id, const Write& write) {
    begin_field(id, ThriftType::structure);
    append_struct(write);
  }

  // An element of a list, or the struct that is the whole.
  template <typename Write>
  void append_struct(const Write& write) {
    const int outer = last_id_;
    last_id_ = 0;
    write();
    text_ += '\0';
    last_id_ = outer;
  }

  // The caller then appends `count` elements.
  void begin_list(int id, ThriftType type, std::size_t count) {
    begin_field(id, ThriftType::list);
    const bool is_short = count < 15;
    text_ += static_cast<char>((is_short ? count : 15) << 4 | static_cast<unsigned>(type));
    if (!is_short) append_varint(count);
  }

  void append_number(std::uint64_t value) { append_varint(value << 1); }  // zigzag

  void append_text(std::string_view text) {
    append_varint(text.size());
    text_ += text;
  }

  void append_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>((value & 0x7f) | 0x80);
    text_ += static_cast<char>(value);
  }

  const std::string& text() const { return text_; }

 private:
  void begin_field(int id, ThriftType type) {
    text_ += static_cast<char>((id - last_id_) << 4 | static_cast<int>(type));
    last_id_ = id;
  }

  std::string text_;
  int last_id_ = 0;
};

template <typename Integer>
void append_integer(std::string& text, Integer value) {
  std::byte bytes[sizeof(Integer)];
  zarrcore::store_integer(value, zarrcore::Endian::little, bytes);
  text.append(reinterpret_cast<const char*>(bytes), sizeof(Integer));
}

// A bit for each text, packed: whether it is not null.
std::string definition_levels(std::span<const std::optional<std::string_view>> texts) {
  const std::uint64_t groups = (texts.size() + 7) / 8;
  ThriftWriter header;
  header.append_varint(groups << 1 | 1);
  std::string bits(groups, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i]) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << (i % 8));
  }
  return header.text() + bits;
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
  ThriftWriter header;
  header.append_struct([&] {
    header.add_number(1, 0);
    header.add_number(2, page.size());
    header.add_number(3, stored.size());
    header.add_struct(5, [&] {
      header.add_number(1, row_count_);
      header.add_number(2, number_of(ParquetEncoding::plain));
      header.add_number(3, number_of(ParquetEncoding::rle));
      header.add_number(4, number_of(ParquetEncoding::rle));
    });
  });
  column.offset = file_.size();
  column.stored_size = header.text().size() + stored.size();
  column.decoded_size = header.text().size() + page.size();
  file_ += header.text();
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
  ThriftWriter footer;
  const auto add_schema = [&] {
    footer.begin_list(2, ThriftType::structure, columns_.size() + 1);
    footer.append_struct([&] {
      footer.add_text(4, "schema");
      footer.add_number(5, columns_.size());
    });
    for (const Column& column : columns_) {
      footer.append_struct([&] {
        footer.add_number(1, static_cast<std::uint64_t>(column.type));
        footer.add_number(3, column.is_optional ? 1 : 0);
        footer.add_text(4, column.name);
        if (column.is_utf8) footer.add_number(6, 0);
      });
    }
  };
  const auto add_column = [&](const Column& column) {
    footer.append_struct([&] {
      footer.add_long(2, column.offset);
      footer.add_struct(3, [&] {
        footer.add_number(1, static_cast<std::uint64_t>(column.type));
        footer.begin_list(2, ThriftType::int32, 2);
        footer.append_number(number_of(ParquetEncoding::plain));
        footer.append_number(number_of(ParquetEncoding::rle));
        footer.begin_list(3, ThriftType::binary, 1);
        footer.append_text(column.name);
        footer.add_number(4, static_cast<std::uint64_t>(ParquetCodec::zstd));
        footer.add_long(5, row_count_);
        footer.add_long(6, column.decoded_size);
        footer.add_long(7, column.stored_size);
        footer.add_long(9, column.offset);
      });
    });
  };
  footer.append_struct([&] {
    footer.add_number(1, 1);
    add_schema();
    footer.add_long(3, row_count_);
    footer.begin_list(4, ThriftType::structure, 1);
    footer.append_struct([&] {
      std::uint64_t decoded_size = 0;
      footer.begin_list(1, ThriftType::structure, columns_.size());
      for (const Column& column : columns_) {
        add_column(column);
        decoded_size += column.decoded_size;
      }
      footer.add_long(2, decoded_size);
      footer.add_long(3, row_count_);
    });
    footer.add_text(6, "gdal-zarr");
  });
  file_ += footer.text();
  append_integer(file_, static_cast<std::uint32_t>(footer.text().size()));
  file_ += "PAR1";
  return std::move(file_);
}

}  // namespace gdal_zarr
