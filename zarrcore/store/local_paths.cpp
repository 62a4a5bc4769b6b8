#include "zarrcore/store/local_paths.h"

#include "zarrcore/base/error.h"

namespace zarrcore {

std::string utf8_of(const std::filesystem::path& path) {
  const std::u8string text = path.generic_u8string();
  return {text.begin(), text.end()};
}

std::filesystem::path path_of_utf8(std::string_view text) {
  return std::u8string(text.begin(), text.end());
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void make_folders(const std::string& path) {
  if (is_folder(path)) return;
  const std::string folder = folder_of(path);
  if (make_folder(path) != Made::impossible) return;
  if (folder == path) throw Error(path + ": the folder cannot be created");
  make_folders(folder);
  if (make_folder(path) == Made::impossible) {
    throw Error(path + ": the folder around it has been removed");
  }
}

}  // namespace zarrcore
