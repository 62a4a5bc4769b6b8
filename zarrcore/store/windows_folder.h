// For the files that implement the local file system on Windows.
#pragma once

#include "zarrcore/store/local_folder.h"
#include "zarrcore/store/windows_api.h"

namespace zarrcore {

// A folder by its path and identity. It is not kept open: programs could not rename the folders
// around it.
struct LocalFolder::System {
  // Whether the folder is still at its path.
  bool exists() const { return windows::id_at(path) == id; }
  // The path of a file in it. Throws Error when Windows forbids the name.
  std::wstring path_of(const std::string& name) const {
    return windows::join(path, windows::wide_name(name));
  }

  std::wstring path;
  windows::FileId id;
  windows::Handle lock;
};

namespace windows {

ValueVersion version_at(const std::wstring& path);

}  // namespace windows
}  // namespace zarrcore
