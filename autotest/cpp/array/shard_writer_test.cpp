#include <gtest/gtest.h>

#include <algorithm>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/array/stored_shard.h"
#include "zarrcore/metadata/codec_metadata.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::shard_writer_test {
namespace {

using Entry = ShardIndex::Entry;

// Shards of four inner chunks of up to 8 bytes and some more, of which the tests here decode none.
class ShardWriter : public testing::Test {
 protected:
  static CodecChain make_chain(const std::string& location = "end",
                               const std::vector<std::string>& more = {}) {
    std::vector<std::string> codecs{
        sharding_codec({8}, codec_list({bytes_codec()}), index_codecs(), location)};
    codecs.insert(codecs.end(), more.begin(), more.end());
    const auto metadata = parse_codec_list(parse_json(codec_list(codecs)), "codecs");
    return CodecChain(metadata, {{32}, {TypeKind::unsigned_integer, 1}, Bytes(1)});
  }

  void put(const CodecChain& chain, std::string_view payload, const std::vector<Entry>& entries) {
    Bytes shard = bytes_of(payload);
    const Buffer index = chain.sharding()->encode_index(entries);
    shard.insert(shard.end(), index.span().begin(), index.span().end());
    store_->put("s", shard);
  }

  // The inner chunks of the shard, with "-" for those that are absent.
  std::vector<std::string> chunks(const CodecChain& chain) {
    const StoredShard shard(*store_, "s", chain, false);
    if (!shard.exists()) return {};
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < 4; ++i) {
      const auto entry = shard.find(i);
      texts.emplace_back(entry ? std::string(shard.read(entry->offset, entry->length).text())
                               : "-");
    }
    return texts;
  }

  // Changes inner chunks of the shard as it is stored.
  static bool change(Store& store, const CodecChain& chain, const InnerChunks& changed) {
    const StoredShard stored(store, "s", chain, true);
    return put_shard(store, "s", chain, changed, &stored, {stored.version()});
  }

  static ByteSpan bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

  std::shared_ptr<Store> store_ = std::make_shared<MemoryStore>();
};

using Texts = std::vector<std::string>;

TEST_F(ShardWriter, ChangesSomeAndKeepsTheOthersAsTheyAre) {
  for (const auto& [location, more] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"end", {}}, {"start", {}}, {"end", {codec("crc32c")}}, {"start", {codec("crc32c")}}}) {
    const CodecChain chain = make_chain(location, more);
    store_->erase("s");
    EXPECT_TRUE(change(*store_, chain, {{0, bytes("one")}, {2, bytes("three")}}));
    EXPECT_EQ(chunks(chain), (Texts{"one", "-", "three", "-"}));
    EXPECT_TRUE(change(*store_, chain, {{1, bytes("2")}, {2, std::nullopt}}));
    EXPECT_EQ(chunks(chain), (Texts{"one", "2", "-", "-"}));
    put_shard(*store_, "s", chain, {{3, bytes("four")}}, nullptr);
    EXPECT_EQ(chunks(chain), (Texts{"-", "-", "-", "four"}));
    EXPECT_TRUE(change(*store_, chain, {{3, std::nullopt}}));
    EXPECT_EQ(store_->get("s"), std::nullopt);
  }
}

TEST_F(ShardWriter, GapsGoAndEqualChunksStayOne) {
  const CodecChain chain = make_chain();
  put(chain, "..ABCD....xy", {{10, 2}, {2, 4}, {2, 4}, {}});
  change(*store_, chain, {{3, bytes("!")}});
  EXPECT_EQ(chunks(chain), (Texts{"xy", "ABCD", "ABCD", "!"}));
  EXPECT_EQ(store_->get("s")->size(), 2 + 4 + 1 + chain.sharding()->encoded_index_size());
}

TEST_F(ShardWriter, AnIndexThatLiesIsAnErrorAndNothingIsPut) {
  struct {
    const char* what;
    std::vector<Entry> entries;
  } const cases[] = {
      {"overlap", {{0, 8}, {1, 7}, {}, {}}}, {"overlap", {{2, 3}, {0, 8}, {}, {}}},
      {"overlap", {{0, 4}, {0, 5}, {}, {}}}, {"which cannot be right", {{0, 9}, {}, {}, {}}},
      {"outside", {{1000, 8}, {}, {}, {}}},  {"outside", {{UINT64_MAX - 8, 8}, {}, {}, {}}},
  };
  const CodecChain chain = make_chain();
  for (const auto& [what, entries] : cases) {
    put(chain, "0123456789abcdef", entries);
    const Bytes before = to_bytes(store_->get("s")->span());
    EXPECT_ERROR(change(*store_, chain, {{3, bytes("!")}}), what);
    EXPECT_EQ(to_bytes(store_->get("s")->span()), before);
  }
}

// A store whose value becomes another one after its first part has been requested.
class ChangingStore final : public StoreWrapper {
 public:
  ChangingStore(std::shared_ptr<Store> inner, Bytes next)
      : StoreWrapper(inner), inner_(std::move(inner)), next_(std::move(next)) {}

  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    auto parts = StoreWrapper::get_ranges(key, ranges);
    inner_->put(key, next_);
    return parts;
  }

 private:
  std::shared_ptr<Store> inner_;
  Bytes next_;
};

TEST_F(ShardWriter, WhatSomebodyElseHasPutMeanwhileIsNotMixedIn) {
  const CodecChain chain = make_chain();
  put(chain, "NEWnew", {{3, 3}, {0, 3}, {}, {}});
  const Bytes next = to_bytes(store_->get("s")->span());
  put(chain, "oldOLD", {{0, 3}, {3, 3}, {}, {}});
  ChangingStore changing(store_, next);
  EXPECT_THROW(change(changing, chain, {{3, bytes("!")}}), ValueChanged);
  EXPECT_EQ(to_bytes(store_->get("s")->span()), next);
  change(changing, chain, {{3, bytes("!")}});
  EXPECT_EQ(chunks(chain), (Texts{"new", "NEW", "-", "!"}));
}

// Records the largest part of a value that it gets at once.
class PartsStore final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    auto value = StoreWrapper::get(key, max_size);
    note(value ? value->size() : 0);
    return value;
  }
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    auto parts = StoreWrapper::get_ranges(key, ranges);
    for (std::size_t i = 0; parts && i < parts->size(); ++i) note((*parts)[i].size());
    return parts;
  }
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    for (const ValuePart& part : parts) note(part.bytes.size());
    return StoreWrapper::put_parts(key, parts, options);
  }

  std::uint64_t largest() const { return largest_; }

 private:
  void note(std::uint64_t size) { largest_ = std::max(largest_, size); }

  std::uint64_t largest_ = 0;
};

TEST(ShardedWriting, NeverHasAShardInOnePiece) {
  // Shards of 16 MB, inner chunks of 256 KB.
  const std::shared_ptr<Store> memory = std::make_shared<MemoryStore>();
  const auto store = std::make_shared<PartsStore>(memory);
  const Shape shape{16 << 20};
  put_document(
      *store, "",
      array_document(
          shape, shape, "\"uint8\"",
          codec_list({sharding_codec({256 << 10}, codec_list({bytes_codec()}), index_codecs())})));
  const auto array = open_array(store);
  ArrayWriter writer(array);
  const std::byte value{1};
  writer.write(everything(shape), {&value, {0}, nullptr});
  EXPECT_EQ(writer.pending_bytes(), 0);
  EXPECT_EQ(memory->get("c/0")->size() >> 20, 16);
  EXPECT_EQ(store->largest(), 256 << 10);
  // And a part of it.
  const std::byte other{2};
  writer.write({{100}, {1}, {}}, {&other, {0}, nullptr});
  writer.flush();
  EXPECT_LE(store->largest(), 8 << 20);
  Bytes expected(16 << 20, value);
  expected[100] = other;
  EXPECT_EQ(read(*array, everything(shape)), expected);
}

TEST(ShardedWriting, EmptyInnerChunksAreStoredAtAllLevelsIfAskedFor) {
  const std::string plain = codec_list({bytes_codec()});
  const std::string inner = sharding_codec({1}, plain, index_codecs());
  for (const std::string& codecs :
       {codec_list({sharding_codec({2}, codec_list({inner}), index_codecs())}),
        codec_list({inner, codec("gzip")})}) {
    const std::shared_ptr<Store> store = std::make_shared<MemoryStore>();
    put_document(*store, "", array_document({4}, {4}, "\"uint8\"", codecs));
    const auto array = open_array(store);
    for (const bool stores_empty : {false, true}) {
      ArrayWriter writer(array, {.stores_empty_chunks = stores_empty});
      const Bytes values = bytes_of({1, 0, 0, 0});
      writer.write(everything({4}), {values.data(), {1}, nullptr});
      writer.flush();
      for (const std::uint64_t position : {1, 3}) {
        EXPECT_EQ(array->find_stored_range({&position, 1}).has_value(), stores_empty);
      }
    }
  }
}

TEST(ShardedWriting, InnerChunksThatStayAreNotDecoded) {
  const std::shared_ptr<Store> store = std::make_shared<MemoryStore>();
  put_document(
      *store, "",
      array_document({4}, {4}, "\"uint8\"",
                     codec_list({sharding_codec({2}, codec_list({bytes_codec(), codec("crc32c")}),
                                                index_codecs())})));
  const auto array = open_array(store);
  ArrayWriter writer(array);
  const Bytes values = bytes_of({1, 2, 3, 4});
  writer.write(everything({4}), {values.data(), {1}, nullptr});
  // Break the first inner chunk, and change the second.
  Bytes shard = to_bytes(store->get("c/0")->span());
  shard[0] = std::byte{99};
  store->put("c/0", shard);
  writer.write({{3}, {1}, {}}, {values.data(), {1}, nullptr});
  writer.flush();
  EXPECT_EQ(to_bytes(store->get("c/0")->span().first(6)), Bytes(shard.begin(), shard.begin() + 6));
  EXPECT_EQ(read(*array, {{2}, {2}, {}}), bytes_of({3, 1}));
  EXPECT_ERROR(read(*array, {{0}, {2}, {}}), "crc32c");
}

}  // namespace
}  // namespace zarrcore::test::shard_writer_test
