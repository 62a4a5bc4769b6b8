// Stores that fail, disks that are full, processes that are killed: nothing is lost silently, and
// no chunk is ever half of one.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/process.h"
#include "autotest/cpp/support/stored_array.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::write_fault_test {
namespace {

struct Layout {
  const char* label;
  std::string codecs;
  bool writes_in_background = false;
};

void PrintTo(const Layout& layout, std::ostream* stream) {
  *stream << layout.label;
}

const std::string kBytes = bytes_codec();
const Layout kLayouts[] = {
    {"Chunks", codec_list({kBytes})},
    {"Sharded", codec_list({sharding_codec({32, 48}, codec_list({kBytes}), index_codecs())})},
    {"CompressedInShard", codec_list({sharding_codec({32, 48}, codec_list({kBytes, codec("zstd")}),
                                                     index_codecs(), "start")})},
    {"CompressedShard",
     codec_list({sharding_codec({32, 48}, codec_list({kBytes}), index_codecs()), codec("zstd")})},
    {"ChunksBehind", codec_list({kBytes}), true},
    {"CompressedInShardBehind",
     codec_list({sharding_codec({64, 48}, codec_list({kBytes, codec("zstd")}), index_codecs())}),
     true},
    {"SmallInShardBehind",
     codec_list({sharding_codec({32, 48}, codec_list({kBytes}), index_codecs())}), true},
};

class WriteFault : public testing::TestWithParam<Layout> {
 protected:
  static inline const Shape kShape{160, 200};
  static inline const Shape kChunk{64, 96};  // 24 KB

  static void create(Store& store) {
    put_document(store, "", array_document(kShape, kChunk, "\"int32\"", GetParam().codecs, "-1"));
  }

  static WriterOptions bounded(std::uint64_t max_bytes = WriterOptions::kDefaultMaxBytes) {
    return {max_bytes, nullptr, false, GetParam().writes_in_background};
  }

  static WriteOptions threads() { return {GetParam().writes_in_background ? 2u : 1u}; }

  // Gives all elements of a selection one value.
  static void write(ArrayWriter& writer, const Selection& selection, std::int32_t value) {
    writer.write(selection, {reinterpret_cast<const std::byte*>(&value), {0, 0}, nullptr},
                 threads());
  }
};

INSTANTIATE_TEST_SUITE_P(Layouts, WriteFault, testing::ValuesIn(kLayouts),
                         [](const auto& layout) { return std::string(layout.param.label); });

// Fails in one of all the calls that are made of it.
class OneFault final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;

  void fail_at(int call) {
    calls_ = 0;
    failing_ = call;
  }
  bool has_failed() const { return calls_ >= failing_; }

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    count();
    return StoreWrapper::get(key, max_size);
  }
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    count();
    return StoreWrapper::get_ranges(key, ranges);
  }
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    count();
    return StoreWrapper::put_parts(key, parts, options);
  }
  bool erase(std::string_view key, const EraseOptions& options) override {
    count();
    return StoreWrapper::erase(key, options);
  }

 private:
  void count() {
    if (++calls_ == failing_) throw Error("the disk is on fire");
  }

  std::atomic<int> calls_{0};
  std::atomic<int> failing_{0};
};

TEST_P(WriteFault, EveryFaultOfTheStoreIsReportedAndNothingIsLost) {
  constexpr std::size_t kItem = 4;
  int faults = 0;
  for (bool has_failed = true; has_failed; ++faults) {
    const auto memory = std::make_shared<MemoryStore>();
    create(*memory);
    const auto store = std::make_shared<OneFault>(memory);
    const auto array = open_array(store);
    // Two chunks of 24 KB may be pending.
    ArrayWriter writer(array, bounded(50000));
    store->fail_at(faults + 1);
    std::vector<std::int32_t> expected(kShape[0] * kShape[1], -1);
    int errors = 0;
    const auto attempt = [&](const auto& body) {
      try {
        body();
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("on fire"), std::string::npos) << error.what();
        ++errors;
        body();  // as the caller would
      }
    };
    Random random(54);
    for (std::int32_t round = 0; round < 12; ++round) {
      Selection selection = round == 0 ? everything(kShape) : random_selection(random, kShape);
      const std::int32_t value = round == 6 ? -1 : round;
      if (round == 6) selection = {{0, 0}, {64, 96}, {}};
      attempt([&] { write(writer, selection, value); });
      const Strides strides = c_strides(kShape, 1);
      for (std::uint64_t i = 0; i < selection.count[0]; ++i) {
        for (std::uint64_t k = 0; k < selection.count[1]; ++k) {
          const auto step = [&](std::size_t axis) {
            return selection.step.empty() ? 1 : selection.step[axis];
          };
          const auto row = static_cast<std::int64_t>(selection.start[0]) +
                           static_cast<std::int64_t>(i) * step(0);
          const auto column = static_cast<std::int64_t>(selection.start[1]) +
                              static_cast<std::int64_t>(k) * step(1);
          expected[static_cast<std::size_t>(row) * kShape[1] + static_cast<std::size_t>(column)] =
              value;
        }
      }
      if (round % 4 != 3) continue;
      Bytes seen(expected.size() * kItem);
      attempt([&] {
        writer.read(everything(kShape), {seen.data(), c_strides(kShape, kItem), nullptr});
      });
      ASSERT_EQ(seen, elements(expected)) << "fault " << faults << ", round " << round;
    }
    attempt([&] { writer.flush(); });
    has_failed = store->has_failed();
    EXPECT_EQ(errors, has_failed ? 1 : 0) << "fault " << faults;
    EXPECT_EQ(writer.pending_bytes(), 0);
    ASSERT_EQ(read(*open_array(memory), everything(kShape)), elements(expected))
        << "fault " << faults;
  }
  EXPECT_GT(faults, 20);
}

TEST_P(WriteFault, AWriterThatCannotPutTakesNoMoreThanItsBound) {
  const auto memory = std::make_shared<MemoryStore>();
  create(*memory);
  std::atomic<bool> is_broken = false;
  const auto array = open_array(std::make_shared<FailingStore>(
      memory, [&](std::string_view key) { return is_broken && key.starts_with("c/"); }));
  is_broken = true;
  constexpr std::uint64_t kBound = 30000;
  ArrayWriter writer(array, bounded(kBound));
  for (std::int32_t round = 0; round < 10; ++round) {
    if (GetParam().writes_in_background) {
      // It may be the next one that reports it.
      try {
        write(writer, everything(kShape), round);
      } catch (const Error&) {
      }
    } else {
      EXPECT_ERROR(write(writer, everything(kShape), round), "on fire");
    }
    EXPECT_LE(writer.pending_bytes(), kBound + 2 * 64 * 96 * 4);
  }
  EXPECT_ERROR(writer.flush(threads()), "on fire");
  is_broken = false;
  write(writer, everything(kShape), 3);
  writer.flush();
  EXPECT_EQ(read(*array, everything(kShape)),
            elements(std::vector<std::int32_t>(kShape[0] * kShape[1], 3)));
}

// What a chunk can be: all of it written in an even round, or, of the odd one after it, the left
// half.
TEST_P(WriteFault, AChunkIsAsBeforeOrAsWrittenWhenTheWriterIsKilled) {
  const TemporaryFolder folder;
  const auto root = folder.path() / "a.zarr";
  {
    FileSystemStore store(root);
    create(store);
  }
  const auto write_on = [&](std::int32_t round) {
    const auto array = open_array(std::make_shared<FileSystemStore>(root));
    ArrayWriter writer(array, bounded());
    while (true) {
      write(writer, everything(kShape), round);
      for (std::uint64_t column = 0; column < kShape[1]; column += kChunk[1]) {
        write(writer, {{0, column}, {kShape[0], kChunk[1] / 2}, {}}, round + 1);
        if (column + kChunk[1] + kChunk[1] / 2 > kShape[1]) break;
      }
      writer.flush();
      round += 2;
    }
  };
  Random random(55);
  std::int32_t round = 0;
  int changed = 0;
  // How long a writer lives is found by how far the last ones came: about half of them shall be
  // killed before they have put a chunk, however fast the machine is and whatever sanitizes it.
  double longest_life = 10000;  // microseconds
  for (int kill = 0; kill < 200; ++kill) {
    {
      ChildProcess child([&] { write_on(round); });
      ::usleep(static_cast<useconds_t>(
          random_number(random, 0, static_cast<std::uint64_t>(longest_life))));
      child.kill();
    }
    const auto array = open_array(std::make_shared<FileSystemStore>(root));
    std::int32_t newest = round - 2;
    for (std::uint64_t row = 0; row < kShape[0]; row += kChunk[0]) {
      for (std::uint64_t column = 0; column < kShape[1]; column += kChunk[1]) {
        const Selection chunk{
            {row, column},
            {std::min(kChunk[0], kShape[0] - row), std::min(kChunk[1], kShape[1] - column)},
            {}};
        const auto values = values_of<std::int32_t>(read(*array, chunk));
        const std::int32_t left = values.front();
        const std::int32_t right = chunk.count[1] == kChunk[1] ? values.back() : left & ~1;
        for (std::size_t i = 0; i < values.size(); ++i) {
          ASSERT_EQ(values[i], i % chunk.count[1] < kChunk[1] / 2 ? left : right)
              << "chunk at " << row << ", " << column << ", kill " << kill;
        }
        ASSERT_TRUE(left == -1 ? right == -1 || right == -2 : right == (left & ~1)) << left;
        newest = std::max(newest, left);
      }
    }
    // The store has nothing but its document and chunks.
    FileSystemStore store(root);
    EXPECT_EQ(store.list("").keys, std::vector<std::string>{"zarr.json"});
    for (const std::string& name : store.list("c").prefixes) {
      for (const std::string& key : store.list("c/" + name).keys) EXPECT_EQ(key.size(), 1) << key;
    }
    const bool has_changed = newest >= round;
    if (has_changed) ++changed;
    longest_life = std::min(longest_life * (has_changed ? 0.8 : 1.25), 900000.0);
    round = (newest | 1) + 1;
  }
  EXPECT_GT(changed, 50);
}

TEST_P(WriteFault, AFullDiskIsAnErrorAndLeavesTheOldChunk) {
  const TemporaryFolder folder;
  const auto root = folder.path() / "a.zarr";
  // Also a child, so that this process has no thread that holds ASan's allocator when it forks.
  ChildProcess maker([&] {
    FileSystemStore store(root);
    create(store);
    const auto array = open_array(std::make_shared<FileSystemStore>(root));
    ArrayWriter writer(array, bounded());
    write(writer, everything(kShape), 1);
    writer.flush();
  });
  ASSERT_EQ(maker.wait(), 0);
  ChildProcess child([&] {
    // No file may become larger than this process allows.
    ::signal(SIGXFSZ, SIG_IGN);
    const ::rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto array = open_array(std::make_shared<FileSystemStore>(root));
    ArrayWriter writer(array, bounded());
    Random random(56);
    const Bytes values = random_bytes(random, kShape[0] * kShape[1] * 4);
    int errors = 0;
    for (int i = 0; i < 2; ++i) {
      try {
        if (i == 0) writer.write(everything(kShape), {values.data(), {800, 4}, nullptr}, threads());
        writer.flush();
      } catch (const Error& error) {
        if (std::string(error.what()).find("c/") != std::string::npos) ++errors;
      }
    }
    if (errors != 2 || writer.pending_bytes() == 0) throw Error("the full disk was not reported");
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(read(*open_array(std::make_shared<FileSystemStore>(root)), everything(kShape)),
            elements(std::vector<std::int32_t>(kShape[0] * kShape[1], 1)));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    EXPECT_FALSE(entry.path().string().ends_with("partial")) << entry.path();
  }
}

}  // namespace
}  // namespace zarrcore::test::write_fault_test
