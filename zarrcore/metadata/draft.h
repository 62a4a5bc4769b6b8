// The draft of Zarr v3 of 2020, which zarr-python 2 and GDAL 3.4 to 3.7 wrote: an entry point
// `zarr.json`, documents below `meta/root`, chunks below `data/root`.
#pragma once

#include "zarrcore/metadata/format.h"

namespace zarrcore {

const Format& draft_format();

// Whether a `zarr.json` is an entry point of the draft, in which `zarr_format` is a URI, not a
// number.
bool is_draft_entry_point(const Json& document);

// The model of an array's document. `path` is the node's.
ArrayMetadata parse_draft_array(const Json& document, const std::string& path);

}  // namespace zarrcore
