#include "driver/stores/icechunk/icechunk_metadata.h"

#include <cpl_string.h>

#include <string>

#include "driver/gdal/error_guard.h"
#include "zarrcore/icechunk/icechunk_store.h"

namespace gdal_zarr {
namespace {

using zarrcore::icechunk::IcechunkStore;
using zarrcore::icechunk::Repository;
using zarrcore::icechunk::VersionName;

constexpr const char* kDomain = "ICECHUNK";

void add_refs(CPLStringList& items, const Repository& repository, VersionName::Kind kind,
              const std::string& name) {
  int number = 0;
  for (const Repository::Ref& ref : repository.refs(kind)) {
    const std::string key = name + '_' + std::to_string(++number);
    items.SetNameValue((key + "_NAME").c_str(), ref.name.c_str());
    items.SetNameValue((key + "_SNAPSHOT").c_str(), ref.snapshot.c_str());
  }
}

}  // namespace

void set_icechunk_metadata(GDALDataset& dataset, const zarrcore::Store& store) {
  const auto* icechunk = dynamic_cast<const IcechunkStore*>(&store);
  if (icechunk == nullptr) return;
  CPLStringList items;
  items.SetNameValue("FORMAT", std::to_string(icechunk->repository().format()).c_str());
  items.SetNameValue("SNAPSHOT", icechunk->snapshot_id().c_str());
  const VersionName& version = icechunk->version();
  if (version.kind == VersionName::Kind::branch) {
    items.SetNameValue("BRANCH", version.name.c_str());
  } else if (version.kind == VersionName::Kind::tag) {
    items.SetNameValue("TAG", version.name.c_str());
  }
  dataset.GDALDataset::SetMetadata(items.List(), kDomain);
}

void complete_icechunk_metadata(GDALDataset& dataset, const char* domain,
                                const zarrcore::Store& store) {
  if (domain == nullptr || !EQUAL(domain, kDomain)) return;
  const auto* icechunk = dynamic_cast<const IcechunkStore*>(&store);
  if (icechunk == nullptr) return;
  CPLStringList items(CSLDuplicate(dataset.GDALDataset::GetMetadata(kDomain)));
  if (items.FetchNameValue("BRANCH_1_NAME") != nullptr) return;
  guarded(false, [&] {
    add_refs(items, icechunk->repository(), VersionName::Kind::branch, "BRANCH");
    add_refs(items, icechunk->repository(), VersionName::Kind::tag, "TAG");
    dataset.GDALDataset::SetMetadata(items.List(), kDomain);
    return true;
  });
}

}  // namespace gdal_zarr
