// A file of references in Parquet: it is a table of references, or an error. What the writer makes
// of the table is the same table.
#include "autotest/fuzz/input.h"
#include "driver/stores/references/parquet_references.h"

namespace zarrcore::fuzz {
namespace {

constexpr std::uint64_t kMaxRows = 1000;

void check_same(const gdal_zarr::Reference& a, const gdal_zarr::Reference& b) {
  check(a.target == b.target && a.offset == b.offset && a.length == b.length, "another reference");
  check(a.value.text() == b.value.text(), "another value");
}

void check_table(ByteSpan file) {
  const auto table = gdal_zarr::ReferenceTable::read(file);
  std::vector<std::optional<gdal_zarr::Reference>> rows(kMaxRows);
  for (std::uint64_t i = 0; i < kMaxRows; ++i) {
    succeeds([&] { rows[i] = table.find(i); });
    check(!rows[i] || table.has(i), "a row has no reference");
    // Text that stands for bytes in JSON does so here.
    if (rows[i] && rows[i]->value.text().starts_with("base64:")) rows[i].reset();
  }
  const std::string copy = gdal_zarr::write_reference_table(rows);
  const auto read = gdal_zarr::ReferenceTable::read(std::as_bytes(std::span(copy)));
  for (std::uint64_t i = 0; i < kMaxRows; ++i) {
    const auto row = read.find(i);
    check(row.has_value() == rows[i].has_value(), "a row is lost");
    if (row) check_same(*row, *rows[i]);
  }
}

}  // namespace
}  // namespace zarrcore::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zarrcore::fuzz;
  succeeds([&] { check_table(std::as_bytes(std::span(data, size))); });
  return 0;
}
