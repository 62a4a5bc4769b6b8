// Arrays while memory runs out: each allocation fails once. A call that fails can be repeated, and
// nothing that a call has accepted is lost.
#include "autotest/cpp/support/failing_allocations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::failing_allocations_test {
namespace {

struct Layout {
  const char* label;
  std::string codecs;
  std::size_t threads = 1;
};

void PrintTo(const Layout& layout, std::ostream* stream) {
  *stream << layout.label;
}

const std::string kZstd = codec_list({bytes_codec(), codec("zstd")});
const std::string kBigEndian = codec_list({transpose_codec({1, 0}), bytes_codec("big")});
const std::string kShards = codec_list({sharding_codec({4, 8}, kZstd, index_codecs())});
const Layout kLayouts[] = {
    {"Plain", codec_list({bytes_codec()})},
    {"Transposed", kBigEndian},
    {"Zstd", kZstd},
    {"Shards", kShards},
    {"PlainShards",
     codec_list({sharding_codec({4, 8}, codec_list({bytes_codec()}), index_codecs(), "start")})},
    {"CompressedShards",
     codec_list({sharding_codec({4, 8}, kZstd, index_codecs()), codec("gzip", R"("level": 1)")})},
    {"ZstdBehind", kZstd, 3},
    {"ShardsBehind", kShards, 3},
};

class FailingAllocations : public testing::TestWithParam<Layout> {
 protected:
  static inline const Shape kShape{20, 40};
  static inline const Shape kChunk{8, 16};
  static inline const Selection kPart{{3, 5}, {14, 30}, {1, 1}};

  FailingAllocations() {
    Random random(17);
    old_ = random_bytes(random, kShape[0] * kShape[1] * 4);
    new_ = random_bytes(random, kShape[0] * kShape[1] * 4);
  }

  std::shared_ptr<Store> stored() const {
    auto store = std::make_shared<MemoryStore>();
    write_array(*store, "", array_document(kShape, kChunk, "\"int32\"", GetParam().codecs), old_);
    return store;
  }

  static std::unique_ptr<ArrayWriter> writer_of(const std::shared_ptr<const Array>& array) {
    return std::make_unique<ArrayWriter>(
        array,
        WriterOptions{WriterOptions::kDefaultMaxBytes, nullptr, false, GetParam().threads > 1});
  }
  void write(ArrayWriter& writer, const Selection& selection) const {
    const std::uint64_t first = selection.start[0] * kShape[1] + selection.start[1];
    writer.write(selection, {new_.data() + first * 4, c_strides(kShape, 4), nullptr}, options());
  }
  // What was queued while memory ran out may have failed, which is reported once.
  static void flush(ArrayWriter& writer) {
    if (!succeeds([&] { writer.flush(options()); })) writer.flush(options());
  }
  static WriteOptions options() { return {GetParam().threads}; }

  // The elements after a write of `selection`.
  Bytes expected(const Selection& selection) const {
    Bytes values = old_;
    for (std::uint64_t y = 0; y < selection.count[0]; ++y) {
      const std::uint64_t first = (selection.start[0] + y) * kShape[1] + selection.start[1];
      std::copy_n(new_.begin() + static_cast<std::ptrdiff_t>(first * 4), selection.count[1] * 4,
                  values.begin() + static_cast<std::ptrdiff_t>(first * 4));
    }
    return values;
  }

  // Whether `call` succeeds. Nothing else than these errors may come out of it.
  template <typename Call>
  static bool succeeds(const Call& call) {
    try {
      call();
      return true;
    } catch (const Error&) {
      return false;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  // Calls `run` with each number of an allocation until none fails any more.
  static void for_each_allocation(const std::function<bool(std::uint64_t number)>& run) {
    constexpr std::uint64_t kMost = 100'000;
    std::uint64_t number = 0;
    while (run(number) && !HasFatalFailure()) ASSERT_LT(number += kAllocationStep, kMost);
    EXPECT_GT(number, 0U);
  }

  Bytes old_;
  Bytes new_;
};

TEST_P(FailingAllocations, AWriteThatFailsCanBeRepeated) {
  for (const Selection& selection : {everything(kShape), kPart}) {
    for_each_allocation([&](std::uint64_t number) {
      const auto store = stored();
      const auto array = open_array(store);
      const auto writer = writer_of(array);
      fail_allocation_after(number);
      const bool is_written = succeeds([&] { write(*writer, selection); });
      const bool has_failed = stop_failing_allocations();
      if (!is_written) write(*writer, selection);
      flush(*writer);
      EXPECT_EQ(read(*open_array(store), everything(kShape)), expected(selection)) << number;
      return has_failed;
    });
  }
}

TEST_P(FailingAllocations, AWriteThatFailsLeavesOldOrNewElements) {
  for (const Selection& selection : {everything(kShape), kPart}) {
    const Bytes wanted = expected(selection);
    for_each_allocation([&](std::uint64_t number) {
      const auto store = stored();
      const auto array = open_array(store);
      const auto writer = writer_of(array);
      fail_allocation_after(number);
      static_cast<void>(succeeds([&] { write(*writer, selection); }));
      const bool has_failed = stop_failing_allocations();
      Bytes seen(wanted.size());
      writer->read(everything(kShape), {seen.data(), c_strides(kShape, 4), nullptr});
      flush(*writer);
      const Bytes put = read(*open_array(store), everything(kShape));
      EXPECT_EQ(put, seen) << number;
      for (std::size_t i = 0; i < put.size(); i += 4) {
        const auto is_element_of = [&](const Bytes& values) {
          return std::memcmp(&put[i], &values[i], 4) == 0;
        };
        EXPECT_TRUE(is_element_of(old_) || is_element_of(wanted)) << number << ' ' << i / 4;
      }
      return has_failed;
    });
  }
}

TEST_P(FailingAllocations, AFlushThatFailsCanBeRepeated) {
  for (const Selection& selection : {everything(kShape), kPart}) {
    for_each_allocation([&](std::uint64_t number) {
      const auto store = stored();
      const auto array = open_array(store);
      const auto writer = writer_of(array);
      write(*writer, selection);
      fail_allocation_after(number);
      const bool is_flushed = succeeds([&] { writer->flush(options()); });
      const bool has_failed = stop_failing_allocations();
      if (!is_flushed) writer->flush(options());
      EXPECT_EQ(read(*open_array(store), everything(kShape)), expected(selection)) << number;
      return has_failed;
    });
  }
}

TEST_P(FailingAllocations, AReadFailsOrIsRight) {
  const auto store = stored();
  for_each_allocation([&](std::uint64_t number) {
    const auto array = open_array(store);
    Bytes seen(kPart.count[0] * kPart.count[1] * 4);
    const Destination destination{seen.data(), c_strides(kPart.count, 4), nullptr};
    fail_allocation_after(number);
    const bool is_read = succeeds([&] { array->read(kPart, destination, {GetParam().threads}); });
    const bool has_failed = stop_failing_allocations();
    if (is_read) {
      EXPECT_EQ(seen, selected(old_, kShape, 4, kPart)) << number;
    }
    EXPECT_EQ(read(*array, everything(kShape)), old_) << number;
    return has_failed;
  });
}

TEST_P(FailingAllocations, RowsAreReadAheadOrTheReadFails) {
  const auto store = stored();
  for_each_allocation([&](std::uint64_t number) {
    auto array = open_array(store);
    ReadOptions options{GetParam().threads};
    options.lasting_scope = [] { return [](const std::function<void()>& work) { work(); }; };
    std::vector<Bytes> rows(kShape[0], Bytes(kShape[1] * 4));
    std::vector<bool> is_read(kShape[0]);
    fail_allocation_after(number);
    for (std::uint64_t y = 0; y < kShape[0]; ++y) {
      is_read[y] = succeeds([&] {
        array->read({{y, 0}, {1, kShape[1]}, {1, 1}},
                    {rows[y].data(), c_strides(kShape, 4), nullptr}, options);
      });
    }
    array.reset();  // while tasks may be queued
    const bool has_failed = stop_failing_allocations();
    for (std::uint64_t y = 0; y < kShape[0]; ++y) {
      if (!is_read[y]) continue;
      EXPECT_EQ(rows[y], selected(old_, kShape, 4, {{y, 0}, {1, kShape[1]}, {1, 1}})) << number;
    }
    return has_failed;
  });
}

TEST_P(FailingAllocations, PendingElementsAreReadOrTheReadFails) {
  const auto store = stored();
  const auto array = open_array(store);
  const auto writer = writer_of(array);
  write(*writer, kPart);
  const Bytes wanted = expected(kPart);
  for_each_allocation([&](std::uint64_t number) {
    Bytes seen(wanted.size());
    const Destination destination{seen.data(), c_strides(kShape, 4), nullptr};
    fail_allocation_after(number);
    const bool is_read =
        succeeds([&] { writer->read(everything(kShape), destination, {GetParam().threads}); });
    const bool has_failed = stop_failing_allocations();
    if (is_read) {
      EXPECT_EQ(seen, wanted) << number;
    }
    return has_failed;
  });
  flush(*writer);
  EXPECT_EQ(read(*open_array(store), everything(kShape)), wanted);
}

INSTANTIATE_TEST_SUITE_P(Layouts, FailingAllocations, testing::ValuesIn(kLayouts),
                         [](const auto& layout) { return std::string(layout.param.label); });

}  // namespace
}  // namespace zarrcore::test::failing_allocations_test
