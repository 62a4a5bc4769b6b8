#include <span>

#include "driver/commands/repository.h"
#include "driver/stores/icechunk/icechunk_writer.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

using zarrcore::icechunk::VersionName;

CommandResult run_commit(const Arguments& arguments, const CommandProgress& /*progress*/) {
  OpenedRepository opened = open_repository(arguments);
  const std::vector<std::string> sessions = arguments.list("session");
  IcechunkWriteOptions options;
  options.session = sessions.front();
  options.new_branch = arguments.text("new-branch");
  if (arguments.has("branch")) {
    if (!options.new_branch.empty()) {
      throw zarrcore::Error("--branch and --new-branch cannot be given together");
    }
    opened.path.version = {VersionName::Kind::branch, arguments.text("branch")};
  }
  IcechunkWriter writer(opened.path, options);
  for (const std::string& session : std::span(sessions).subspan(1)) {
    zarrcore::with_context({session}, [&] { writer.run("MERGE", session, {}); });
  }
  writer.run("COMMIT", arguments.text("message"),
             "changes of " + count_of(sessions.size(), "session"));
  const std::string& branch = writer.store()->branch();
  const std::string snapshot = writer.store()->snapshot_id();
  return {{{"store", opened.path.repository}, {"branch", branch}, {"snapshot", snapshot}},
          opened.path.repository + ": snapshot " + snapshot + " of branch " + branch + '\n'};
}

}  // namespace gdal_zarr
