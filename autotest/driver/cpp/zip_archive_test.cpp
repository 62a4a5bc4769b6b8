// The records of ZIP64. Archives below its limits are tested with other readers.
#include "driver/stores/vsi/zip_archive.h"

#include <gtest/gtest.h>

#include "zarrcore/base/endian.h"

namespace gdal_zarr::test::zip_archive_test {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

template <typename Integer>
Integer load(const std::string& bytes, std::size_t offset) {
  return zarrcore::load_integer<Integer>(reinterpret_cast<const std::byte*>(bytes.data()) + offset,
                                         zarrcore::Endian::little);
}

TEST(ZipArchive, SmallEntriesHaveNoExtraField) {
  const ZipEntry entry{.name = "a/b", .offset = 7, .size = 5, .checksum = 3, .time = 0};
  const auto header = zip_local_header(entry);
  EXPECT_EQ(header.size(), 30 + 3);
  EXPECT_EQ(load<std::uint32_t>(header, 18), 5u);
  const auto record = zip_central_record(entry);
  EXPECT_EQ(record.size(), 46 + 3);
  EXPECT_EQ(load<std::uint32_t>(record, 42), 7u);
}

TEST(ZipArchive, LargeSizesAndOffsetsAreInTheExtraField) {
  const ZipEntry entry{.name = "a", .offset = 6 * kGiB, .size = 5 * kGiB, .checksum = 3, .time = 0};
  const auto header = zip_local_header(entry);
  EXPECT_EQ(load<std::uint32_t>(header, 18), UINT32_MAX);
  EXPECT_EQ(load<std::uint16_t>(header, 28), 20);  // of the extra field
  EXPECT_EQ(load<std::uint16_t>(header, 31), 1);
  EXPECT_EQ(load<std::uint16_t>(header, 33), 16);
  EXPECT_EQ(load<std::uint64_t>(header, 35), 5 * kGiB);
  const auto record = zip_central_record(entry);
  EXPECT_EQ(load<std::uint16_t>(record, 6), 45);  // the version that is needed
  EXPECT_EQ(load<std::uint32_t>(record, 42), UINT32_MAX);
  EXPECT_EQ(load<std::uint64_t>(record, 47 + 4 + 16), 6 * kGiB);
}

TEST(ZipArchive, LargeOffsetsAloneAreInTheExtraField) {
  const auto record = zip_central_record({.name = "a", .offset = 4 * kGiB, .size = 1});
  EXPECT_EQ(load<std::uint32_t>(record, 20), 1u);
  EXPECT_EQ(load<std::uint16_t>(record, 30), 12);
  EXPECT_EQ(load<std::uint64_t>(record, 51), 4 * kGiB);
}

TEST(ZipArchive, TheEndSaysWhereTheCentralRecordsAre) {
  EXPECT_EQ(zip_end_records(3, 100, 50).size(), 22u);
  const auto records = zip_end_records(70000, 5 * kGiB, 50);
  ASSERT_EQ(records.size(), 56u + 20 + 22);
  EXPECT_EQ(load<std::uint64_t>(records, 32), 70000u);
  EXPECT_EQ(load<std::uint64_t>(records, 48), 5 * kGiB);
  EXPECT_EQ(load<std::uint64_t>(records, 56 + 8), 5 * kGiB + 50);
  EXPECT_EQ(load<std::uint16_t>(records, 76 + 8), UINT16_MAX);
  EXPECT_EQ(load<std::uint32_t>(records, 76 + 16), UINT32_MAX);
}

}  // namespace
}  // namespace gdal_zarr::test::zip_archive_test
