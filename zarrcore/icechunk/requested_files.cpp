#include "zarrcore/icechunk/requested_files.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "zarrcore/icechunk/format2.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::uint64_t kMaxRefBytes = 1 << 20;
// That of format 2 has the whole history.
constexpr std::uint64_t kMaxRepositoryBytes = std::uint64_t{1} << 30;

}  // namespace

RequestedFiles::RequestedFiles(Store& files, const std::vector<std::string>& keys,
                               const RunTogether& run)
    : files_(files),
      kept_(run && files.traits().parallel_requests > 1
                ? requests_.request(keys, files.traits().parallel_requests, run,
                                    [this](const std::string& key) { return request(key); })
                : DocumentRequests::Kept()) {}

DocumentText RequestedFiles::get(const std::string& key) const {
  const auto answer = requests_.find(key);
  return answer ? *answer : request(key);
}

DocumentText RequestedFiles::request(const std::string& key) const {
  auto text = files_.get(key, key == kRepositoryFile ? kMaxRepositoryBytes : kMaxRefBytes);
  return text ? std::make_shared<const Buffer>(*std::move(text)) : nullptr;
}

}  // namespace zarrcore::icechunk
