#include "driver/multidim/multidim_dataset.h"

#include "driver/gdal/error_guard.h"
#include "driver/multidim/session.h"
#include "driver/stores/icechunk/icechunk_metadata.h"

namespace gdal_zarr {

MultidimDataset::MultidimDataset(std::shared_ptr<Session> session, const std::string& name)
    : session_(std::move(session)), root_(session_->root_group()) {
  SetDescription(name.c_str());
  eAccess = session_->is_writable() ? GA_Update : GA_ReadOnly;
  set_icechunk_metadata(*this, *session_->hierarchy().store());
}

MetadataList MultidimDataset::GetMetadata(const char* domain) {
  complete_icechunk_metadata(*this, domain, *session_->hierarchy().store());
  return GDALDataset::GetMetadata(domain);
}

const char* MultidimDataset::GetMetadataItem(const char* name, const char* domain) {
  complete_icechunk_metadata(*this, domain, *session_->hierarchy().store());
  return GDALDataset::GetMetadataItem(name, domain);
}

CPLErr MultidimDataset::flush() {
  return guarded(CE_Failure, [this] {
    if (session_->is_writable()) session_->flush();
    return CE_None;
  });
}

FlushResult MultidimDataset::FlushCache(bool at_closing) {
  const FirstFailure first_failure;
  GDALDataset::FlushCache(at_closing);
  const CPLErr flushed = flush();
  if (!at_closing) session_->refresh();
  return flush_result(flushed);
}

// Arrays that are still alive flush themselves.
MultidimDataset::~MultidimDataset() {
  const FirstFailure first_failure;
  flush();
  root_.reset();
  session_.reset();
}

#if GDAL_ZARR_AT_LEAST(3, 7)
CPLErr MultidimDataset::Close(GDAL_ZARR_CLOSE_PARAMETERS) {
  if (nOpenFlags == OPEN_FLAGS_CLOSED) return CE_None;
  const FirstFailure first_failure;
  const CPLErr flushed = flush();
  const CPLErr closed = GDALDataset::Close();
  return flushed == CE_None ? closed : flushed;
}
#endif

}  // namespace gdal_zarr
