// Whether programs request each window of an array twice: once for its values and once for their
// mask, as GDAL's resampling does with nodata values.
#pragma once

#include <cstdint>
#include <mutex>

#include "zarrcore/array/selection.h"

namespace zarrcore {

// What becomes of the chunks that a request uses as a whole.
enum class WholeChunks : std::uint8_t {
  pass,     // they are not expected to be needed again
  keep,     // the same request is expected to come again
  release,  // it has come again, for which they were kept
};

// Of one array. Safe to use from several threads at once.
class RepeatedReads {
 public:
  // A request.
  WholeChunks observe(const Selection& selection);

 private:
  std::mutex mutex_;
  Selection last_;
  bool was_repeated_ = false;  // the last window
  bool is_kept_ = false;       // until it comes again
};

}  // namespace zarrcore
