// The `fixedscaleoffset` filter of numcodecs: encodes x as (x - offset) * scale, rounded to a whole
// number. Configuration: `offset`, `scale`, `dtype` of x, and `astype` of what is stored.
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/element_filter.h"
#include "zarrcore/codec/numpy_pipeline.h"
#include "zarrcore/codec/registry.h"

namespace zarrcore {

Codec make_fixedscaleoffset(const Json& configuration, const ChunkSpec& spec) {
  const Json& offset = number_member(configuration, "offset");
  const Json& scale = number_member(configuration, "scale");
  const NumpyType decoded = numpy_type_option(configuration, "dtype", {spec.data_type});
  const NumpyType encoded = numpy_type_option(configuration, "astype", decoded);
  return make_pipeline_filter(
      "fixedscaleoffset", decoded, encoded,
      NumpyPipeline(decoded.type).subtract(offset).multiply(scale).round().cast(encoded.type),
      NumpyPipeline(encoded.type).divide(scale).add(offset).cast(decoded.type));
}

}  // namespace zarrcore
