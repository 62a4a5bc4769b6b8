// The program gdal_zarr: the commands for every version of GDAL. For scripts, the exit code is that
// of CommandResult, and `--json` makes the result a JSON document.
#include <cpl_conv.h>
#include <cpl_error.h>
#include <gdal.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "driver/commands/command.h"
#include "driver/entry/register_driver.h"
#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using Words = std::vector<std::string>;

constexpr int kFailed = static_cast<int>(CommandResult::Exit::failed);

// Of every command.
constexpr Parameter kJson{"json", Parameter::Kind::flag, "Print the result as JSON"};
constexpr Parameter kQuiet{"quiet", Parameter::Kind::flag, "Show no progress"};
constexpr Parameter kHelp{"help", Parameter::Kind::flag, "Show this text"};

std::vector<Parameter> parameters_of(const Command& command) {
  std::vector<Parameter> all(command.parameters.begin(), command.parameters.end());
  all.insert(all.end(), {kJson, kQuiet, kHelp});
  return all;
}

bool is_positional(const Parameter& parameter) {
  return parameter.kind == Parameter::Kind::positional || parameter.kind == Parameter::Kind::list;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string usage() {
  std::string text =
      "gdal_zarr COMMAND ARGUMENT... (GDAL 3.11 and later: gdal driver zarr COMMAND ...)\n\n";
  for (const Command& command : commands()) {
    text += "  " + padded(command.name, 16) + command.summary + '\n';
  }
  return text + "\n`gdal_zarr COMMAND --help` shows the arguments of a command.\n";
}

std::string usage(const Command& command) {
  std::string line = std::string("gdal_zarr ") + command.name;
  std::string list;
  for (const Parameter& parameter : parameters_of(command)) {
    const bool is_text = parameter.kind == Parameter::Kind::text;
    const std::string shown =
        is_positional(parameter)
            ? std::string(parameter.name) + (parameter.kind == Parameter::Kind::list ? "..." : "")
            : std::string("--") + parameter.name + (is_text ? "=VALUE" : "");
    line += parameter.is_required ? ' ' + shown : " [" + shown + ']';
    list += "  " + padded(shown, 20) + parameter.help + '\n';
  }
  return line + "\n\n" + command.summary + ".\n\n" + list;
}

// Throws zarrcore::Error.
Arguments parse(const Command& command, const Words& words) {
  const std::vector<Parameter> parameters = parameters_of(command);
  Arguments arguments;
  auto positional = std::find_if(parameters.begin(), parameters.end(), is_positional);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("--")) {
      if (positional == parameters.end()) throw zarrcore::Error("one argument too many: " + word);
      arguments.add(positional->name, word);
      if (positional->kind == Parameter::Kind::list) continue;
      positional = std::find_if(positional + 1, parameters.end(), is_positional);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) {
      return !is_positional(p) && name == p.name;
    });
    if (found == parameters.end()) {
      throw zarrcore::Error("there is no option --" + name + "; see gdal_zarr " + command.name +
                            " --help");
    }
    const bool is_text = found->kind == Parameter::Kind::text;
    if (!is_text && equals != std::string::npos) {
      throw zarrcore::Error("the option --" + name + " takes no value");
    }
    if (is_text && equals == std::string::npos && i + 1 == words.size()) {
      throw zarrcore::Error("the option --" + name + " needs a value");
    }
    arguments.set(name, !is_text                      ? "YES"
                        : equals == std::string::npos ? words[++i]
                                                      : word.substr(equals + 1));
  }
  if (arguments.has("help")) return arguments;
  for (const Parameter& parameter : parameters) {
    if (parameter.is_required && !arguments.has(parameter.name)) {
      throw zarrcore::Error(std::string("the argument ") + parameter.name +
                            " is missing; see "
                            "gdal_zarr " +
                            command.name + " --help");
    }
  }
  return arguments;
}

// What may follow the words of a command line, for shells: the last word may be incomplete.
std::string completions(const Words& words) {
  std::string text;
  const std::string last = words.empty() ? "" : words.back();
  const auto add = [&](const std::string& candidate) {
    if (candidate.starts_with(last)) text += candidate + '\n';
  };
  if (words.size() < 2) {
    for (const Command& command : commands()) add(command.name);
  } else if (const Command* const command = find_command(words.front())) {
    for (const Parameter& parameter : parameters_of(*command)) {
      if (!is_positional(parameter)) add(std::string("--") + parameter.name);
    }
  }
  return text;
}

int run(const Words& words) {
  if (words.empty() || words.front() == "--help") {
    std::fputs(usage().c_str(), words.empty() ? stderr : stdout);
    return words.empty() ? kFailed : 0;
  }
  if (words.front() == "completion") {
    std::fputs(completions({words.begin() + 1, words.end()}).c_str(), stdout);
    return 0;
  }
  const Command* const command = find_command(words.front());
  if (command == nullptr) {
    throw zarrcore::Error("there is no command " + words.front() + "; see gdal_zarr --help");
  }
  const Arguments arguments = parse(*command, {words.begin() + 1, words.end()});
  if (arguments.has("help")) {
    std::fputs(usage(*command).c_str(), stdout);
    return 0;
  }
  const bool may_show = !arguments.has("quiet") && !arguments.has("json") && prints_to_terminal();
  const CommandProgress show = [](double complete) {
    return GDALTermProgress(complete, nullptr, nullptr) != 0;
  };
  const CommandOutput result =
      run_command(*command, arguments, arguments.has("json"), may_show ? show : CommandProgress());
  if (std::fputs(result.text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    throw zarrcore::Error("the result could not be written");
  }
  return static_cast<int>(result.exit);
}

}  // namespace
}  // namespace gdal_zarr

int main(int count, char** values) {
  GDALAllRegister();
  if (GDALDriverH other = GDALGetDriverByName("Zarr")) GDALDeregisterDriver(other);
  gdal_zarr::register_driver([](GDALDriver& /*driver*/) {});
  if (count == 2 && std::string_view(values[1]) == "--version") {
    std::printf("%s, GDAL %s\n",
                GDALGetMetadataItem(GDALGetDriverByName("Zarr"), GDAL_DMD_LONGNAME, nullptr),
                GDALVersionInfo("RELEASE_NAME"));
    return 0;
  }
  // --config NAME VALUE and the like.
  count = GDALGeneralCmdLineProcessor(count, &values, 0);
  if (count < 1) return count == 0 ? 0 : gdal_zarr::kFailed;
  int exit_code = gdal_zarr::kFailed;
  try {
    exit_code = gdal_zarr::run({values + 1, values + count});
  } catch (const std::exception& error) {
    const std::string text = gdal_zarr::printable(gdal_zarr::mask_secrets(error.what()));
    std::fprintf(stderr, "gdal_zarr: %s\n", text.c_str());
  }
  CSLDestroy(values);
  GDALDestroyDriverManager();
  return exit_code;
}
