// Whatever happens to a file of a repository: an error, or the right values.
#include <gtest/gtest.h>

#include <optional>

#include "autotest/cpp/support/one_virtual_file.h"
#include "zarrcore/icechunk/transaction.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::damage_test {
namespace {

using icechunk::IcechunkStore;
using icechunk::Repository;

constexpr const char* kKeys[] = {"zarr.json", "g/a/zarr.json", "g/a/c/0", "g/a/c/1",
                                 "g/a/c/2",   "g/a/c/3",       "g/a/c/4", "g/a/c/5"};

// All values and listings; nullopt after an error.
std::optional<std::string> read_all(const std::shared_ptr<Store>& files) {
  try {
    IcechunkStore store(Repository::open(files), {}, std::make_shared<OneVirtualFile>());
    std::string all;
    for (const char* key : kKeys) {
      const auto value = store.get(key, 1 << 20);
      all += value ? "value " + std::string(value->text()) : "missing";
    }
    for (const char* prefix : {"", "g", "g/a", "g/a/c"}) {
      const DirectoryListing listing = store.list(prefix);
      for (const std::string& name : listing.keys) all += name + ",";
      for (const std::string& name : listing.prefixes) all += name + "/,";
    }
    return all;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// To a copy: an error, or a commit.
void try_to_change(Store& files) {
  const auto copy = std::make_shared<MemoryStore>();
  for (const std::string& key : files.list_all("")) {
    copy->put(key, files.get(key, kNoSizeLimit).value().span());
  }
  try {
    icechunk::Transaction transaction(copy, "main", std::make_shared<OneVirtualFile>());
    transaction.put("g/a/c/5", std::as_bytes(std::span("55", 2)));
    transaction.erase("g/a/c/0");
    transaction.commit({});
  } catch (const Error&) {
    // Of damage that is noticed.
  }
}

class DamagedIcechunk : public testing::TestWithParam<const char*> {
 protected:
  explicit DamagedIcechunk(FileCompression compression = FileCompression::zstd_with_checksum) {
    repository_.compression = compression;
    repository_.put(*files_);
    whole_ = read_all(files_).value();
    file_ = files_->get(GetParam(), kNoSizeLimit)->text();
  }

  void put(const std::string& file) { files_->put(GetParam(), std::as_bytes(std::span(file))); }

  IcechunkRepository repository_;
  std::shared_ptr<MemoryStore> files_ = std::make_shared<MemoryStore>();
  std::string whole_;
  std::string file_;
};

class UncompressedIcechunk : public DamagedIcechunk {
 protected:
  UncompressedIcechunk() : DamagedIcechunk(FileCompression::none) {}
};

constexpr const char* kFiles[] = {"repo", IcechunkRepository::kSnapshotKey,
                                  IcechunkRepository::kManifestKey};
INSTANTIATE_TEST_SUITE_P(File, DamagedIcechunk, testing::ValuesIn(kFiles));
INSTANTIATE_TEST_SUITE_P(File, UncompressedIcechunk, testing::ValuesIn(kFiles));

TEST_P(DamagedIcechunk, ChangedBytes) {
  int errors = 0;
  for (std::size_t i = 0; i < file_.size(); ++i) {
    for (const int flipped : {0x01, 0x80, 0xff}) {
      std::string damaged = file_;
      damaged[i] = static_cast<char>(damaged[i] ^ flipped);
      put(damaged);
      const auto all = read_all(files_);
      EXPECT_TRUE(!all || *all == whole_) << "byte " << i << ", " << flipped;
      errors += !all;
    }
  }
  EXPECT_GT(errors, 2 * static_cast<int>(file_.size()));
}

TEST_P(DamagedIcechunk, EveryLength) {
  for (std::size_t size = 0; size < file_.size(); ++size) {
    put(file_.substr(0, size));
    EXPECT_FALSE(read_all(files_)) << size;
  }
  put(file_ + "more");
  EXPECT_FALSE(read_all(files_));
}

// Nothing tells wrong bytes of an id, a document or a chunk from right ones: it must be safe.
TEST_P(UncompressedIcechunk, ChangedBytesAreSafe) {
  int errors = 0;
  for (std::size_t i = 0; i < file_.size(); ++i) {
    for (const int flipped : {0x01, 0x04, 0x40, 0x80, 0xff}) {
      std::string damaged = file_;
      damaged[i] = static_cast<char>(damaged[i] ^ flipped);
      put(damaged);
      errors += !read_all(files_);
      if (flipped == 0x01 || flipped == 0xff) try_to_change(*files_);
    }
  }
  EXPECT_GT(errors, 0);
}

TEST_P(UncompressedIcechunk, EveryLength) {
  for (std::size_t size = 0; size < file_.size(); ++size) {
    put(file_.substr(0, size));
    const auto all = read_all(files_);
    EXPECT_TRUE(!all || *all == whole_) << size;
  }
}

TEST(DamagedIcechunkObject, EveryLength) {
  const IcechunkRepository repository;
  const auto files = std::make_shared<MemoryStore>();
  repository.put(*files);
  const std::string whole = read_all(files).value();
  for (std::size_t size = 0; size < repository.object.size(); ++size) {
    files->put(IcechunkRepository::kObjectKey,
               std::as_bytes(std::span(repository.object).first(size)));
    const auto all = read_all(files);
    EXPECT_TRUE(!all || *all == whole) << size;
    EXPECT_EQ(all.has_value(), size >= 5) << size;
  }
}

}  // namespace
}  // namespace zarrcore::test::damage_test
