// Debug messages (CPL_DEBUG=ZARR) that say what reading took: one for each read, and their sum when
// the dataset is closed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "zarrcore/array/array.h"
#include "zarrcore/array/read_statistics.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// The sum of all reads of a dataset.
class ReadReports {
 public:
  // Null unless debug messages are wanted now.
  static std::unique_ptr<ReadReports> make();

  // The message for closing. `store` is null if the dataset could not be opened.
  void report_sum(const std::string& path, const zarrcore::Store* store) const noexcept;

 private:
  friend class ReadReport;

  // Says once if most requests of the store are for missing chunks, which listing folders saves.
  void propose_listing(const zarrcore::Store& store);

  zarrcore::ReadStatistics sum_;
  std::atomic<std::uint64_t> reads_{0};
  std::atomic<bool> proposed_listing_{false};
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// One read, from its construction to its destruction, which raises the message.
class ReadReport {
 public:
  // `verb` and `array` are for the message. Does nothing if `reports` is null. Otherwise the
  // options are used while this object lives, and so is all that is passed here.
  ReadReport(ReadReports* reports, const zarrcore::Store& store, const char* verb,
             const std::string& array, const zarrcore::Selection& selection,
             zarrcore::ReadOptions& options);
  ~ReadReport();
  ReadReport(const ReadReport&) = delete;
  ReadReport& operator=(const ReadReport&) = delete;

 private:
  void report() const;

  ReadReports* reports_;
  const zarrcore::Store& store_;
  const char* verb_;
  const std::string& array_;
  const zarrcore::Selection& selection_;
  zarrcore::ReadStatistics statistics_;
  zarrcore::RequestStatistics::Counts before_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace gdal_zarr
