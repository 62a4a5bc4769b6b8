// The files of an Icechunk repository: all values of its branch are read and listed. A file
// `session` holds changes as JSON, which are made and committed.
#include "autotest/fuzz/input.h"
#include "autotest/fuzz/store_text.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/icechunk/transaction.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::fuzz {
namespace {

constexpr int kMaxValues = 1000;
constexpr std::uint64_t kMaxValueSize = 1 << 20;

class NoVirtualFiles final : public icechunk::VirtualFiles {
 public:
  std::vector<Buffer> get_ranges(const icechunk::VirtualFile& file,
                                 std::span<const ByteRange> /*ranges*/) override {
    throw Error(file.url + " does not exist");
  }
};

// What is listed exists, and nothing is read past its end.
void read_below(Store& store, const std::string& prefix, int& count) {
  const DirectoryListing listing = store.list(prefix);
  for (const std::string& name : listing.keys) {
    if (++count > kMaxValues) return;
    const std::string key = join_path(prefix, name);
    succeeds([&] { check(store.has(key), "a listed key exists"); });
    std::optional<Buffer> value;
    if (!succeeds([&] { value = store.get(key, kMaxValueSize); }) || !value) continue;
    const ByteRange last = ByteRange::suffix(1);
    if (value->empty()) continue;
    succeeds([&] {
      const auto parts = store.get_ranges(key, {&last, 1});
      check(parts->front().text() == value->text().substr(value->size() - 1),
            "a range has the bytes of the value");
    });
  }
  for (const std::string& name : listing.prefixes) {
    succeeds([&] { read_below(store, join_path(prefix, name), count); });
  }
}

void read_all(Store& store) {
  int count = 0;
  succeeds([&] { read_below(store, "", count); });
}

// Without what they are based on, which is in the changes of a transaction that others were merged
// into.
Json without_origin(std::string_view changes) {
  Json json = parse_json(changes);
  json.erase("from");
  return json;
}

void check_changes(const std::shared_ptr<MemoryStore>& files, std::string_view json) {
  const auto no_files = std::make_shared<NoVirtualFiles>();
  icechunk::Transaction transaction(files, "main", no_files);
  transaction.merge(json);
  read_all(transaction);
  const std::string changes = transaction.changes();
  icechunk::Transaction again(files, "main", no_files);
  check(succeeds([&] { again.merge(changes); }), "changes as JSON can be made");
  check(without_origin(again.changes()) == without_origin(changes),
        "changes as JSON stay the same");
  if (!succeeds([&] { transaction.commit({}); })) return;
  icechunk::IcechunkStore store(icechunk::Repository::open(files), {}, no_files);
  read_all(store);
}

}  // namespace
}  // namespace zarrcore::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zarrcore::fuzz;
  using namespace zarrcore::icechunk;
  const auto files = std::make_shared<zarrcore::MemoryStore>();
  const StoreValues values = parse_store_text({reinterpret_cast<const char*>(data), size});
  for (const auto& [name, content] : values) {
    if (name == "session") continue;
    const std::string& key = name;
    const std::string& value = content;
    succeeds([&] { files->put(key, std::as_bytes(std::span(value))); });
  }
  succeeds([&] {
    const auto repository = Repository::open(files);
    for (const auto kind : {VersionName::Kind::branch, VersionName::Kind::tag}) {
      succeeds([&] { repository->refs(kind); });
    }
    IcechunkStore store(repository, {}, std::make_shared<NoVirtualFiles>());
    read_all(store);
  });
  const auto session = values.find("session");
  if (session != values.end()) succeeds([&] { check_changes(files, session->second); });
  return 0;
}
