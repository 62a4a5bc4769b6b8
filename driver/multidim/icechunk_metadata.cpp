#include <cpl_string.h>

#include <string>

#include "driver/gdal/messages.h"
#include "driver/multidim/group.h"
#include "driver/multidim/session.h"
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

const IcechunkStore* icechunk_store(const Session& session) {
  return dynamic_cast<const IcechunkStore*>(session.hierarchy().store().get());
}

CPLStringList opened_version(int format, const std::string& snapshot, const VersionName& version) {
  CPLStringList items;
  items.SetNameValue("FORMAT", std::to_string(format).c_str());
  items.SetNameValue("SNAPSHOT", snapshot.c_str());
  if (version.kind == VersionName::Kind::branch) {
    items.SetNameValue("BRANCH", version.name.c_str());
  } else if (version.kind == VersionName::Kind::tag) {
    items.SetNameValue("TAG", version.name.c_str());
  }
  return items;
}

CPLStringList opened_version(const Session& session) {
  if (const IcechunkStore* store = icechunk_store(session)) {
    return opened_version(store->repository().format(), store->snapshot_id(), store->version());
  }
  if (const IcechunkWriter* writer = session.icechunk()) {
    const auto& store = *writer->store();
    return opened_version(store.format(), store.snapshot_id(),
                          {VersionName::Kind::branch, store.branch()});
  }
  return {};
}

}  // namespace

bool is_icechunk_domain(const char* domain) {
  return domain != nullptr && EQUAL(domain, kDomain);
}

void set_icechunk_metadata(GDALDataset& dataset, const Session& session) {
  CPLStringList items = opened_version(session);
  if (!items.empty()) dataset.GDALDataset::SetMetadata(items.List(), kDomain);
}

void complete_icechunk_metadata(GDALDataset& dataset, const Session& session, const char* domain) {
  if (!is_icechunk_domain(domain)) return;
  const IcechunkStore* store = icechunk_store(session);
  const IcechunkWriter* writer = session.icechunk();
  if (store == nullptr && writer == nullptr) return;
  const char* const* const known = dataset.GDALDataset::GetMetadata(kDomain);
  if (store != nullptr && CSLFetchNameValue(known, "BRANCH_1_NAME") != nullptr) return;
  guarded(false, [&] {
    CPLStringList items = opened_version(session);
    const auto add = [&](const Repository& repository) {
      add_refs(items, repository, VersionName::Kind::branch, "BRANCH");
      add_refs(items, repository, VersionName::Kind::tag, "TAG");
    };
    add(store != nullptr ? store->repository() : *writer->repository());
    dataset.GDALDataset::SetMetadata(items.List(), kDomain);
  });
}

bool is_changes_item(const char* name, const char* domain) {
  return is_icechunk_domain(domain) && name != nullptr && EQUAL(name, "CHANGES");
}

const char* icechunk_changes(Session& session) {
  return guarded<const char*>(nullptr, [&] { return session.icechunk_changes(); });
}

CPLErr run_icechunk_commands(GDALDataset& dataset, Session& session, CSLConstList items) {
  complete_icechunk_metadata(dataset, session, kDomain);
  const CPLStringList known(CSLDuplicate(dataset.GDALDataset::GetMetadata(kDomain)));
  for (int i = 0; i < CSLCount(items); ++i) {
    const std::string item = items[i];
    const auto equal = item.find('=');
    if (equal == std::string::npos || CSLFindString(known.List(), items[i]) >= 0) continue;
    const CPLErr result = run_icechunk_command(session, item.substr(0, equal).c_str(),
                                               item.substr(equal + 1).c_str());
    if (result != CE_None) return result;
  }
  return CE_None;
}

CPLErr run_icechunk_command(Session& session, const char* name, const char* value) {
  return guarded(CE_Failure, [&] {
    session.run_icechunk_command(name != nullptr ? name : "", value != nullptr ? value : "");
  });
}

}  // namespace gdal_zarr
