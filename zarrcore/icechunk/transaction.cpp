#include "zarrcore/icechunk/transaction.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/session.h"

namespace zarrcore::icechunk {
namespace {

std::string list_of(const std::vector<std::string>& conflicts) {
  constexpr std::size_t kShown = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(conflicts.size(), kShown); ++i) {
    text += (i == 0 ? "" : "; ") + conflicts[i];
  }
  if (conflicts.size() > kShown)
    text += "; and " + std::to_string(conflicts.size() - kShown) + " more";
  return text;
}

}  // namespace

CommitConflict::CommitConflict(const std::string& what, std::vector<std::string> conflicts)
    : Error(what + ": " + list_of(conflicts)), conflicts_(std::move(conflicts)) {}

// One version of a value, or its absence.
class Transaction::OpenChunk final : public OpenValue {
 public:
  explicit OpenChunk(std::optional<Session::Value> value) : value_(std::move(value)) {}

  std::optional<Buffer> get(std::uint64_t max_size) override {
    if (!value_) return std::nullopt;
    check_value_size(value_->reference.length, max_size);
    const ByteRange whole = ByteRange::at(0, value_->reference.length);
    return std::move(value_->read({&whole, 1}).front());
  }
  std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override {
    if (!value_) return std::nullopt;
    return ranges.empty() ? std::vector<Buffer>() : value_->read(ranges);
  }
  ValueVersion version() const override {
    return value_ ? value_->version : ValueVersion::absent();
  }

 private:
  std::optional<Session::Value> value_;
};

Transaction::Transaction(std::shared_ptr<Store> files, std::string branch,
                         std::shared_ptr<VirtualFiles> virtual_files, std::string prefix,
                         const TransactionOptions& options) {
  const std::string description = files->description();
  session_ = with_context(description, [&] {
    return std::make_unique<Session>(std::move(files), std::move(branch), std::move(virtual_files),
                                     std::move(prefix), options);
  });
}

Transaction::~Transaction() = default;

template <typename Body>
auto Transaction::naming(std::string_view key, const Body& body) const {
  return with_context(
      [&] { return description() + ", branch " + branch() + ": " + std::string(key); }, body);
}

std::uint64_t Transaction::change_count() const {
  return session_->change_count();
}

std::uint64_t Transaction::changes_made() const {
  return session_->changes_made();
}

std::string Transaction::commit(const CommitOptions& options) {
  try {
    return session_->commit(options);
  } catch (const CommitConflict&) {
    throw;  // stays one
  } catch (const UnreadableCommit& error) {
    throw UnreadableCommit(description() + ", branch " + branch() + ": " + error.what());
  } catch (...) {
    rethrow_with_context({description(), ", branch ", branch()});
  }
}

bool Transaction::has_failed_commit() const {
  return session_->has_failed_commit();
}

void Transaction::roll_back() {
  session_->roll_back();
}

const std::string& Transaction::branch() const {
  return session_->branch();
}

std::string Transaction::snapshot_id() const {
  return session_->snapshot_id();
}

int Transaction::format() const {
  return session_->format();
}

std::string Transaction::changes() const {
  return session_->changes_as_json();
}

void Transaction::merge(std::string_view changes) {
  try {
    session_->merge(changes);
  } catch (const CommitConflict& error) {
    throw;
  } catch (...) {
    rethrow_with_context({description()});
  }
}

void Transaction::put_reference(std::string_view key, const ChunkReference& reference) {
  naming(key, [&] { session_->put_reference(key, reference, {}); });
}

std::string Transaction::description() const {
  return session_->description();
}

StoreTraits Transaction::traits() const {
  return session_->traits();
}

std::shared_ptr<OpenValue> Transaction::open(std::string_view key) {
  return naming(key, [&] { return std::make_shared<OpenChunk>(session_->find(key)); });
}

std::optional<Buffer> Transaction::get(std::string_view key, std::uint64_t max_size) {
  return naming(key, [&] { return OpenChunk(session_->find(key)).get(max_size); });
}

std::optional<std::vector<Buffer>> Transaction::get_ranges(std::string_view key,
                                                           std::span<const ByteRange> ranges) {
  return naming(key, [&] { return OpenChunk(session_->find(key)).get_ranges(ranges); });
}

ValueVersion Transaction::current_version(std::string_view key) {
  return naming(key, [&] { return OpenChunk(session_->find(key)).version(); });
}

DirectoryListing Transaction::list(std::string_view prefix, const ListOptions& /*options*/) {
  return naming(prefix, [&] { return session_->list(prefix); });
}

void Transaction::visit_values(std::string_view prefix, const VisitValue& visit,
                               const VisitOptions& options) {
  const bool is_array = naming(prefix, [&] { return session_->visit_chunks(prefix, visit); });
  if (!is_array) return Store::visit_values(prefix, visit, options);
  visit(join_path(prefix, "zarr.json"), std::nullopt);
}

bool Transaction::put_parts(std::string_view key, std::span<const ValuePart> parts,
                            const PutOptions& options) {
  return naming(key, [&] {
    check_key(key);
    if (last_segment(key) != "zarr.json") return session_->put_chunk(key, parts, options);
    return session_->put_document(key, join_parts(parts).text(), options);
  });
}

bool Transaction::erase(std::string_view key, const EraseOptions& options) {
  return naming(key, [&] { return session_->erase(key, options); });
}

// Below an array there are only chunks.
void Transaction::erase_prefix(std::string_view prefix, std::span<const std::string> first) {
  check_key(prefix);
  erase_all(first);
  session_->erase_nodes(prefix);
  erase_all(list_all(prefix));
}

bool Transaction::rename_prefix(std::string_view from, std::string_view to,
                                const RenameOptions& options) {
  if (options.exchanges) return false;
  check_key(to);
  naming(from, [&] { session_->rename(from, to); });
  return true;
}

}  // namespace zarrcore::icechunk
