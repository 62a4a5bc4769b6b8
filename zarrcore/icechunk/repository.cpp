#include "zarrcore/icechunk/repository.h"

#include "zarrcore/base/error.h"
#include "zarrcore/icechunk/format1.h"
#include "zarrcore/icechunk/format2.h"

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

std::shared_ptr<const Repository> Repository::open(std::shared_ptr<Store> files) {
  const std::string description = files->description();
  return with_context({description}, [&]() -> std::shared_ptr<const Repository> {
    if (auto repository = open_format2(files)) return repository;
    if (auto repository = open_format1(files)) return repository;
    throw Error("this is no Icechunk repository: it has neither " + std::string(kRepositoryFile) +
                " nor " + branch_key(VersionName().name));
  });
}

}  // namespace zarrcore::icechunk
