#include "zarrcore/icechunk/transaction.h"

namespace zarrcore::icechunk {
namespace {
[[noreturn]] void missing_part() {
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
  missing_part();
}
Transaction::~Transaction() = default;
bool Transaction::has_changes() const {
  missing_part();
}
std::string Transaction::commit(const CommitOptions& /*options*/) {
  missing_part();
}
void Transaction::roll_back() {
  missing_part();
}
const std::string& Transaction::branch() const {
  return session_->branch;
}
std::string Transaction::snapshot_id() const {
  missing_part();
}
int Transaction::format() const {
  missing_part();
}
std::string Transaction::changes() const {
  missing_part();
}
void Transaction::merge(std::string_view /*changes*/) {
  missing_part();
}
void Transaction::put_reference(std::string_view /*key*/, const ChunkReference& /*reference*/) {
  missing_part();
}
std::string Transaction::description() const {
  missing_part();
}
StoreTraits Transaction::traits() const {
  missing_part();
}
std::optional<Buffer> Transaction::get(std::string_view /*key*/, std::uint64_t /*max_size*/) {
  missing_part();
}
std::optional<std::vector<Buffer>> Transaction::get_ranges(std::string_view /*key*/,
                                                           std::span<const ByteRange> /*ranges*/) {
  missing_part();
}
std::shared_ptr<OpenValue> Transaction::open(std::string_view /*key*/) {
  missing_part();
}
ValueVersion Transaction::current_version(std::string_view /*key*/) {
  missing_part();
}
DirectoryListing Transaction::list(std::string_view /*prefix*/, const ListOptions& /*options*/) {
  missing_part();
}
void Transaction::visit_values(std::string_view /*prefix*/, const VisitValue& /*visit*/) {
  missing_part();
}
bool Transaction::put_parts(std::string_view /*key*/, std::span<const ValuePart> /*parts*/,
                            const PutOptions& /*options*/) {
  missing_part();
}
bool Transaction::erase(std::string_view /*key*/, const EraseOptions& /*options*/) {
  missing_part();
}
void Transaction::erase_prefix(std::string_view /*prefix*/,
                               std::span<const std::string> /*first*/) {
  missing_part();
}
void Transaction::rename_prefix(std::string_view /*from*/, std::string_view /*to*/) {
  missing_part();
}

}  // namespace zarrcore::icechunk
