#include "zarrcore/icechunk/transaction.h"

#include <gtest/gtest.h>

#include <string>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/one_virtual_file.h"
#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/icechunk/refs.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::icechunk_transaction {
namespace {

using icechunk::IcechunkStore;
using icechunk::Repository;
using icechunk::Transaction;

constexpr std::string_view kGroup = R"({"zarr_format":3,"node_type":"group"})";

std::string array_document(const std::string& shape, const std::string& chunks,
                           const std::string& separator = "/") {
  return R"({"zarr_format":3,"node_type":"array","shape":)" + shape +
         R"(,"data_type":"uint8","chunk_grid":{"name":"regular","configuration":{"chunk_shape":)" +
         chunks + R"(}},"chunk_key_encoding":{"name":"default","configuration":{"separator":")" +
         separator + R"("}},"fill_value":0,"codecs":[{"name":"bytes"}],"attributes":{}})";
}

void put(Store& store, std::string_view key, std::string_view value) {
  store.put(key, std::as_bytes(std::span(value)));
}

std::string text_at(Store& store, std::string_view key) {
  const auto value = store.get(key, kNoSizeLimit);
  return value ? std::string(value->text()) : "(absent)";
}

// Repositories in memory, of each format.
class TransactionTest : public testing::TestWithParam<int> {
 protected:
  TransactionTest() { icechunk::create_repository(*files, GetParam()); }

  Transaction start(const std::string& branch = "main") {
    return Transaction(files, branch, std::make_shared<OneVirtualFile>());
  }
  // What others see.
  IcechunkStore stored(const std::string& branch = "main") {
    return IcechunkStore(Repository::open(files), {icechunk::VersionName::Kind::branch, branch},
                         std::make_shared<OneVirtualFile>());
  }

  const std::shared_ptr<MemoryStore> files = std::make_shared<MemoryStore>();
};

INSTANTIATE_TEST_SUITE_P(Formats, TransactionTest, testing::Values(1, 2));

TEST_P(TransactionTest, ShowsItsChangesToOthersOnceTheyAreCommitted) {
  Transaction transaction = start();
  EXPECT_FALSE(transaction.has_changes());
  put(transaction, "zarr.json", kGroup);
  put(transaction, "a/zarr.json", array_document("[4,6]", "[2,2]"));
  const std::string large(1000, 'x');
  put(transaction, "a/c/0/1", "four");
  put(transaction, "a/c/1/2", large);
  EXPECT_TRUE(transaction.has_changes());
  EXPECT_EQ(text_at(transaction, "a/c/1/2"), large);
  EXPECT_TRUE(stored().list_all("").empty());

  transaction.commit({.message = "first"});
  EXPECT_FALSE(transaction.has_changes());
  for (Store* store : {static_cast<Store*>(&transaction)}) {
    EXPECT_EQ(text_at(*store, "a/c/0/1"), "four");
    EXPECT_EQ(text_at(*store, "a/c/1/2"), large);
    EXPECT_EQ(text_at(*store, "a/c/0/0"), "(absent)");
  }
  IcechunkStore seen = stored();
  EXPECT_EQ(text_at(seen, "zarr.json"), kGroup);
  EXPECT_EQ(text_at(seen, "a/c/0/1"), "four");
  EXPECT_EQ(text_at(seen, "a/c/1/2"), large);
  EXPECT_EQ(seen.list_all(""),
            (std::vector<std::string>{"a/c/0/1", "a/c/1/2", "a/zarr.json", "zarr.json"}));
  EXPECT_EQ(transaction.list_all(""), seen.list_all(""));

  put(transaction, "a/c/0/1", "five");
  transaction.erase("a/c/1/2");
  transaction.commit({.message = "second"});
  IcechunkStore later = stored();
  EXPECT_EQ(text_at(later, "a/c/0/1"), "five");
  EXPECT_EQ(text_at(later, "a/c/1/2"), "(absent)");
}

}  // namespace
}  // namespace zarrcore::test::icechunk_transaction
