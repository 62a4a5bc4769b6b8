#include "zarrcore/array/repeated_reads.h"

#include <utility>

namespace zarrcore {

WholeChunks RepeatedReads::observe(const Selection& selection) {
  const std::lock_guard lock(mutex_);
  if (selection == last_) {
    was_repeated_ = true;
    return std::exchange(is_kept_, false) ? WholeChunks::release : WholeChunks::pass;
  }
  last_ = selection;
  is_kept_ = std::exchange(was_repeated_, false);
  return is_kept_ ? WholeChunks::keep : WholeChunks::pass;
}

}  // namespace zarrcore
