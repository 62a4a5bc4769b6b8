// New chunks, shards and codecs for arrays, in place or in a new store; their elements keep all
// bits.
#include <algorithm>
#include <memory>
#include <span>

#include "driver/commands/examined.h"
#include "driver/commands/rechunk_in_place.h"
#include "driver/entry/create.h"
#include "driver/multidim/session.h"
#include "driver/new_array/creation_options.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

using zarrcore::Error;

namespace {

// All arrays are checked before the first one changes.
void check_rank(const std::string& path, std::size_t rank, const CPLStringList& options) {
  for (const char* const option : {"BLOCKSIZE", "SHARD_CHUNK_SHAPE"}) {
    const char* const lengths = options.FetchNameValue(option);
    if (lengths == nullptr) continue;
    const auto count = static_cast<std::size_t>(std::ranges::count(std::string(lengths), ',')) + 1;
    if (count == rank) continue;
    throw Error(node_name(path) + ": " + option + " has " + std::to_string(count) +
                " lengths, but the array has " + std::to_string(rank) + " dimensions");
  }
}

std::vector<std::string> wanted_arrays(Session& session, const std::string& name,
                                       const CPLStringList& options) {
  const StoredArrays all = arrays_of(session);
  if (name.empty() && !all.problems.empty()) {
    throw Error(all.problems.front() + "; --array chooses another array");
  }
  std::vector<std::string> wanted;
  for (const std::string& path : all.paths) {
    if (session.is_unfinished_copy(path)) continue;
    const std::size_t rank = session.array(path)->core().shape().size();
    if (name.empty() ? rank >= 2 : node_name(path) == name) {
      check_rank(path, rank, options);
      wanted.push_back(path);
    }
  }
  if (wanted.empty()) {
    throw Error(name.empty() ? "there is no array of two or more dimensions"
                             : "there is no array " + name + "; names are such as /group/array");
  }
  return wanted;
}

// Throws Error unless all are creation options of arrays.
CPLStringList options_of(const Arguments& arguments) {
  CPLStringList options;
  for (const std::string& option : arguments.list("options")) {
    if (option.find('=') == std::string::npos) {
      throw Error(option + " is not a creation option, such as BLOCKSIZE=512,512");
    }
    const std::string key = option.substr(0, option.find('='));
    const Option* known = find_creation_option(key);
    if (known == nullptr || (known->scope & kArrayOption) == 0) {
      throw Error(key + " is not a creation option of arrays");
    }
    options.AddString(option.c_str());
  }
  return options;
}

std::vector<std::string> rechunk_into(const std::string& into, const std::string& path,
                                      const CPLStringList& options, const ChooseArrays& choose,
                                      const CommandProgress& progress) {
  NewStore made(into);
  const auto source = open_multidim(path, 0);
  std::vector<std::string> arrays = choose(source->session());
  const bool is_v2 = &source->session().hierarchy().format() == &zarrcore::v2_format();
  CPLStringList all;
  all.SetNameValue("FORMAT", is_v2 ? "ZARR_V2" : "ZARR_V3");
  for (const std::string& array : arrays) {
    for (const char* const option : std::span(options.List(), options.size())) {
      all.AddString(("ARRAY:IF(NAME=/" + array + "):" + option).c_str());
    }
  }
  std::unique_ptr<GDALDataset> copy(copy_hierarchy(made.path().c_str(), *source, true, all.List(),
                                                   call_progress, as_progress_data(progress)));
  if (!copy) throw Error(into + ": " + CPLGetLastErrorMsg());
  copy.reset();
  made.complete();
  return arrays;
}

}  // namespace

CommandResult run_rechunk(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  const std::string into = arguments.text("into");
  const CPLStringList options = options_of(arguments);
  const ChooseArrays choose = [&](Session& session) {
    return wanted_arrays(session, arguments.text("array"), options);
  };
  const std::vector<std::string> arrays =
      into.empty() ? rechunk_in_place(path, options.List(), choose, progress)
                   : rechunk_into(into, path, options, choose, progress);
  CommandResult result;
  result.json = {{"store", into.empty() ? path : into}, {"arrays", zarrcore::Json::array()}};
  for (const std::string& array : arrays) {
    result.json["arrays"].push_back(node_name(array));
    result.text += node_name(array) + " has the new layout\n";
  }
  return result;
}

}  // namespace gdal_zarr
