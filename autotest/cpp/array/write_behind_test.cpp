// Chunks that are encoded and put in the background: the program waits only for a full queue, reads
// what it wrote, and learns of every failure.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "autotest/cpp/support/wait_until.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::write_behind_test {
namespace {

// Its puts of chunks, or of those whose keys begin so, wait until it is unblocked.
class BlockedStore final : public StoreWrapper {
 public:
  BlockedStore(std::shared_ptr<Store> inner, std::size_t parallel_requests,
               std::string blocked = "c/")
      : StoreWrapper(std::move(inner)),
        parallel_requests_(parallel_requests),
        blocked_(std::move(blocked)) {}

  void unblock() { unblocked_.set_value(); }
  int most_waiting() const { return most_; }
  int waiting() const { return waiting_; }

  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    if (key.starts_with(blocked_)) {
      const int now = ++waiting_;
      for (int seen = most_; now > seen && !most_.compare_exchange_weak(seen, now);) {
      }
      state_.wait();
      --waiting_;
    }
    return StoreWrapper::put_parts(key, parts, options);
  }
  StoreTraits traits() const override { return {.parallel_requests = parallel_requests_}; }

 private:
  std::size_t parallel_requests_;
  std::string blocked_;
  std::promise<void> unblocked_;
  std::shared_future<void> state_ = unblocked_.get_future().share();
  std::atomic<int> waiting_ = 0;
  std::atomic<int> most_ = 0;
};

struct Layout {
  const char* label;
  std::string codecs;
};

void PrintTo(const Layout& layout, std::ostream* stream) {
  *stream << layout.label;
}

const Layout kLayouts[] = {
    {"Chunks", codec_list({bytes_codec(), codec("zstd")})},
    {"Shards", codec_list({sharding_codec({64, 64}, codec_list({bytes_codec(), codec("zstd")}),
                                          index_codecs())})},
};

// 24 chunks of 64 KB.
class WriteBehind : public testing::TestWithParam<Layout> {
 protected:
  static inline const Shape kShape{512, 768};
  static inline const Shape kChunk{128, 128};
  static constexpr std::uint64_t kChunkBytes = 128 * 128 * 4;
  static constexpr std::uint64_t kAllBytes = 512 * 768 * 4;
  static inline const WriteOptions kThreads{2};

  void SetUp() override {
    put_document(*memory_, "", array_document(kShape, kChunk, "\"int32\"", GetParam().codecs));
    Random random(91);
    values_ = random_bytes(random, kAllBytes);
  }

  static WriterOptions behind(std::uint64_t max_bytes = WriterOptions::kDefaultMaxBytes) {
    return {max_bytes, nullptr, false, true};
  }

  Source source(const Selection& selection) const {
    const std::uint64_t offset = (selection.start[0] * kShape[1] + selection.start[1]) * 4;
    return {values_.data() + offset, c_strides(kShape, 4), nullptr};
  }
  void write(ArrayWriter& writer, const Selection& selection) const {
    writer.write(selection, source(selection), kThreads);
  }
  static Selection chunk(std::uint64_t row, std::uint64_t column) {
    return {{row * kChunk[0], column * kChunk[1]}, kChunk, {1, 1}};
  }
  // A write of few chunks is always queued.
  void write_each_chunk(ArrayWriter& writer, const WriteOptions& options = kThreads) const {
    for (std::uint64_t row = 0; row < 4; ++row) {
      for (std::uint64_t column = 0; column < 6; ++column) {
        writer.write(chunk(row, column), source(chunk(row, column)), options);
      }
    }
  }
  Bytes written(const Selection& selection) const {
    return selected(values_, kShape, 4, selection);
  }
  static Bytes read_through(ArrayWriter& writer, const Selection& selection) {
    Bytes seen(selection.count[0] * selection.count[1] * 4);
    writer.read(selection, {seen.data(), c_strides(selection.count, 4), nullptr}, {2});
    return seen;
  }

  std::shared_ptr<MemoryStore> memory_ = std::make_shared<MemoryStore>();
  Bytes values_;
};

INSTANTIATE_TEST_SUITE_P(Layouts, WriteBehind, testing::ValuesIn(kLayouts),
                         [](const auto& layout) { return std::string(layout.param.label); });

TEST_P(WriteBehind, AWriteDoesNotWaitForItsPutAndIsSeen) {
  const auto store = std::make_shared<BlockedStore>(memory_, 1);
  const auto array = open_array(store);
  ArrayWriter writer(array, behind());
  write(writer, chunk(0, 0));
  wait_until([&] { return store->waiting() == 1; });
  // This one waits in the queue, and is read from there.
  write(writer, chunk(1, 1));
  EXPECT_EQ(read_through(writer, chunk(1, 1)), written(chunk(1, 1)));
  EXPECT_GE(writer.pending_bytes(), kChunkBytes);
  EXPECT_FALSE(memory_->has("c/0/0"));
  store->unblock();
  EXPECT_EQ(read_through(writer, chunk(0, 0)), written(chunk(0, 0)));
  writer.flush(kThreads);
  EXPECT_EQ(writer.pending_bytes(), 0);
  EXPECT_EQ(read(*open_array(memory_), chunk(0, 0)), written(chunk(0, 0)));
  EXPECT_EQ(read(*open_array(memory_), chunk(1, 1)), written(chunk(1, 1)));
}

TEST_P(WriteBehind, TheQueueEndsWithoutAFlush) {
  const auto array = open_array(memory_);
  ArrayWriter writer(array, behind());
  write_each_chunk(writer);
  wait_until([&] { return writer.pending_bytes() == 0; });
  EXPECT_EQ(read(*open_array(memory_), everything(kShape)), values_);
}

TEST_P(WriteBehind, AProgramThatWorksBetweenLargeWritesDoesNotWaitForTheirPuts) {
  const auto store = std::make_shared<BlockedStore>(memory_, 1, "c/2");
  const auto array = open_array(store);
  ArrayWriter writer(array, behind());
  const auto two_rows = [](std::uint64_t row) {
    return Selection{{row * kChunk[0], 0}, {2 * kChunk[0], kShape[1]}, {1, 1}};
  };
  const auto began = std::chrono::steady_clock::now();
  write(writer, two_rows(0));
  EXPECT_EQ(writer.pending_bytes(), 0) << "the first one is put at once";
  std::this_thread::sleep_for(10 * (std::chrono::steady_clock::now() - began));
  std::atomic<bool> has_returned = false;
  std::thread program([&] {
    write(writer, two_rows(2));
    has_returned = true;
  });
  wait_until([&] { return has_returned.load(); });
  EXPECT_GE(writer.pending_bytes(), kChunkBytes);
  EXPECT_EQ(read_through(writer, two_rows(0)), written(two_rows(0)));
  store->unblock();
  program.join();
  writer.flush(kThreads);
  EXPECT_EQ(read(*open_array(memory_), everything(kShape)), values_);
}

TEST_P(WriteBehind, AFullQueueWaits) {
  const auto store = std::make_shared<BlockedStore>(memory_, 1);
  const auto array = open_array(store);
  constexpr std::uint64_t kBound = 8 * kChunkBytes;
  ArrayWriter writer(array, behind(kBound));
  std::atomic<int> chunks = 0;
  std::thread program([&] {
    for (std::uint64_t row = 0; row < 4; ++row) {
      for (std::uint64_t column = 0; column < 6; ++column, ++chunks) {
        write(writer, chunk(row, column));
      }
    }
  });
  // A quarter of the bound, the chunk that the other thread puts, and the program's. It has
  // time to write more.
  wait_until([&] { return store->waiting() >= 1; });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LE(chunks, 4);
  EXPECT_LE(writer.pending_bytes(), kBound / 4 + 3 * kChunkBytes);
  store->unblock();
  program.join();
  writer.flush(kThreads);
  EXPECT_EQ(read(*open_array(memory_), everything(kShape)), values_);
}

TEST_P(WriteBehind, ASlowStoreGetsSeveralPutsAtOnce) {
  constexpr int kRequests = 7;
  const auto store = std::make_shared<BlockedStore>(memory_, kRequests);
  const auto array = open_array(store);
  ArrayWriter writer(array, behind());
  write(writer, everything(kShape));
  wait_until([&] { return store->waiting() == kRequests; });
  store->unblock();
  writer.flush(kThreads);
  EXPECT_EQ(read(*open_array(memory_), everything(kShape)), values_);
}

TEST_P(WriteBehind, AFailureIsReportedOnceByTheNextWriteOrFlush) {
  for (const bool is_flush : {false, true}) {
    std::atomic<int> failures = 0;
    std::atomic<bool> is_broken = true;
    const auto store = std::make_shared<FailingStore>(memory_, [&](std::string_view key) {
      if (key != "c/2/3" || !is_broken) return false;
      ++failures;
      return true;
    });
    const auto array = open_array(store);
    ArrayWriter writer(array, behind());
    // The last write, so that no other one meets the failure.
    for (std::uint64_t row = 0; row < 4; ++row) {
      for (std::uint64_t column = 0; column < 6; ++column) {
        if (row != 2 || column != 3) write(writer, chunk(row, column));
      }
    }
    std::string message;
    const auto note_error = [&](const auto& action) {
      try {
        action();
      } catch (const Error& error) {
        message = error.what();
      }
    };
    // The put may fail before the write has ended.
    note_error([&] { write(writer, chunk(2, 3)); });
    wait_until([&] { return failures == 1 && writer.pending_bytes() <= 2 * kChunkBytes; });
    is_broken = false;
    const auto report = [&] { is_flush ? writer.flush(kThreads) : write(writer, chunk(0, 0)); };
    // A write may come before the failed put has ended.
    wait_until([&] {
      if (message.empty()) note_error(report);
      return !message.empty();
    });
    for (const char* part : {"array /", "chunk c/2/3", "on fire"}) {
      EXPECT_NE(message.find(part), std::string::npos) << message;
    }
    writer.flush(kThreads);
    EXPECT_EQ(writer.pending_bytes(), 0);
    EXPECT_EQ(read(*open_array(memory_), everything(kShape)), values_);
  }
}

TEST_P(WriteBehind, NothingIsPutAfterAStop) {
  const auto store = std::make_shared<BlockedStore>(memory_, 1);
  const auto array = open_array(store);
  ArrayWriter writer(array, behind());
  for (std::uint64_t column = 0; column < 6; ++column) write(writer, chunk(0, column));
  wait_until([&] { return store->waiting() == 1; });
  std::thread stop([&] { writer.stop(); });
  // Lets the one that has begun end, when the others have been dropped.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  store->unblock();
  stop.join();
  const auto keys = [&] { return memory_->list("c/0").keys.size(); };
  const auto put = keys();
  EXPECT_GE(put, 1);
  EXPECT_EQ(writer.pending_bytes() == 0, put == 6);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(keys(), put);
  writer.flush(kThreads);
  EXPECT_EQ(keys(), 6);
}

TEST_P(WriteBehind, ThreadsOfTheQueueRunInTheScopeOfTheCall) {
  const auto array = open_array(memory_);
  std::atomic<int> scopes = 0;
  WriteOptions options{2};
  options.background_scope = [owned = std::make_shared<int>(1),
                              &scopes](const std::function<void()>& work) {
    scopes += *owned;
    work();
  };
  ArrayWriter writer(array, behind());
  write_each_chunk(writer, options);
  wait_until([&] { return writer.pending_bytes() == 0; });
  EXPECT_EQ(scopes, 24 * (GetParam().codecs.find("sharding") == std::string::npos ? 1 : 4));
}

TEST_P(WriteBehind, ARowInsideOfChunksWakesNoOtherThread) {
  const auto array = open_array(memory_);
  ArrayWriter writer(array, behind());
  std::atomic<int> scopes = 0;
  WriteOptions options{4};
  options.worker_scope = [&](const std::function<void()>& work) {
    ++scopes;
    work();
  };
  const std::uint64_t inner = GetParam().codecs.find("sharding") == std::string::npos ? 128 : 64;
  for (std::uint64_t row = 0; row < kShape[0]; ++row) {
    const int before = scopes;
    const Selection one{{row, 0}, {1, kShape[1]}, {1, 1}};
    writer.write(one, source(one), options);
    // The first row of a chunk allocates its memory, the last one encodes it.
    if (row % inner != 0 && row % inner != inner - 1) {
      ASSERT_EQ(scopes, before) << row;
    }
  }
  writer.flush(kThreads);
  EXPECT_EQ(read(*open_array(memory_), everything(kShape)), values_);
}

TEST_P(WriteBehind, WithoutASecondThreadAWritePuts) {
  const auto array = open_array(memory_);
  ArrayWriter writer(array, behind());
  writer.write(everything(kShape), source(everything(kShape)), {1});
  EXPECT_EQ(writer.pending_bytes(), 0);
  EXPECT_EQ(read(*open_array(memory_), everything(kShape)), values_);
}

// Rewrites meet chunks that wait, are encoded or are being put.
TEST_P(WriteBehind, WhatIsWrittenAgainMeanwhileIsNotLost) {
  const auto array = open_array(memory_);
  ArrayWriter writer(array, behind(6 * kChunkBytes));
  Random random(92);
  Bytes expected(kAllBytes);
  for (int round = 0; round < 150; ++round) {
    const Selection any = round % 3 == 0
                              ? chunk(random_number(random, 0, 3), random_number(random, 0, 5))
                              : random_selection(random, kShape);
    const auto value = static_cast<std::int32_t>(round + 1);
    writer.write(any, {reinterpret_cast<const std::byte*>(&value), {0, 0}, nullptr}, kThreads);
    for (std::uint64_t i = 0; i < any.count[0]; ++i) {
      for (std::uint64_t k = 0; k < any.count[1]; ++k) {
        const auto row = any.start[0] + i * static_cast<std::uint64_t>(any.step[0]);
        const auto column = any.start[1] + k * static_cast<std::uint64_t>(any.step[1]);
        std::copy_n(reinterpret_cast<const std::byte*>(&value), 4,
                    expected.begin() + static_cast<std::ptrdiff_t>((row * kShape[1] + column) * 4));
      }
    }
    if (round % 10 != 0) continue;
    ASSERT_EQ(read_through(writer, everything(kShape)), expected) << round;
    if (round % 30 == 0) writer.flush(kThreads);
  }
  writer.flush(kThreads);
  EXPECT_EQ(writer.pending_bytes(), 0);
  EXPECT_EQ(read(*open_array(memory_), everything(kShape)), expected);
}

}  // namespace
}  // namespace zarrcore::test::write_behind_test
