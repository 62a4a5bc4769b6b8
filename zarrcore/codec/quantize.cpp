// The `quantize` filter of numcodecs: keeps as many bits after the binary point as `digits` decimal
// digits need. Configuration: `digits`, `dtype`, and `astype` of the stored numbers. Decoding only
// undoes the cast.
#include <algorithm>
#include <cmath>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/element_filter.h"
#include "zarrcore/codec/numpy_arithmetic.h"

namespace zarrcore {
namespace {

void check_float(const DataType& type) {
  if (type.kind == TypeKind::floating) return;
  throw Error("the data type " + type_name(type) + " is not a floating point type");
}

}  // namespace

Codec make_quantize(const Json& configuration, const ChunkSpec& spec) {
  const Json& digits = number_member(configuration, "digits");
  const NumpyType decoded = numpy_type_option(configuration, "dtype", {spec.data_type});
  const NumpyType encoded = numpy_type_option(configuration, "astype", decoded);
  check_float(decoded.type);
  check_float(encoded.type);

  // Powers of ten are rounded outwards to whole digits, then to a power of two.
  double exponent = std::log10(std::pow(10.0, -digits.get<double>()));
  exponent = exponent < 0 ? std::floor(exponent) : std::ceil(exponent);
  const double scale = std::exp2(std::ceil(std::log2(std::pow(10.0, -exponent))));
  if (!std::isnormal(scale)) throw Error("\"digits\" is " + excerpt(digits) + ", out of range");
  return make_pipeline_filter(
      "quantize", decoded, encoded,
      NumpyPipeline(decoded.type).multiply(scale).round().divide(scale).cast(encoded.type),
      NumpyPipeline(encoded.type).cast(decoded.type),
      {0.5 / scale, 8 * std::max(rounding_unit(decoded.type), rounding_unit(encoded.type))});
}

}  // namespace zarrcore
