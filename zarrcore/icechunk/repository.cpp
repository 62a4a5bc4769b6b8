#include "zarrcore/icechunk/repository.h"

#include <exception>

#include "zarrcore/base/error.h"
#include "zarrcore/icechunk/formats.h"

namespace zarrcore::icechunk {

std::string describe(const VersionName& version) {
  switch (version.kind) {
    case VersionName::Kind::branch:
      return "branch " + version.name;
    case VersionName::Kind::tag:
      return "tag " + version.name;
    case VersionName::Kind::snapshot:
      break;
  }
  return "snapshot " + version.name;
}

std::shared_ptr<const Repository> Repository::open(std::shared_ptr<Store> files,
                                                   const VersionName& expected,
                                                   const RunTogether& run) {
  const std::string description = files->description();
  return with_context({description}, [&]() -> std::shared_ptr<const Repository> {
    const std::string info_key(kRepositoryFile);
    std::vector<std::string> keys = ref_keys(expected);
    keys.push_back(info_key);
    const RequestedFiles requested(*files, keys, run);
    std::exception_ptr denied;
    try {
      if (const DocumentText info =
              with_context(info_key, [&] { return requested.get(info_key); })) {
        return open_format2(files, info->span());
      }
    } catch (const AccessDenied&) {
      denied = std::current_exception();  // the answer of some stores if there is no such file
    }
    if (auto repository = open_format1(files, requested, expected, run)) return repository;
    if (denied) std::rethrow_exception(denied);
    throw Error("this is no Icechunk repository: it has neither " + info_key + " nor " +
                branch_key(VersionName().name));
  });
}

}  // namespace zarrcore::icechunk
