#include "zarrcore/array/repeated_reads.h"

#include <utility>

namespace zarrcore {

WholeChunks RepeatedReads::observe(const Selection& selection) {
  const std::lock_guard lock(mutex_);
  if (selection == last_) {
    return std::exchange(was_repeated_, true) ? WholeChunks::pass : WholeChunks::release;
  }
  last_ = selection;
  return std::exchange(was_repeated_, false) ? WholeChunks::keep : WholeChunks::pass;
}

}  // namespace zarrcore
