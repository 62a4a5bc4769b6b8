#include "zarrcore/icechunk/refs.h"

namespace zarrcore::icechunk {
namespace {
[[noreturn]] void stub() {
  throw Error("not yet");
}
}  // namespace

void create_repository(Store& /*files*/, int /*format*/) {
  stub();
}
void create_branch(Store& /*files*/, std::string_view /*name*/, std::string_view /*snapshot*/) {
  stub();
}
void reset_branch(Store& /*files*/, std::string_view /*name*/, std::string_view /*snapshot*/) {
  stub();
}
void delete_branch(Store& /*files*/, std::string_view /*name*/) {
  stub();
}
void create_tag(Store& /*files*/, std::string_view /*name*/, std::string_view /*snapshot*/) {
  stub();
}
void delete_tag(Store& /*files*/, std::string_view /*name*/) {
  stub();
}
std::vector<SnapshotInfo> ancestry(Store& /*files*/, std::string_view /*snapshot*/) {
  stub();
}

}  // namespace zarrcore::icechunk
