// Debug messages (CPL_DEBUG=ZARR) about the cost of reading: one for each read, and their sum when
// the dataset is closed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "zarrcore/array/array.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// The sum of all reads of a dataset.
class ReadReports {
 public:
  // Null unless debug messages are enabled now.
  static std::unique_ptr<ReadReports> make();

  // Calls `read`, which uses `options`, and raises the message of one read then, also if it throws.
  // `verb` and `array` are for the message.
  void run(const zarrcore::Store& store, const char* verb, const std::string& array,
           const zarrcore::Selection& selection, zarrcore::ReadOptions& options,
           const std::function<void()>& read);

  // The message for closing. `store` is null if the dataset could not be opened.
  void report_sum(const std::string& path, const zarrcore::Store* store) const noexcept;

 private:
  // Says once if most requests of the store are for missing chunks, which listing folders saves.
  void propose_listing(const zarrcore::Store& store);

  zarrcore::ReadStatistics sum_;
  std::atomic<std::uint64_t> reads_{0};
  std::atomic<bool> proposed_listing_{false};
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace gdal_zarr
