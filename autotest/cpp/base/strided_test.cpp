#include "zarrcore/base/strided.h"

#include <gtest/gtest.h>

#include <cstring>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/layout.h"

namespace zarrcore::test::strided_test {
namespace {

// Copies in the obvious way.
void copy_naively(const Shape& shape, std::size_t item_size, const std::byte* source,
                  const Strides& source_strides, std::byte* destination,
                  const Strides& destination_strides) {
  for_each_index(shape, [&](const Shape& index) {
    std::memcpy(destination + offset_of(index, destination_strides),
                source + offset_of(index, source_strides), item_size);
  });
}

// What copy_strided writes, and what the obvious way writes, into memory that is not touched
// between the elements.
void expect_same_copy(Random& random, const Shape& shape, std::size_t item_size,
                      const Layout& source, const Layout& destination) {
  const Bytes input = random_bytes(random, source.size);
  Bytes expected(destination.size, std::byte{0xee});
  Bytes actual = expected;
  copy_naively(shape, item_size, input.data() + source.origin, source.strides,
               expected.data() + destination.origin, destination.strides);
  copy_strided(shape, item_size, input.data() + source.origin, source.strides,
               actual.data() + destination.origin, destination.strides);
  EXPECT_EQ(actual, expected) << testing::PrintToString(shape) << ", items of " << item_size
                              << " bytes, strides " << testing::PrintToString(source.strides)
                              << " to " << testing::PrintToString(destination.strides);
}

TEST(CopyStrided, IsTheObviousLoopForAnyShapeAndStrides) {
  Random random(2);
  for (int round = 0; round < 3000; ++round) {
    const Shape shape = random_shape(random, 5, 6);
    const std::size_t item_size = std::vector<std::size_t>{1, 2, 3, 4, 8, 16, 24}[round % 7];
    expect_same_copy(random, shape, item_size, random_layout(random, shape, item_size),
                     random_layout(random, shape, item_size));
  }
}

TEST(CopyStrided, AZeroStrideRepeatsTheSource) {
  Random random(3);
  for (int round = 0; round < 500; ++round) {
    const Shape shape = random_shape(random, 4, 5);
    Layout source = random_layout(random, shape, 4);
    for (std::ptrdiff_t& stride : source.strides) {
      if (random() % 2 == 0 && stride > 0) stride = 0;
    }
    expect_same_copy(random, shape, 4, source, random_layout(random, shape, 4));
  }
}

TEST(CopyStrided, FillsManyElementsWithOne) {
  Random random(6);
  for (const std::size_t item_size : {1, 2, 3, 12, 24, 4095, 4096, 4097, 10000}) {
    for (const std::uint64_t count : {1, 2, 3, 341, 342, 5000}) {
      if (item_size * count > 100000) continue;
      const Shape shape{3, count};
      const Strides dense = c_strides(shape, item_size);
      expect_same_copy(random, shape, item_size, {{0, 0}, 0, item_size},
                       {dense, 0, 3 * count * item_size});
      // Rows with a byte between them, which are filled one by one.
      expect_same_copy(random, shape, item_size, {{0, 0}, 0, item_size},
                       {{dense[0] + 1, dense[1]}, 0, 3 * (count * item_size + 1)});
    }
  }
}

TEST(CopyStrided, TransposesPastTheSizeOfATile) {
  Random random(4);
  for (const Shape& shape : {Shape{100, 33}, Shape{31, 65}, Shape{3, 70, 40}, Shape{64, 2, 64}}) {
    for (const std::size_t item_size : {1, 4, 16}) {
      const Strides forward = c_strides(shape, item_size);
      const Shape reversed(shape.rbegin(), shape.rend());
      const Strides backward = c_strides(reversed, item_size);
      const std::size_t size = element_count(shape) * item_size;
      const Layout dense{forward, 0, size};
      const Layout transposed{{backward.rbegin(), backward.rend()}, 0, size};
      expect_same_copy(random, shape, item_size, dense, transposed);
      expect_same_copy(random, shape, item_size, transposed, dense);
    }
  }
}

TEST(CopyStrided, AnEmptyBoxTouchesNothing) {
  const Shape shape{3, 0, 5};
  const Strides strides = c_strides(shape, 4);
  copy_strided(shape, 4, nullptr, strides, nullptr, strides);
}

TEST(CopyStrided, ABoxWithoutDimensionsIsOneElement) {
  const Bytes source = bytes_of({1, 2, 3});
  Bytes destination(3);
  copy_strided({}, 3, source.data(), {}, destination.data(), {});
  EXPECT_EQ(destination, source);
}

// Turns each byte into its value and its complement.
class Complement final : public ElementConverter {
 public:
  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) {
      destination[0] = *source;
      destination[1] = ~*source;
      source += source_stride;
      destination += destination_stride;
    }
  }
};

TEST(ConvertStrided, ConvertsEachElementOnce) {
  Random random(5);
  for (int round = 0; round < 500; ++round) {
    const Shape shape = random_shape(random, 4, 40);
    const Layout source = random_layout(random, shape, 1);
    const Layout destination = random_layout(random, shape, 2);
    if (source.size > 100000) continue;
    const Bytes input = random_bytes(random, source.size);
    Bytes output(destination.size, std::byte{0xee});
    convert_strided(shape, Complement(), input.data() + source.origin, source.strides,
                    output.data() + destination.origin, destination.strides);
    for_each_index(shape, [&](const Shape& index) {
      const std::byte from = *(input.data() + source.origin + offset_of(index, source.strides));
      const std::byte* to =
          output.data() + destination.origin + offset_of(index, destination.strides);
      ASSERT_EQ(to[0], from);
      ASSERT_EQ(to[1], ~from);
    });
  }
}

TEST(Strides, OfADenseArrayTheLastDimensionVariesFastest) {
  EXPECT_EQ(c_strides(Shape{2, 3, 4}, 8), (Strides{96, 32, 8}));
  EXPECT_EQ(c_strides(Shape{}, 8), Strides{});
}

}  // namespace
}  // namespace zarrcore::test::strided_test
