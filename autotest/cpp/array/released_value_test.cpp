// Writing chunks in parts where a value cannot be replaced while it is open, as files on network
// drives of Windows.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::released_value_test {
namespace {

// Fails to replace or erase a value that is open.
class StubbornStore final : public StoreWrapper {
 public:
  StubbornStore() : StubbornStore(std::make_shared<MemoryStore>()) {}

  int changes = 0;  // of values that had been open before

  std::shared_ptr<OpenValue> open(std::string_view key) override {
    return std::make_shared<Value>(*this, std::string(key), memory_->open(key));
  }
  ValueVersion current_version(std::string_view key) override {
    return memory_->current_version(key);
  }
  StoreTraits traits() const override { return {.knows_versions = true}; }

  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    const Buffer bytes = join_parts(parts);
    if (options.expected) check(key);
    const ValuePart whole{bytes.span()};
    return memory_->put_parts(key, {&whole, 1}, options);
  }
  bool erase(std::string_view key, const EraseOptions& options) override {
    if (options.expected) check(key);
    return memory_->erase(key, options);
  }

 private:
  class Value final : public OpenValue {
   public:
    Value(StubbornStore& store, std::string key, std::shared_ptr<OpenValue> inner)
        : store_(store), key_(std::move(key)), inner_(std::move(inner)) {
      ++store_.open_[key_];
    }
    ~Value() override { release(); }

    std::optional<Buffer> get(std::uint64_t max_size) override {
      EXPECT_FALSE(is_released_);
      return inner_->get(max_size);
    }
    std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override {
      EXPECT_FALSE(is_released_);
      return inner_->get_ranges(ranges);
    }
    ValueVersion version() const override { return inner_->version(); }
    void release() override {
      if (!std::exchange(is_released_, true)) --store_.open_[key_];
    }

   private:
    StubbornStore& store_;
    std::string key_;
    std::shared_ptr<OpenValue> inner_;
    bool is_released_ = false;
  };

  explicit StubbornStore(std::shared_ptr<MemoryStore> memory)
      : StoreWrapper(memory), memory_(std::move(memory)) {}

  void check(std::string_view key) {
    const auto it = open_.find(std::string(key));
    if (it == open_.end()) return;
    if (it->second > 0) throw Error("the value is open");
    ++changes;
  }

  std::shared_ptr<MemoryStore> memory_;
  std::map<std::string, int> open_;
};

const std::string kInner = codec_list({bytes_codec(), codec("gzip")});
const std::string kLayouts[] = {
    codec_list({bytes_codec()}),
    codec_list({sharding_codec({2, 2}, kInner, index_codecs())}),
    codec_list({sharding_codec({2, 2}, kInner, index_codecs(), "start")}),
    codec_list({sharding_codec({2, 2}, kInner, index_codecs()), codec("crc32c")}),
    codec_list({sharding_codec({2, 2}, kInner, index_codecs()), codec("gzip")}),
};

class ReleasedValue : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Layouts, ReleasedValue, testing::ValuesIn(kLayouts));

TEST_P(ReleasedValue, AChunkIsReplacedOnceItsOldValueIsNoLongerOpen) {
  const Shape shape{4, 6};
  const auto store = std::make_shared<StubbornStore>();
  put_document(*store, "", array_document(shape, {4, 6}, "\"uint8\"", GetParam()));
  Bytes expected(24);
  ArrayWriter writer(open_array(store));
  ArrayWriter other(open_array(store));
  const auto write = [&](ArrayWriter& by, const Selection& selection, int value) {
    const Bytes one(1, std::byte(value));
    by.write(selection, {one.data(), {0, 0}, nullptr});
  };
  const auto expect = [&](const Selection& selection, int value) {
    for (std::uint64_t i = 0; i < selection.count[0]; ++i) {
      for (std::uint64_t k = 0; k < selection.count[1]; ++k) {
        expected[(selection.start[0] + i) * 6 + selection.start[1] + k] = std::byte(value);
      }
    }
  };
  Random random(57);
  for (int round = 1; round < 60; ++round) {
    // At times all of it is the fill value, and erased.
    const bool is_empty = round % 10 == 0;
    const std::uint64_t row = is_empty ? 0 : random_number(random, 0, 3);
    const std::uint64_t column = is_empty ? 0 : random_number(random, 0, 5);
    const Selection box{{row, column},
                        {is_empty ? 4 : random_number(random, 1, 4 - row),
                         is_empty ? 6 : random_number(random, 1, 6 - column)},
                        {}};
    const int value = is_empty ? 0 : round;
    write(writer, box, value);
    // What the first writer has read is no longer the newest version; a whole chunk has been put.
    if (round % 2 == 0 && box.count != shape) {
      const Selection one{{round % 4u, round % 6u}, {1, 1}, {}};
      write(other, one, 100 + round);
      other.flush();
      expect(one, 100 + round);
    }
    writer.flush();
    expect(box, value);
    if (round % 2 == 0) continue;
    ASSERT_EQ(read(*open_array(store), everything(shape)), expected) << "round " << round;
  }
  EXPECT_GT(store->changes, 50);
}

}  // namespace
}  // namespace zarrcore::test::released_value_test
