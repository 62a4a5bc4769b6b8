#include "driver/commands/examined.h"
#include "driver/commands/migration.h"
#include "driver/entry/manage.h"

namespace gdal_zarr {

CommandResult run_migrate(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  const std::string copy = arguments.text("copy");
  const bool makes_copy = !copy.empty() && !arguments.has("dry-run");
  const bool applies = applies_changes(arguments) || makes_copy;
  if (copy.empty()) check_is_whole(path);
  const MigrationPlan plan = plan_migration(path, progress);
  if (makes_copy) {
    migrate_into(copy, path, plan, progress);
  } else if (applies) {
    migrate_in_place(path, plan, progress);
  }
  const std::string store = copy.empty() ? path : copy;
  const std::size_t nodes = plan.documents.size();
  CommandResult result;
  result.json = {
      {"store", store}, {"applied", applies}, {"nodes", nodes}, {"continued", plan.is_continued}};
  const std::string was = applies ? "was " : "would be ";
  result.text =
      store + ": " +
      (plan.is_continued ? "the migration that was interrupted " + was + "ended\n"
                         : "Zarr v3 " + was + "written for " + count_of(nodes, "node") + '\n');
  return result;
}

}  // namespace gdal_zarr
