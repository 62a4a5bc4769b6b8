// Readers beside another program that replaces values.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::replaced_value_test {
namespace {

const Shape kShardShape{4, 4};
const Selection kAll = everything(kShardShape);

std::string shard_codecs(const std::string& inner, const char* location) {
  return codec_list(
      {sharding_codec({2, 2}, codec_list({bytes_codec()}), index_codecs(), location), inner});
}

struct Layout {
  const char* name;
  std::string codecs;
  Shape written;  // what a write of the first element keeps in memory
};
void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.name;
}

std::string bare(const char* location) {
  return codec_list(
      {sharding_codec({2, 2}, codec_list({bytes_codec()}), index_codecs(), location)});
}

const Layout kReplacedLayouts[] = {
    {"no shard", codec_list({bytes_codec()}), {4, 4}},
    {"index at the end", bare("end"), {2, 2}},
    {"index at the start", bare("start"), {2, 2}},
    {"nested", codec_list({sharding_codec({4, 2}, bare("end"), index_codecs())}), {4, 2}},
    {"nested and compressed",
     codec_list({sharding_codec({4, 2}, shard_codecs(codec("gzip"), "end"), index_codecs())}),
     {4, 2}},
    {"with a checksum", shard_codecs(codec("crc32c"), "end"), {2, 2}},
    {"compressed as a whole", shard_codecs(codec("gzip", R"("level": 1)"), "end"), {4, 4}},
};

// One shard; the given inner chunks hold one value each, those of 0 are absent.
Bytes values_of(int upper_left, int upper_right, int lower_left, int lower_right) {
  Bytes values(16);
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 4; ++x) {
      const int value =
          y < 2 ? (x < 2 ? upper_left : upper_right) : (x < 2 ? lower_left : lower_right);
      values[y * 4 + x] = static_cast<std::byte>(value);
    }
  }
  return values;
}

void put_values(Store& store, const Layout& layout, const Bytes& values) {
  write_array(store, "", array_document(kShardShape, kShardShape, "\"uint8\"", layout.codecs),
              values);
}

class ReplacedValue : public testing::TestWithParam<Layout> {
 protected:
  // Inner chunks lie elsewhere in each, and the second shard is longer.
  const Bytes before_ = values_of(0, 22, 0, 44);
  const Bytes after_ = values_of(51, 52, 53, 54);
};

INSTANTIATE_TEST_SUITE_P(Layouts, ReplacedValue, testing::ValuesIn(kReplacedLayouts),
                         [](const auto& layout) {
                           std::string name = layout.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

// Files that were written just now, which no cache keeps, and files that are older.
TEST_P(ReplacedValue, AnOpenArrayOfLocalFilesSeesItAtOnce) {
  const TemporaryFolder folder;
  const auto store = std::make_shared<FileSystemStore>(folder.path());
  put_values(*store, GetParam(), before_);
  const auto array = open_array(store);
  const Selection corner{{3, 3}, {1, 1}, {}};
  int age = 0;
  for (const Bytes& values : {before_, after_, before_, after_, before_, after_}) {
    put_values(*store, GetParam(), values);
    if (++age > 2) {
      namespace fs = std::filesystem;
      fs::last_write_time(folder.path() / "c/0/0",
                          fs::file_time_type::clock::now() - std::chrono::hours(age));
    }
    EXPECT_EQ(read(*array, corner), selected(values, kShardShape, 1, corner));
    EXPECT_EQ(read(*array, kAll), values);
    EXPECT_EQ(read(*array, corner), selected(values, kShardShape, 1, corner));
  }
  store->erase("c/0/0");
  EXPECT_EQ(read(*array, kAll), Bytes(16));
}

// Tells versions by its answers alone, as web servers do, and runs a function after each.
class AnsweringStore final : public StoreWrapper {
 public:
  explicit AnsweringStore(std::shared_ptr<Store> inner)
      : StoreWrapper(inner), inner_(std::move(inner)) {}

  std::function<void()> after_answer = [] {};

  std::shared_ptr<OpenValue> open(std::string_view key) override {
    return std::make_shared<Value>(*this, key);
  }

 private:
  class Value final : public OpenValue {
    template <typename Ask>
    auto answer(const Ask& ask) {
      const auto value = store_.inner_->open(key_);
      auto result = ask(*value);
      if (result && value->version().differs_from(version_)) throw ValueChanged();
      if (result) version_ = value->version();
      store_.after_answer();
      return result;
    }

   public:
    Value(AnsweringStore& store, std::string_view key) : store_(store), key_(key) {}

    std::optional<Buffer> get(std::uint64_t max_size) override {
      return answer([&](OpenValue& value) { return value.get(max_size); });
    }
    std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override {
      return answer([&](OpenValue& value) { return value.get_ranges(ranges); });
    }
    ValueVersion version() const override { return version_; }

   private:
    AnsweringStore& store_;
    std::string key_;
    ValueVersion version_;
  };

  std::shared_ptr<Store> inner_;
};

TEST_P(ReplacedValue, WhatARemoteStoreAnswersIsOfOneState) {
  const auto memory = std::make_shared<MemoryStore>();
  const auto store = std::make_shared<AnsweringStore>(memory);
  put_values(*memory, GetParam(), before_);
  const auto array = open_array(store);
  bool is_replaced = false;
  store->after_answer = [&] {
    if (!std::exchange(is_replaced, true)) put_values(*memory, GetParam(), after_);
  };
  const Bytes got = read(*array, kAll);
  EXPECT_TRUE(got == before_ || got == after_);
  put_values(*memory, GetParam(), after_);
  array->refresh();
  EXPECT_EQ(read(*array, kAll), after_);
}

TEST_P(ReplacedValue, AnIndexThatWasKeptIsNotUsedForAnotherState) {
  const auto memory = std::make_shared<MemoryStore>();
  const auto store = std::make_shared<AnsweringStore>(memory);
  put_values(*memory, GetParam(), before_);
  const auto array = open_array(store);
  const Selection corner{{3, 3}, {1, 1}, {}};
  read(*array, corner);
  put_values(*memory, GetParam(), after_);
  array->refresh();
  EXPECT_EQ(read(*array, kAll), after_);
  // Nor without an error, when more of the value is requested.
  read(*array, corner);
  put_values(*memory, GetParam(), before_);
  const Selection other{{0, 0}, {2, 4}, {}};
  const Bytes got = read(*array, other);
  EXPECT_TRUE(got == selected(before_, kShardShape, 1, other) ||
              got == selected(after_, kShardShape, 1, other));
}

// Values stay open as they were, as local files do. Runs a function before each operation.
class InterruptedStore final : public StoreWrapper {
 public:
  explicit InterruptedStore(std::shared_ptr<Store> inner)
      : StoreWrapper(inner), inner_(std::move(inner)) {}

  // Runs `interrupt` once, before the operation after so many others.
  void set_interrupt(int operations, std::function<void()> interrupt) {
    const std::lock_guard lock(mutex_);
    countdown_ = operations;
    interrupt_ = std::move(interrupt);
  }
  bool was_interrupted() const {
    const std::lock_guard lock(mutex_);
    return countdown_ < 0;
  }

  std::shared_ptr<OpenValue> open(std::string_view key) override {
    count();
    return std::make_shared<Value>(*this, inner_->open(key));
  }
  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    count();
    return inner_->get(key, max_size);
  }
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    count();
    return inner_->get_ranges(key, ranges);
  }
  ValueVersion current_version(std::string_view key) override {
    count();
    return inner_->current_version(key);
  }
  StoreTraits traits() const override { return {.knows_versions = true}; }
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    return inner_->put_parts(key, parts, options);
  }

 private:
  class Value final : public OpenValue {
   public:
    Value(InterruptedStore& store, std::shared_ptr<OpenValue> inner)
        : store_(store), inner_(std::move(inner)) {}

    std::optional<Buffer> get(std::uint64_t max_size) override {
      store_.count();
      return inner_->get(max_size);
    }
    std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override {
      store_.count();
      return inner_->get_ranges(ranges);
    }
    ValueVersion version() const override { return inner_->version(); }

   private:
    InterruptedStore& store_;
    std::shared_ptr<OpenValue> inner_;
  };

  void count() {
    const std::lock_guard lock(mutex_);
    if (countdown_ >= 0 && countdown_-- == 0) interrupt_();
  }

  std::shared_ptr<Store> inner_;
  mutable std::mutex mutex_;
  int countdown_ = -1;
  std::function<void()> interrupt_;
};

// Replaces a shard during a read: before its first operation, then, in another array, before its
// second one, and so on. `read_array` is called with the array, the selection, and a function to
// call right before the read. Later reads have the new state.
template <typename Read>
void replace_before_each_operation(const Layout& layout, const Bytes& before, const Bytes& after,
                                   const Read& read_array) {
  for (const Selection& selection : {kAll, Selection{{1, 0}, {2, 4}, {}}}) {
    for (const bool is_known : {false, true}) {
      bool is_replaced = true;
      for (int operations = 0; is_replaced; ++operations) {
        const auto memory = std::make_shared<MemoryStore>();
        put_values(*memory, layout, before);
        const auto store = std::make_shared<InterruptedStore>(memory);
        const auto array = open_array(store);
        if (is_known) read(*array, {{3, 3}, {1, 1}, {}});
        const auto interrupt = [&] {
          store->set_interrupt(operations, [&] { put_values(*memory, layout, after); });
        };
        read_array(array, selection, interrupt);
        is_replaced = store->was_interrupted();
        store->set_interrupt(-1, {});
        EXPECT_EQ(read(*array, selection),
                  selected(is_replaced ? after : before, kShardShape, 1, selection));
        EXPECT_EQ(read(*array, kAll), is_replaced ? after : before);
      }
    }
  }
}

TEST_P(ReplacedValue, WhatIsReadIsOfOneState) {
  for (const std::size_t threads : {1, 3}) {
    replace_before_each_operation(
        GetParam(), before_, after_,
        [&](const auto& array, const Selection& selection, const auto& interrupt) {
          interrupt();
          const Bytes got = read(*array, selection, {.threads = threads});
          EXPECT_TRUE(got == selected(before_, kShardShape, 1, selection) ||
                      got == selected(after_, kShardShape, 1, selection));
        });
  }
}

TEST_P(ReplacedValue, WhatIsReadBesidePendingElementsIsOfOneState) {
  for (const std::size_t threads : {1, 3}) {
    replace_before_each_operation(
        GetParam(), before_, after_,
        [&](const auto& array, const Selection& selection, const auto& interrupt) {
          ArrayWriter writer(array);
          const std::byte pending{9};
          writer.write({{0, 0}, {1, 1}, {}}, {&pending, {0, 0}, nullptr});
          interrupt();
          Bytes got(selection.count[0] * selection.count[1]);
          writer.read(selection, {got.data(), c_strides(selection.count, 1), nullptr},
                      {.threads = threads});
          // What is pending is as it was when it was written to.
          const auto is_of = [&](const Bytes& state) {
            Bytes values = state;
            for (std::size_t y = 0; y < GetParam().written[0]; ++y) {
              for (std::size_t x = 0; x < GetParam().written[1]; ++x) {
                values[y * 4 + x] = before_[y * 4 + x];
              }
            }
            values[0] = pending;
            return got == selected(values, kShardShape, 1, selection);
          };
          EXPECT_TRUE(is_of(before_) || is_of(after_));
        });
  }
}

// A walk through the inner chunks of two shards, both of which are replaced on the way.
TEST(ReplacedShard, WhatIsReadAheadIsOfOneState) {
  const Shape shape{2, 128};
  const std::string document_codecs = bare("end");
  const auto put = [&](Store& store, bool is_new) {
    Bytes values(256);
    for (std::size_t i = 0; i < values.size(); ++i) {
      // Inner chunks have two columns. Those of even numbers are missing before.
      const std::size_t chunk = i % 128 / 2;
      values[i] = static_cast<std::byte>(is_new ? 100 + chunk : chunk % 2 * chunk);
    }
    write_array(store, "", array_document(shape, {2, 64}, "\"uint8\"", document_codecs), values);
    return values;
  };
  ReadOptions options;
  options.threads = 3;
  options.lasting_scope = [] { return WorkerScope(); };
  for (int operations = 0; operations < 150; ++operations) {
    const auto memory = std::make_shared<MemoryStore>();
    const Bytes before = put(*memory, false);
    const auto store = std::make_shared<InterruptedStore>(memory);
    const auto array = open_array(store);
    Bytes after = before;
    store->set_interrupt(operations, [&] { after = put(*memory, true); });
    for (std::uint64_t x = 0; x < 128; x += 4) {
      const Selection selection{{0, x}, {2, 4}, {}};
      const Bytes got = read(*array, selection, options);
      const bool was_interrupted = store->was_interrupted();
      EXPECT_TRUE(got == selected(before, shape, 1, selection) ||
                  (was_interrupted && got == selected(after, shape, 1, selection)))
          << "replaced before operation " << operations << ", read at " << x;
    }
  }
}

// An inner chunk that is missing when another one is written to, and then put by another program.
TEST(ReplacedShard, WhatAnotherProgramHasPutIsSeenBesideWhatIsWritten) {
  const Layout& layout = kReplacedLayouts[1];
  const auto memory = std::make_shared<MemoryStore>();
  put_values(*memory, layout, values_of(0, 22, 0, 44));
  const auto array = open_array(memory);
  ArrayWriter writer(array);
  const std::byte pending{9};
  writer.write({{0, 2}, {1, 1}, {}}, {&pending, {0, 0}, nullptr});
  put_values(*memory, layout, values_of(51, 22, 53, 44));
  writer.write({{0, 0}, {1, 1}, {}}, {&pending, {0, 0}, nullptr});
  Bytes expected = values_of(51, 22, 53, 44);
  expected[0] = expected[2] = pending;
  Bytes seen(16);
  writer.read(kAll, {seen.data(), c_strides(kShardShape, 1), nullptr});
  EXPECT_EQ(seen, expected);
  writer.flush();
  EXPECT_EQ(read(*array, kAll), expected);
}

TEST(ReplacedShard, OneThatNeverStaysIsAnError) {
  const Layout& layout = kReplacedLayouts[1];
  const auto memory = std::make_shared<MemoryStore>();
  const auto store = std::make_shared<AnsweringStore>(memory);
  put_values(*memory, layout, values_of(1, 2, 3, 4));
  const auto array = open_array(store);
  int count = 0;
  store->after_answer = [&] {
    ++count;
    put_values(*memory, layout, values_of(count, 0, count, count));
  };
  EXPECT_ERROR(read(*array, kAll), "c/0/0: another program replaced the value");
}

}  // namespace
}  // namespace zarrcore::test::replaced_value_test
