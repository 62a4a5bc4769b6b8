// Commands for archives: `gdal_zarr check STORE`, and from GDAL 3.11 on the same
// as `gdal driver zarr check STORE`. A command is a row of the table in command_table.cpp and a
// function, which says in JSON and in text what it has done or found.
#pragma once

#include <gdal_priv.h>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// An option or a positional argument.
struct Parameter {
  enum class Kind : std::uint8_t { positional, list, flag, text };  // a list is the last positional

  const char* name;  // without dashes
  Kind kind;
  const char* help;
  bool is_required = false;
};

class Arguments {
 public:
  void set(const std::string& name, std::string value) { values_[name] = {std::move(value)}; }
  void add(const std::string& name, std::string value) {
    values_[name].push_back(std::move(value));
  }
  // Flags have the value "YES".
  bool has(const std::string& name) const { return values_.contains(name); }
  // Empty if it was not given.
  std::string text(const std::string& name) const {
    const auto it = values_.find(name);
    return it == values_.end() ? std::string() : it->second.front();
  }
  // Empty if it was not given.
  std::vector<std::string> list(const std::string& name) const {
    const auto it = values_.find(name);
    return it == values_.end() ? std::vector<std::string>() : it->second;
  }

 private:
  std::map<std::string, std::vector<std::string>> values_;  // none is empty
};

struct CommandResult {
  // What scripts go by.
  enum class Exit : std::uint8_t {
    success = 0,
    found = 1,   // what was looked for is not right
    failed = 2,  // the command could not do its work; or wrong arguments
  };

  zarrcore::Json json = zarrcore::Json::object();
  std::string text = {};  // lines for people, each with its end
  Exit exit = Exit::success;
};

// Called with how much is done, from 0 to 1; false stops the command.
using CommandProgress = std::function<bool(double complete)>;

struct Command {
  const char* name;
  const char* summary;
  std::span<const Parameter> parameters;
  // Throws zarrcore::Error.
  CommandResult (*run)(const Arguments& arguments, const CommandProgress& progress);
};

std::span<const Command> commands();
// Null if there is none.
const Command* find_command(std::string_view name);

// "1 group", "2 groups".
std::string count_of(std::uint64_t count, const std::string& noun);

struct CommandOutput {
  std::string text;  // a JSON document, or lines for people
  CommandResult::Exit exit;
};
// Runs a command. Its lines do not control terminals, and failures that GDAL reports meanwhile are
// not reported twice when they are the reason of its error. Progress is shown by `show`, if the
// command has any; null to show none. Throws zarrcore::Error.
CommandOutput run_command(const Command& command, const Arguments& arguments, bool as_json,
                          const CommandProgress& show);

// Returns true if the standard output is a terminal.
bool prints_to_terminal();

// The functions of the table.
CommandResult run_info(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_check(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_repair(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_consolidate(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_unconsolidate(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_migrate(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_log(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_branch(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_tag(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_rechunk(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_overviews(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_benchmark(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_virtualize(const Arguments& arguments, const CommandProgress& progress);
CommandResult run_commit(const Arguments& arguments, const CommandProgress& progress);

// Declares them as algorithms of the driver; does nothing before GDAL 3.11.
void declare_commands(GDALDriver& driver);

}  // namespace gdal_zarr
