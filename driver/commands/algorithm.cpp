// The commands as algorithms of GDAL 3.11 and later: `gdal driver zarr check`, gdal.Run().
#include "driver/commands/command.h"
#include "driver/gdal/compat.h"
#include "driver/gdal/messages.h"

#if GDAL_ZARR_AT_LEAST(3, 11)
#include <gdalalgorithm.h>

#include <cstdio>
#include <list>
#include <utility>
#include <vector>

namespace gdal_zarr {
namespace {

class CommandAlgorithm final : public GDALAlgorithm {
 public:
  explicit CommandAlgorithm(const Command& command)
      : GDALAlgorithm(command.name, command.summary, "/drivers/raster/zarr.html"),
        command_(command) {
    AddProgressArg();
    for (const Parameter& parameter : command.parameters) {
      if (parameter.kind == Parameter::Kind::flag) {
        flags_.emplace_back(parameter.name, false);
        AddArg(parameter.name, 0, parameter.help, &flags_.back().second);
        continue;
      }
      if (parameter.kind == Parameter::Kind::list) {
        lists_.emplace_back(parameter.name, std::vector<std::string>());
        auto& list = AddArg(parameter.name, 0, parameter.help, &lists_.back().second);
        list.SetPositional().SetPackedValuesAllowed(false);
        if (parameter.is_required) list.SetRequired().SetMinCount(1);
        continue;
      }
      texts_.emplace_back(parameter.name, "");
      auto& argument = AddArg(parameter.name, 0, parameter.help, &texts_.back().second);
      if (parameter.kind == Parameter::Kind::positional) argument.SetPositional();
      if (parameter.is_required) argument.SetRequired();
    }
    AddArg("json", 0, "Print the result as JSON", &is_json_);
    AddOutputStringArg(&output_);
    AddStdoutArg(&prints_);
  }

 private:
  bool RunImpl(GDALProgressFunc progress, void* progress_data) override {
    return guarded(false, [&] {
      Arguments arguments;
      for (const auto& [name, value] : texts_) {
        if (!value.empty()) arguments.set(name, value);
      }
      for (const auto& [name, values] : lists_) {
        for (const std::string& value : values) arguments.add(name, value);
      }
      for (const auto& [name, is_set] : flags_) {
        if (is_set) arguments.set(name, "YES");
      }
      const bool may_show = progress != nullptr && !is_json_ && (!prints_ || prints_to_terminal());
      const CommandProgress show = [&](double complete) {
        return progress(complete, "", progress_data) != 0;
      };
      CommandOutput result =
          run_command(command_, arguments, is_json_, may_show ? show : CommandProgress());
      output_ = std::move(result.text);
      // Some versions of GDAL print no output of a failure.
      if (prints_) {
        std::fwrite(output_.data(), 1, output_.size(), stdout);
        output_.clear();
      }
      if (result.exit == CommandResult::Exit::success) return true;
      report(CE_Failure, CPLE_AppDefined, "Zarr: %s: there are findings", command_.name);
      return false;
    });
  }

  const Command& command_;
  std::list<std::pair<std::string, std::string>> texts_;  // GDAL keeps pointers into these
  std::list<std::pair<std::string, std::vector<std::string>>> lists_;
  std::list<std::pair<std::string, bool>> flags_;
  bool is_json_ = false;
  bool prints_ = false;
  std::string output_;
};

}  // namespace

void declare_commands(GDALDriver& driver) {
  for (const Command& command : commands()) driver.DeclareAlgorithm({command.name});
  driver.pfnInstantiateAlgorithm = [](const std::vector<std::string>& path) -> GDALAlgorithm* {
    const Command* const command = path.size() == 1 ? find_command(path.front()) : nullptr;
    return command == nullptr ? nullptr : new CommandAlgorithm(*command);
  };
}

}  // namespace gdal_zarr
#else
namespace gdal_zarr {

void declare_commands(GDALDriver& /*driver*/) {}

}  // namespace gdal_zarr
#endif
