#include "zarrcore/base/endian.h"

#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"

namespace zarrcore::test::endian_test {
namespace {

TEST(Endian, LoadsBothByteOrders) {
  const Bytes bytes = bytes_of({0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08});
  EXPECT_EQ(load_integer<std::uint16_t>(bytes.data(), Endian::big), 0x0102);
  EXPECT_EQ(load_integer<std::uint16_t>(bytes.data(), Endian::little), 0x0201);
  EXPECT_EQ(load_integer<std::uint32_t>(bytes.data(), Endian::big), 0x01020304);
  EXPECT_EQ(load_integer<std::uint64_t>(bytes.data(), Endian::little), 0x0807060504030201);
}

TEST(Endian, LoadsFromAnyAddress) {
  const Bytes bytes = bytes_of({0xff, 0x01, 0x02, 0x03, 0x04});
  EXPECT_EQ(load_integer<std::uint32_t>(bytes.data() + 1, Endian::big), 0x01020304);
}

TEST(Endian, StoresWhatItLoads) {
  for (const Endian endian : {Endian::little, Endian::big}) {
    Bytes bytes(8);
    store_integer(std::uint64_t{0x0123456789abcdef}, endian, bytes.data());
    EXPECT_EQ(bytes.front(), std::byte(endian == Endian::little ? 0xef : 0x01));
    EXPECT_EQ(load_integer<std::uint64_t>(bytes.data(), endian), 0x0123456789abcdef);
  }
}

TEST(Endian, TheHostsOrderIsThatOfMemory) {
  const Bytes bytes = bytes_in_memory(std::uint32_t{0xdeadbeef});
  EXPECT_EQ(load_integer<std::uint32_t>(bytes.data(), kHostEndian), 0xdeadbeef);
}

TEST(Endian, IntegersOfEverySizeAreThoseOfMemory) {
  const std::uint64_t value = 0x8123456789abcdef;
  const auto expect_same = [&](auto integer) {
    const Bytes bytes = bytes_in_memory(integer);
    EXPECT_EQ(load_unsigned(bytes.data(), bytes.size()), integer);
    Bytes stored(bytes.size() + 1, std::byte{0x55});
    store_unsigned(value, bytes.size(), stored.data());
    EXPECT_EQ(stored.back(), std::byte{0x55});
    stored.pop_back();
    EXPECT_EQ(stored, bytes);
  };
  expect_same(static_cast<std::uint8_t>(value));
  expect_same(static_cast<std::uint16_t>(value));
  expect_same(static_cast<std::uint32_t>(value));
  expect_same(value);
}

TEST(Endian, SwapsEachUnit) {
  for (const std::size_t unit : {2, 4, 8, 16}) {
    Bytes bytes = regular_bytes(unit * 5);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
    swap_bytes(bytes, unit);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::size_t mirrored = i / unit * unit + unit - 1 - i % unit;
      EXPECT_EQ(bytes[i], static_cast<std::byte>(mirrored)) << "unit " << unit << ", byte " << i;
    }
  }
}

TEST(Endian, SingleBytesHaveNoOrder) {
  Bytes bytes = bytes_of({1, 2, 3});
  swap_bytes(bytes, 1);
  EXPECT_EQ(bytes, bytes_of({1, 2, 3}));
}

}  // namespace
}  // namespace zarrcore::test::endian_test
