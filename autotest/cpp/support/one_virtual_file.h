// The only file that virtual chunks of a test may be in.
#pragma once

#include <algorithm>
#include <string>

#include "autotest/cpp/support/icechunk_repository.h"
#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/store/store.h"

namespace zarrcore::test {

class OneVirtualFile final : public icechunk::VirtualFiles {
 public:
  std::vector<Buffer> get_ranges(const icechunk::VirtualFile& file,
                                 std::span<const ByteRange> ranges) override {
    if (file.url != IcechunkRepository::kUrl) throw Error(file.url + " does not exist");
    std::vector<Buffer> parts;
    for (const ByteRange& range : ranges) {
      const std::uint64_t offset = resolve_range(range, content.size());
      parts.push_back(Buffer::copy_of(std::string_view(content).substr(offset, range.length)));
    }
    return parts;
  }

  std::string content = "0123456789";
};

}  // namespace zarrcore::test
