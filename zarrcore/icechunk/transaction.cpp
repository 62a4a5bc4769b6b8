#include "zarrcore/icechunk/transaction.h"

namespace zarrcore::icechunk {
namespace {
[[noreturn]] void stub() {
  throw Error("not yet");
}
}  // namespace

class Transaction::Session {
 public:
  std::string branch;
};

CommitConflict::CommitConflict(const std::string& branch, std::vector<std::string> conflicts)
    : Error("branch " + branch + " has changed"), conflicts_(std::move(conflicts)) {}
Transaction::Transaction(std::shared_ptr<Store> /*files*/, std::string /*branch*/,
                         std::shared_ptr<VirtualFiles> /*virtual_files*/, std::string /*prefix*/,
                         const TransactionOptions& /*options*/) {
  stub();
}
Transaction::~Transaction() = default;
bool Transaction::has_changes() const {
  stub();
}
std::string Transaction::commit(const CommitOptions& /*options*/) {
  stub();
}
void Transaction::roll_back() {
  stub();
}
const std::string& Transaction::branch() const {
  return session_->branch;
}
std::string Transaction::snapshot_id() const {
  stub();
}
int Transaction::format() const {
  stub();
}
std::string Transaction::changes() const {
  stub();
}
void Transaction::merge(std::string_view /*changes*/) {
  stub();
}
void Transaction::put_reference(std::string_view /*key*/, const ChunkReference& /*reference*/) {
  stub();
}
std::string Transaction::description() const {
  stub();
}
StoreTraits Transaction::traits() const {
  stub();
}
std::optional<Buffer> Transaction::get(std::string_view /*key*/, std::uint64_t /*max_size*/) {
  stub();
}
std::optional<std::vector<Buffer>> Transaction::get_ranges(std::string_view /*key*/,
                                                           std::span<const ByteRange> /*ranges*/) {
  stub();
}
std::shared_ptr<OpenValue> Transaction::open(std::string_view /*key*/) {
  stub();
}
ValueVersion Transaction::current_version(std::string_view /*key*/) {
  stub();
}
DirectoryListing Transaction::list(std::string_view /*prefix*/, const ListOptions& /*options*/) {
  stub();
}
void Transaction::visit_values(std::string_view /*prefix*/, const VisitValue& /*visit*/) {
  stub();
}
bool Transaction::put_parts(std::string_view /*key*/, std::span<const ValuePart> /*parts*/,
                            const PutOptions& /*options*/) {
  stub();
}
bool Transaction::erase(std::string_view /*key*/, const EraseOptions& /*options*/) {
  stub();
}
void Transaction::erase_prefix(std::string_view /*prefix*/,
                               std::span<const std::string> /*first*/) {
  stub();
}
void Transaction::rename_prefix(std::string_view /*from*/, std::string_view /*to*/) {
  stub();
}

}  // namespace zarrcore::icechunk
