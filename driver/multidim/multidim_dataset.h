// The dataset that the multidimensional API opens or creates: a root group.
#pragma once

#include "driver/multidim/group.h"

namespace gdal_zarr {

class MultidimDataset final : public GDALDataset {
 public:
  MultidimDataset(std::shared_ptr<Session> session, const std::string& name);
  // Flushes what is pending; a failure is reported as CE_Failure.
  ~MultidimDataset() override;

  const Session& session() const { return *session_; }

  std::shared_ptr<GDALGroup> GetRootGroup() const override { return root_; }
  MetadataList GetMetadata(const char* domain) override;
  const char* GetMetadataItem(const char* name, const char* domain) override;
  FlushResult FlushCache(bool at_closing) override;
#if GDAL_ZARR_AT_LEAST(3, 7)
  CPLErr Close(GDAL_ZARR_CLOSE_PARAMETERS) override;
#endif

 private:
  CPLErr flush();

  std::shared_ptr<Session> session_;
  std::shared_ptr<Group> root_;
};

}  // namespace gdal_zarr
