#include "driver/stores/references/reference_table.h"

#include <string_view>
#include <unordered_map>

#include "driver/stores/references/parquet/parquet_column.h"
#include "driver/stores/references/parquet/parquet_writer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text_encoding.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::Error;

constexpr std::uint64_t kMaxTableBytes = std::uint64_t{256} << 20;

std::string_view text_of(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Some writers store the text that encodes bytes in JSON ("base64:…").
Buffer inline_value(ByteSpan raw) {
  constexpr std::string_view kBase64 = "base64:";
  if (text_of(raw).starts_with(kBase64)) {
    const auto bytes = zarrcore::decode_base64(text_of(raw).substr(kBase64.size()));
    if (bytes) return Buffer::copy_of(*bytes);
  }
  return Buffer::copy_of(raw);
}

std::uint64_t checked_number(std::int64_t number, const char* name) {
  if (number < 0) throw Error(std::string(name) + " is " + std::to_string(number));
  return static_cast<std::uint64_t>(number);
}

std::int64_t stored_number(std::uint64_t number) {
  if (number > INT64_MAX) throw Error(std::to_string(number) + " does not fit 63 bits");
  return static_cast<std::int64_t>(number);
}

}  // namespace

void ReferenceTable::count_bytes(std::uint64_t bytes) {
  byte_count_ += bytes;
  if (byte_count_ > kMaxTableBytes) {
    throw Error("its references take more than " + std::to_string(kMaxTableBytes) + " bytes");
  }
}

ReferenceTable ReferenceTable::read(ByteSpan file) {
  const ParquetFooter footer = read_parquet_footer(file);
  const auto numbers = [&](std::string_view name) {
    auto column = read_parquet_column(file, footer, name, ParquetKind::numbers);
    if (!column) throw Error("it has no column " + std::string(name));
    return *std::move(column);
  };
  ReferenceTable table;
  const auto paths = read_parquet_column(file, footer, "path", ParquetKind::texts);
  const auto values = read_parquet_column(file, footer, "raw", ParquetKind::texts);
  if (!paths && !values) throw Error("it has neither a column path nor a column raw");
  ParquetValues offsets;
  ParquetValues sizes;
  if (paths) {
    offsets = numbers("offset");
    sizes = numbers("size");
  }
  table.count_bytes(footer.row_count * sizeof(Row));
  table.rows_.resize(footer.row_count);
  std::unordered_map<std::string_view, std::uint32_t> known_paths;
  for (std::uint64_t i = 0; i < table.rows_.size(); ++i) {
    Row& row = table.rows_[i];
    if (values && !values->is_null[i]) {
      table.values_.push_back(inline_value(values->texts[i]));
      table.count_bytes(sizeof(Buffer) + table.values_.back().size());
      row.value = static_cast<std::uint32_t>(table.values_.size());
      continue;
    }
    // Some writers store an empty text instead of no path.
    if (!paths || paths->is_null[i] || paths->texts[i].empty()) continue;
    const std::string_view path = text_of(paths->texts[i]);
    const auto number = static_cast<std::uint32_t>(table.paths_.size() + 1);
    const auto [it, is_new] = known_paths.emplace(path, number);
    if (is_new) {
      table.count_bytes(sizeof(std::string) + path.size());
      table.paths_.emplace_back(path);
    }
    row = {it->second, 0, offsets.numbers[i], sizes.numbers[i]};
  }
  return table;
}

bool ReferenceTable::has(std::uint64_t row) const {
  return row < rows_.size() && (rows_[row].value != 0 || rows_[row].path != 0);
}

std::optional<Reference> ReferenceTable::find(std::uint64_t row_number) const {
  if (!has(row_number)) return std::nullopt;
  const Row& row = rows_[row_number];
  Reference reference;
  if (row.value != 0) {
    reference.value = Buffer::copy_of(values_[row.value - 1].span());
    return reference;
  }
  reference.target = paths_[row.path - 1];
  reference.offset = checked_number(row.offset, "offset");
  const std::uint64_t size = checked_number(row.size, "size");
  if (row.offset != 0 || size != 0) reference.length = size;
  return reference;
}

std::string write_reference_table(const std::vector<std::optional<Reference>>& rows) {
  std::vector<std::optional<std::string_view>> paths(rows.size());
  std::vector<std::optional<std::string_view>> values(rows.size());
  std::vector<std::int64_t> offsets(rows.size());
  std::vector<std::int64_t> sizes(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) continue;
    const Reference& reference = *rows[i];
    if (reference.target.empty()) {
      values[i] = reference.value.text();
      continue;
    }
    paths[i] = reference.target;
    if (!reference.length) {
      if (reference.offset != 0) throw Error("an offset without a length cannot be stored");
      continue;
    }
    offsets[i] = stored_number(reference.offset);
    sizes[i] = stored_number(*reference.length);
    // Both zero mean the whole file.
    if (offsets[i] == 0 && sizes[i] == 0) {
      paths[i].reset();
      values[i] = std::string_view();
    }
  }
  ParquetWriter writer(rows.size());
  writer.add_texts("path", paths, ParquetWriter::Texts::utf8);
  writer.add_numbers("offset", offsets);
  writer.add_numbers("size", sizes);
  writer.add_texts("raw", values, ParquetWriter::Texts::bytes);
  return writer.finish();
}

}  // namespace gdal_zarr
