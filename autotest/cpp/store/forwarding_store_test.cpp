#include "zarrcore/store/forwarding_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autotest/cpp/support/bytes.h"
#include "zarrcore/store/listed_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::forwarding_store_test {
namespace {

// Answers every operation with values of its own, and records what it was asked.
class RecordingStore final : public Store {
 public:
  class Lock final : public StoreLock {};
  class Listings final : public KnownListings {
   public:
    void use_listings() override { is_used = true; }
    bool is_known_absent(std::string_view path) const override { return path == "p"; }

    bool is_used = false;
  };

  std::string description() const override { return record("description"), "recording"; }
  StoreTraits traits() const override {
    record("traits");
    return {true, true, true, 2, 3, 4, true, true, "a reason", &statistics, nullptr, &listings};
  }
  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    record("get", key, max_size);
    return Buffer::copy_of(bytes_of("value"));
  }
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    record("get_ranges", key, ranges[0].length);
    return std::vector<Buffer>(7);
  }
  std::shared_ptr<OpenValue> open(std::string_view key) override {
    record("open", key);
    return value;
  }
  ValueVersion current_version(std::string_view key) override {
    record("current_version", key);
    return ValueVersion::absent();
  }
  std::shared_ptr<void> expect(std::span<const std::string_view> keys) override {
    record("expect", keys.front());
    return value;
  }
  void check_node(std::string_view prefix) override { record("check_node", prefix); }
  void refresh(std::optional<std::string_view> key) override {
    record("refresh", key.value_or("all"));
  }
  DirectoryListing list(std::string_view prefix, const ListOptions& options) override {
    record("list", prefix, options.max_names);
    return {{"name"}, {}};
  }
  void visit_values(std::string_view prefix, const VisitValue& visit,
                    const VisitOptions& options) override {
    record("visit_values", prefix, options.with_temporary_files);
    visit("all", 3);
  }
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    record("put_parts", key, parts.size(), options.expected->identity()[0],
           options.depends_on_read);
    return false;
  }
  bool erase(std::string_view key, const EraseOptions& options) override {
    record("erase", key, options.expected->identity()[0]);
    return false;
  }
  void erase_all(std::span<const std::string> keys) override { record("erase_all", keys[0]); }
  void erase_prefix(std::string_view prefix, std::span<const std::string> first) override {
    record("erase_prefix", prefix, first[0]);
  }
  bool rename_prefix(std::string_view from, std::string_view to,
                     const RenameOptions& options) override {
    record("rename_prefix", from, to, options.exchanges);
    return true;
  }
  std::unique_ptr<StoreLock> lock(std::string_view prefix) override {
    record("lock", prefix);
    return std::make_unique<Lock>();
  }
  void flush() override { record("flush"); }
  void remove_leftovers() override { record("remove_leftovers"); }
  std::optional<Parent> parent() const override {
    record("parent");
    return Parent{nullptr, "name"};
  }

  // The one request since the last call.
  std::string take() {
    EXPECT_EQ(requests_.size(), 1);
    const auto requests = std::exchange(requests_, {});
    return requests.empty() ? "" : requests[0];
  }

  RequestStatistics statistics;
  mutable Listings listings;
  std::shared_ptr<OpenValue> value = MemoryStore().open("absent");

 private:
  static std::string text_of(std::string_view text) { return std::string(text); }
  static std::string text_of(std::uint64_t number) { return std::to_string(number); }
  template <typename... Arguments>
  void record(const char* operation, const Arguments&... arguments) const {
    requests_.emplace_back(operation);
    ((requests_.back() += ' ' + text_of(arguments)), ...);
  }

  mutable std::vector<std::string> requests_;
};

// Of each operation, with its arguments and what it returns.
TEST(ForwardingStore, ForwardsEverything) {
  const auto recording = std::make_shared<RecordingStore>();
  ForwardingStore forwarding(recording);
  Store& store = forwarding;
  const auto asked = [&] { return recording->take(); };
  const ValueVersion version({5, 0, 0, 0});
  const ByteRange range = ByteRange::at(0, 6);
  const ValuePart part;
  const std::vector<std::string> keys{"first"};

  EXPECT_EQ(store.description(), "recording");
  EXPECT_EQ(asked(), "description");
  const StoreTraits traits = store.traits();
  EXPECT_TRUE(traits.knows_versions && traits.ranges_are_requests && traits.lists_all_at_once);
  EXPECT_EQ(traits.max_open_values, 2);
  EXPECT_EQ(traits.parallel_requests, 3);
  EXPECT_EQ(traits.bytes_per_range, 4);
  EXPECT_EQ(traits.read_only_reason, "a reason");
  EXPECT_EQ(traits.request_statistics, &recording->statistics);
  EXPECT_EQ(asked(), "traits");
  EXPECT_EQ(store.get("k", 9)->text(), "value");
  EXPECT_EQ(asked(), "get k 9");
  EXPECT_EQ(store.get_ranges("k", {&range, 1})->size(), 7);
  EXPECT_EQ(asked(), "get_ranges k 6");
  EXPECT_EQ(store.open("k"), recording->value);
  EXPECT_EQ(asked(), "open k");
  EXPECT_TRUE(store.current_version("k").is_absent());
  EXPECT_EQ(asked(), "current_version k");
  const std::string_view expected = "k";
  EXPECT_EQ(store.expect({&expected, 1}), recording->value);
  EXPECT_EQ(asked(), "expect k");
  store.check_node("p");
  EXPECT_EQ(asked(), "check_node p");
  store.refresh();
  EXPECT_EQ(asked(), "refresh all");
  store.refresh("k");
  EXPECT_EQ(asked(), "refresh k");
  EXPECT_EQ(store.list("p", {.max_names = 5}).keys[0], "name");
  EXPECT_EQ(asked(), "list p 5");
  store.visit_values("p", [](auto, auto) {}, {.with_temporary_files = true});
  EXPECT_EQ(asked(), "visit_values p 1");
  EXPECT_TRUE(store.has_prefix("p"));
  EXPECT_EQ(asked(), "list p 1");
  EXPECT_TRUE(store.is_known_absent("p"));
  EXPECT_EQ(asked(), "traits");
  store.use_listings();
  EXPECT_TRUE(recording->listings.is_used);
  EXPECT_EQ(asked(), "traits");
  EXPECT_FALSE(store.put_parts("k", {&part, 1}, {.expected = version, .depends_on_read = true}));
  EXPECT_EQ(asked(), "put_parts k 1 5 1");
  EXPECT_FALSE(store.erase("k", {version}));
  EXPECT_EQ(asked(), "erase k 5");
  store.erase_all(keys);
  EXPECT_EQ(asked(), "erase_all first");
  store.erase_prefix("p", keys);
  EXPECT_EQ(asked(), "erase_prefix p first");
  EXPECT_TRUE(store.rename_prefix("p", "q", {.exchanges = true}));
  EXPECT_EQ(asked(), "rename_prefix p q 1");
  EXPECT_NE(store.lock("p"), nullptr);
  EXPECT_EQ(asked(), "lock p");
  store.flush();
  EXPECT_EQ(asked(), "flush");
  store.remove_leftovers();
  EXPECT_EQ(asked(), "remove_leftovers");
  EXPECT_EQ(store.parent()->name, "name");
  EXPECT_EQ(asked(), "parent");
}

// What it adds nothing to, reaches the other store.
TEST(ForwardingStore, IsWhatListedStoreDoesBeyondListing) {
  const auto recording = std::make_shared<RecordingStore>();
  ListedStore listed(recording);
  Store& store = listed;
  EXPECT_TRUE(store.has_prefix("p"));
  EXPECT_EQ(recording->take(), "list p 1");
  EXPECT_TRUE(store.is_known_absent("p"));
  EXPECT_EQ(recording->take(), "traits");
}

}  // namespace
}  // namespace zarrcore::test::forwarding_store_test
