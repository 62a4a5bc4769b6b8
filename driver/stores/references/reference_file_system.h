// GDAL's virtual file systems whose files are the values of references; see reference_path.h.
#pragma once

namespace gdal_zarr {

// Installs /vsikerchunk_json_ref/, /vsikerchunk_json_ref_cached/ and /vsikerchunk_parquet_ref/.
void install_reference_file_systems();

}  // namespace gdal_zarr
