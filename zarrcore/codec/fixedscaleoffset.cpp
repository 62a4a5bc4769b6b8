// The `fixedscaleoffset` filter of numcodecs: encodes x as (x - offset) * scale, rounded to a whole
// number. Configuration: `offset`, `scale`, `dtype` of x, and `astype` of the stored numbers.
#include <algorithm>
#include <cmath>

#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/element_filter.h"
#include "zarrcore/codec/numpy_arithmetic.h"

namespace zarrcore {

Codec make_fixedscaleoffset(const Json& configuration, const ChunkSpec& spec) {
  const Json& offset = number_member(configuration, "offset");
  const Json& scale = number_member(configuration, "scale");
  const NumpyType decoded = numpy_type_option(configuration, "dtype", {spec.data_type});
  const NumpyType encoded = numpy_type_option(configuration, "astype", decoded);
  // The errors of rounding to a whole number and of the arithmetic; integers lose a fraction once
  // more when decoded.
  const double factor = std::abs(scale.get<double>());
  Tolerance tolerance;
  tolerance.relative = 8 * std::max({rounding_unit(decoded.type), rounding_unit(encoded.type),
                                     rounding_unit({TypeKind::floating, 8})});
  if (factor != 0) {
    tolerance.absolute = 0.5 / factor + tolerance.relative * std::abs(offset.get<double>());
  }
  if (factor != 1 && decoded.type.kind != TypeKind::floating) tolerance.absolute += 1;
  return make_pipeline_filter(
      "fixedscaleoffset", decoded, encoded,
      NumpyPipeline(decoded.type).subtract(offset).multiply(scale).round().cast(encoded.type),
      NumpyPipeline(encoded.type).divide(scale).add(offset).cast(decoded.type), tolerance);
}

}  // namespace zarrcore
