// Changes of workers, which started from a program's changes, and are merged into it.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/icechunk/refs.h"
#include "zarrcore/icechunk/transaction.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::icechunk_merge {
namespace {

using icechunk::Transaction;
using Work = std::function<void(Transaction& worker)>;

// `more` is what follows its members; without it and `size`, the document that the program puts.
std::string document(const std::string& more = {}, int size = 4) {
  return R"({"zarr_format":3,"node_type":"array","shape":[)" + std::to_string(size) +
         R"(],"data_type":"uint8","chunk_grid":{"name":"regular","configuration":)"
         R"({"chunk_shape":[1]}},"chunk_key_encoding":{"name":"default"},"fill_value":0,)"
         R"("codecs":[{"name":"bytes"}])" +
         more + "}";
}

const std::string kTitled = document(R"(,"attributes":{"title":"t"})");

void put(Store& store, std::string_view key, std::string_view value) {
  store.put(key, std::as_bytes(std::span(value)));
}

std::string text_at(Store& store, std::string_view key) {
  const auto value = store.get(key, kNoSizeLimit);
  return value ? std::string(value->text()) : "(absent)";
}

Work puts(std::string_view key, std::string_view value) {
  return [=](Transaction& worker) { put(worker, key, value); };
}

Work renames(std::string_view from, std::string_view to) {
  return [=](Transaction& worker) { worker.rename_prefix(from, to); };
}

Work erases(std::string_view prefix) {
  return [=](Transaction& worker) { worker.erase_prefix(prefix, {}); };
}

// The program has made the arrays a, with one chunk, and e, which has none; and has changed the
// document of b, which was committed before, as c was.
class MergeTest : public testing::TestWithParam<int> {
 protected:
  MergeTest() {
    icechunk::create_repository(*files, GetParam());
    Transaction before(files, "main", nullptr);
    put(before, "b/zarr.json", document());
    put(before, "b/c/0", "old");
    put(before, "c/zarr.json", document());
    before.commit({});
    program = std::make_unique<Transaction>(files, "main", nullptr);
    put(*program, "a/zarr.json", document());
    put(*program, "a/c/0", "zero");
    put(*program, "e/zarr.json", document());
    put(*program, "b/zarr.json", document(R"(,"attributes":{"program":1})"));
    handed_over = program->changes();
  }

  std::string work(const Work& what) const {
    Transaction worker(files, "main", nullptr);
    worker.merge(handed_over);
    what(worker);
    return worker.changes();
  }
  void merge(const std::vector<Work>& workers) {
    for (const Work& each : workers) program->merge(work(each));
  }
  // The changes are committed, and the branch can be opened again.
  Transaction committed() {
    program->commit({});
    return Transaction(files, "main", nullptr);
  }

  const std::shared_ptr<Store> files = std::make_shared<MemoryStore>();
  std::unique_ptr<Transaction> program;
  std::string handed_over;
};

INSTANTIATE_TEST_SUITE_P(Formats, MergeTest, testing::Values(1, 2));

TEST_P(MergeTest, ADocumentMayBeChangedByOne) {
  merge({puts("a/c/1", "one"), puts("a/zarr.json", kTitled), puts("b/zarr.json", kTitled),
         puts("a/c/2", "two"), puts("b/c/1", "new"), puts("c/zarr.json", kTitled),
         puts("c/c/1", "c")});
  Transaction seen = committed();
  EXPECT_EQ(text_at(seen, "a/zarr.json"), kTitled);
  EXPECT_EQ(text_at(seen, "b/zarr.json"), kTitled);
  EXPECT_EQ(text_at(seen, "a/c/0") + text_at(seen, "a/c/1") + text_at(seen, "a/c/2"), "zeroonetwo");
  EXPECT_EQ(text_at(seen, "b/c/0") + text_at(seen, "b/c/1"), "oldnew");
  EXPECT_EQ(text_at(seen, "c/zarr.json") + text_at(seen, "c/c/1"), kTitled + "c");
}

TEST_P(MergeTest, ADocumentIsNotChangedByTwo) {
  merge({puts("a/zarr.json", kTitled), puts("a/zarr.json", kTitled)});
  for (const char* key : {"a/zarr.json", "b/zarr.json"}) {
    if (key[0] == 'b') put(*program, key, kTitled);
    EXPECT_ERROR(merge({puts(key, document(R"(,"attributes":{"title":"u"})"))}),
                 "was changed, and others have changed its metadata");
  }
  EXPECT_EQ(text_at(*program, "a/zarr.json"), kTitled);
}

TEST_P(MergeTest, AChangeBackIsAChange) {
  merge({puts("b/zarr.json", document())});
  EXPECT_EQ(text_at(*program, "b/zarr.json"), document());
  Transaction seen = committed();
  EXPECT_EQ(text_at(seen, "b/zarr.json"), document());
}

TEST_P(MergeTest, AnArrayIsResizedByOneIfNobodyPutsItsChunks) {
  const Work grows = [](Transaction& worker) {
    put(worker, "a/zarr.json", document({}, 6));
    put(worker, "a/c/5", "five");
  };
  merge({grows});
  EXPECT_EQ(text_at(*program, "a/c/0") + text_at(*program, "a/c/5"), "zerofive");
  EXPECT_ERROR(merge({puts("a/c/1", "one")}), "others have resized it");
  merge({puts("e/c/1", "one")});
  EXPECT_ERROR(merge({puts("e/zarr.json", document({}, 6))}), "was resized, and others");
  committed();
}

TEST_P(MergeTest, ANodeThatWasMovedIsInOnePlace) {
  const Work moves_and_puts = [](Transaction& worker) {
    worker.rename_prefix("a", "z");
    put(worker, "z/c/1", "one");
  };
  if (GetParam() == 1) {  // which has no moves: a copy of chunks that others may have changed
    EXPECT_ERROR(merge({moves_and_puts}), "/a was deleted, and others have changed it");
  } else {
    merge({moves_and_puts});
    EXPECT_EQ(text_at(*program, "a/zarr.json"), "(absent)");
    EXPECT_EQ(text_at(*program, "z/c/0") + text_at(*program, "z/c/1"), "zeroone");
    EXPECT_ERROR(merge({puts("a/c/2", "two")}), "others have");
  }
  merge({renames("e", "y"), puts("b/c/1", "one")});
  EXPECT_EQ(program->list("").prefixes.size(), 4);
  Transaction seen = committed();
  EXPECT_EQ(seen.list("").prefixes.size(), 4);
}

TEST_P(MergeTest, WhatTheProgramMovesOrDeletesLaterIsNotPutBack) {
  for (const Work& change : {renames("a", "z"), erases("a")}) {
    program->roll_back();
    program->merge(handed_over);
    change(*program);
    EXPECT_ERROR(merge({puts("a/c/1", "one")}), "others have");
    merge({puts("e/c/1", "one")});
    EXPECT_EQ(text_at(*program, "a/zarr.json"), "(absent)");
  }
  committed();
}

TEST_P(MergeTest, ANodeIsDeletedIfNobodyHasChangedIt) {
  merge({erases("e")});
  EXPECT_EQ(text_at(*program, "e/zarr.json"), "(absent)");
  EXPECT_ERROR(merge({puts("e/c/1", "one")}), "others have");
  merge({puts("a/c/1", "one")});
  EXPECT_ERROR(merge({erases("a")}), "/a was deleted, and others have changed it");
  Transaction seen = committed();
  EXPECT_EQ(seen.list("").prefixes, (std::vector<std::string>{"a", "b", "c"}));
}

}  // namespace
}  // namespace zarrcore::test::icechunk_merge
