// Readers beside another program that replaces values.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "autotest/cpp/support/temporary_folder.h"
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
};
void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.name;
}

std::string bare(const char* location) {
  return codec_list(
      {sharding_codec({2, 2}, codec_list({bytes_codec()}), index_codecs(), location)});
}

const Layout kReplacedLayouts[] = {
    {"no shard", codec_list({bytes_codec()})},
    {"index at the end", bare("end")},
    {"index at the start", bare("start")},
    {"nested", codec_list({sharding_codec({4, 2}, bare("end"), index_codecs())})},
    {"compressed as a whole", shard_codecs(codec("gzip", R"("level": 1)"), "end")},
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
