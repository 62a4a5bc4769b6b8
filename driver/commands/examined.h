// What the commands share: opening a store by any of its names, examining it, and making a new one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "driver/commands/command.h"
#include "zarrcore/check/store_check.h"

namespace gdal_zarr {

// The path of the store that a name stands for. Throws zarrcore::Error when it names an array.
std::string store_of(const Arguments& arguments);

// Returns true if the changes are to be made. Throws zarrcore::Error when the arguments say both.
bool applies_changes(const Arguments& arguments);

// Reads every node from its own documents; the root from `root`, if it is not empty: documents by
// their keys. Throws zarrcore::Error.
using RootDocuments = std::map<std::string, zarrcore::DocumentText>;
std::unique_ptr<zarrcore::Hierarchy> open_examined(const std::string& path,
                                                   const RootDocuments& root = {});
// For changes. Throws zarrcore::Error when the store cannot be written.
std::unique_ptr<zarrcore::Hierarchy> open_changed(const std::string& path,
                                                  const RootDocuments& root = {});
// Puts what is pending: an archive is only written now. Throws zarrcore::Error.
void end_changes(zarrcore::Hierarchy& changed);

// A store that a command makes. A folder of this computer has another name until it is complete.
class NewStore {
 public:
  // Removes what a killed command has left. Throws zarrcore::Error if the name is taken.
  explicit NewStore(const std::string& name);

  // The name under which it is made.
  const std::string& path() const { return path_; }
  // Opens the store, to put values. Throws zarrcore::Error for Icechunk repositories.
  std::shared_ptr<zarrcore::Store> open() const;
  // Gives it its own name.
  void complete();

 private:
  std::string name_;
  std::string path_;
};

// Reports that some values are done, when nobody knows how many there are before the last: if they
// are as many as `expected`, then so many are complete. Throws zarrcore::Error when the command is
// to stop.
void report_values(std::uint64_t values, double expected, const CommandProgress& progress);

// What is examined of chunks: which are stored; also the sizes of all; or also their values.
enum class ExaminedParts : std::uint8_t { names, sizes, values };
// The temporary files in the result belonged to killed writers.
zarrcore::ExaminedStore examine(const zarrcore::Hierarchy& hierarchy, ExaminedParts parts,
                                const CommandProgress& progress);

// Removes the file of a killed writer. Returns false if it still exists.
bool remove_abandoned_file(const zarrcore::Store& store, const std::string& key);

// The command `rechunk` in the store at a path, which may have been interrupted. Its copies are not
// leftovers while it runs.
inline constexpr std::string_view kRechunkLock = ".gdal-zarr-rechunk";  // an empty folder
enum class RechunkState : std::uint8_t { none, running, interrupted };
RechunkState rechunk_state(const std::string& path);
// Ends what an interrupted `rechunk` has begun, and removes its leftovers: all below these paths
// that are left then. Throws zarrcore::Error.
void end_interrupted_rechunk(const std::string& path,
                             const std::set<std::string, std::less<>>& leftovers);

// The progress of a command for GDAL's functions: call_progress with as_progress_data().
int CPL_STDCALL call_progress(double complete, const char* message, void* data);
inline void* as_progress_data(const CommandProgress& progress) {
  return const_cast<CommandProgress*>(&progress);
}

// "1.5 MB", or "unknown".
std::string format_bytes(std::optional<std::uint64_t> bytes);
// "b" of "a/b".
std::string last_name(const std::string& path);
// "/a/b".
std::string node_name(const std::string& path);

}  // namespace gdal_zarr
