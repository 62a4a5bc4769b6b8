// Work for many processors: no lock is held while a store is asked, a chunk is decoded or encoded,
// or a value is put, and large requests are cut into enough pieces. A meeting shows it on any
// number of processors: nobody leaves before so many threads are inside at once.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::many_cores_test {
namespace {

class Meeting {
 public:
  explicit Meeting(std::size_t threads) : threads_(threads) {}

  // Waits for the others. Once all have met, or have not for ten seconds, nobody waits.
  void attend() {
    std::unique_lock lock(mutex_);
    if (++inside_ >= threads_) has_met_ = true;
    arrived_.notify_all();
    if (!arrived_.wait_for(lock, std::chrono::seconds(10),
                           [this] { return has_met_ || is_over_; })) {
      is_over_ = true;
    }
    --inside_;
  }

  bool has_met() const {
    const std::lock_guard lock(mutex_);
    return has_met_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::size_t threads_;
  std::size_t inside_ = 0;
  bool has_met_ = false;
  bool is_over_ = false;
};

// Its requests meet, in the kinds that are set.
class MeetingStore final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;

  Meeting* gets = nullptr;  // of keys in "c/", and of ranges in them
  Meeting* puts = nullptr;

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    if (gets != nullptr && key.starts_with("c/")) gets->attend();
    return StoreWrapper::get(key, max_size);
  }
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    if (gets != nullptr && key.starts_with("c/")) gets->attend();
    return StoreWrapper::get_ranges(key, ranges);
  }
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    if (puts != nullptr && key.starts_with("c/")) puts->attend();
    return StoreWrapper::put_parts(key, parts, options);
  }
};

// Copies bytes in company.
class MeetingConverter final : public ElementConverter {
 public:
  explicit MeetingConverter(Meeting& meeting) : meeting_(meeting) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    if (!meeting_.has_met()) meeting_.attend();
    for (std::size_t i = 0; i < count; ++i) {
      *destination = *source;
      source += source_stride;
      destination += destination_stride;
    }
  }

 private:
  Meeting& meeting_;
};

constexpr std::size_t kCallers = 16;
const Shape kShape{160, 1000};
const std::string kZstd = codec_list({bytes_codec(), codec("zstd")});
const std::string kShards = codec_list({sharding_codec({10, 1000}, kZstd, index_codecs())});

struct Layout {
  const char* label;
  Shape chunk;
  std::string codecs;
};

void PrintTo(const Layout& layout, std::ostream* stream) {
  *stream << layout.label;
}

// In each, sixteen chunks or inner chunks.
const Layout kLayouts[] = {
    {"Chunks", {10, 1000}, kZstd},
    {"Shards", {10, 1000}, kShards},
    {"InnerChunks", {160, 1000}, kShards},
};

class ManyCores : public testing::TestWithParam<Layout> {
 protected:
  ManyCores() {
    Random random(7);
    values_ = random_bytes(random, element_count(kShape));
    const Json document =
        array_document(kShape, GetParam().chunk, "\"uint8\"", GetParam().codecs, "0");
    put_document(*memory_, "", document);
    array_ = open_array(store_);
  }

  void write(const ElementConverter* converter = nullptr) {
    ArrayWriter writer(array_);
    writer.write(everything(kShape), {values_.data(), c_strides(kShape, 1), converter},
                 {.threads = kCallers});
    writer.flush({.threads = kCallers});
  }

  Bytes read(const ElementConverter* converter = nullptr) const {
    Bytes found(values_.size());
    ReadOptions options;
    options.threads = kCallers;
    array_->read(everything(kShape), {found.data(), c_strides(kShape, 1), converter}, options);
    return found;
  }

  // Calls `body(i)` on sixteen threads of the program's.
  template <typename Body>
  static void on_threads(const Body& body) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kCallers; ++i) threads.emplace_back([&body, i] { body(i); });
    for (std::thread& thread : threads) thread.join();
  }

  static Selection row(std::size_t i) { return {{10 * i, 0}, {10, 1000}, {}}; }

  Bytes values_;
  std::shared_ptr<MemoryStore> memory_ = std::make_shared<MemoryStore>();
  std::shared_ptr<MeetingStore> store_ = std::make_shared<MeetingStore>(memory_);
  std::shared_ptr<const Array> array_;
  Meeting meeting_{kCallers};
};

INSTANTIATE_TEST_SUITE_P(Layouts, ManyCores, testing::ValuesIn(kLayouts),
                         [](const auto& test) { return std::string(test.param.label); });

TEST_P(ManyCores, DecodeAtOnce) {
  write();
  const MeetingConverter converter(meeting_);
  EXPECT_EQ(read(&converter), values_);
  EXPECT_TRUE(meeting_.has_met());
}

TEST_P(ManyCores, EncodeAtOnce) {
  const MeetingConverter converter(meeting_);
  write(&converter);
  EXPECT_TRUE(meeting_.has_met());
  EXPECT_EQ(read(), values_);
}

TEST_P(ManyCores, FetchAtOnce) {
  write();
  const bool is_one_value = GetParam().chunk == kShape;
  // What neighbours in a shard take is fetched together, here all of it.
  Meeting one{1};
  store_->gets = is_one_value ? &one : &meeting_;
  EXPECT_EQ(read(), values_);
  EXPECT_TRUE(store_->gets->has_met());
}

TEST_P(ManyCores, PutAtOnce) {
  Meeting one{1};
  store_->puts = GetParam().chunk == kShape ? &one : &meeting_;
  write();
  EXPECT_TRUE(store_->puts->has_met());
  EXPECT_EQ(read(), values_);
}

TEST_P(ManyCores, CallersReadAtOnce) {
  write();
  Bytes found(values_.size());
  // The index of a shard, which one of them would fetch for all.
  array_->read(row(0), {found.data(), c_strides(kShape, 1)}, {});
  store_->gets = &meeting_;
  on_threads([&](std::size_t i) {
    array_->read(row(i), {found.data() + 10000 * i, c_strides(kShape, 1)}, {});
  });
  EXPECT_TRUE(meeting_.has_met());
  EXPECT_EQ(found, values_);
}

TEST_P(ManyCores, CallersWriteAtOnce) {
  const MeetingConverter converter(meeting_);
  ArrayWriter writer(array_);
  on_threads([&](std::size_t i) {
    writer.write(row(i), {values_.data() + 10000 * i, c_strides(kShape, 1), &converter});
  });
  writer.flush();
  EXPECT_TRUE(meeting_.has_met());
  EXPECT_EQ(read(), values_);
}

// An image of 10980 x 10980 in shards of 4096 x 4096 with inner chunks of 256 x 256, at a quarter
// of the lengths: nine shards.
class ShardedImage : public testing::Test {
 protected:
  static constexpr std::size_t kProcessors = 64;

  ShardedImage() {
    put_document(*memory_, "",
                 array_document(shape_, {1024, 1024}, "\"uint8\"",
                                codec_list({sharding_codec({64, 64}, kZstd, index_codecs())})));
    Random random(8);
    values_ = random_bytes(random, element_count(shape_));
    array_ = open_array(memory_);
  }

  void write(const ElementConverter* converter) {
    ArrayWriter writer(array_);
    writer.write(everything(shape_), {values_.data(), c_strides(shape_, 1), converter},
                 {.threads = kProcessors});
    writer.flush({.threads = kProcessors});
  }

  Bytes read(const ElementConverter* converter) const {
    Bytes found(values_.size());
    ReadOptions options;
    options.threads = kProcessors;
    array_->read(everything(shape_), {found.data(), c_strides(shape_, 1), converter}, options);
    return found;
  }

  const Shape shape_{2745, 2745};
  Bytes values_;
  std::shared_ptr<MemoryStore> memory_ = std::make_shared<MemoryStore>();
  std::shared_ptr<const Array> array_;
  Meeting meeting_{kProcessors};
};

TEST_F(ShardedImage, SixtyFourThreadsEncode) {
  const MeetingConverter converter(meeting_);
  write(&converter);
  EXPECT_TRUE(meeting_.has_met());
  EXPECT_EQ(read(nullptr), values_);
}

TEST_F(ShardedImage, SixtyFourThreadsDecode) {
  write(nullptr);
  const MeetingConverter converter(meeting_);
  EXPECT_EQ(read(&converter), values_);
  EXPECT_TRUE(meeting_.has_met());
}

}  // namespace
}  // namespace zarrcore::test::many_cores_test
