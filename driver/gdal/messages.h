// What the driver reports to GDAL: messages, failures of calls, and progress.
//
// Every function that GDAL calls and that can fail runs its body in guarded(), the border between
// exceptions and GDAL's error handling. URLs may contain passwords, signatures and tokens, and
// others may read logs: all messages are masked.
#pragma once

#include <cpl_error.h>
#include <cpl_port.h>
#include <cpl_progress.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gdal_zarr {

// `text` with *** instead of users and passwords of URLs, and of the values of query parameters and
// options whose names mark them as secret (sig=, token=, X-Amz-Signature=…). URLs may be plain or
// percent-encoded, as in /vsicurl?url=.
std::string mask_secrets(std::string_view text);

// `text`, which may have names from a store, without the control characters of terminals except the
// ends of lines.
std::string printable(std::string_view text);

// Raises a warning or an error in GDAL, like CPLError, but masks secrets, and is printable.
void report(CPLErr severity, CPLErrorNum number, const char* format, ...) noexcept
    CPL_PRINT_FUNC_FORMAT(3, 4);

// Returns true if CPL_DEBUG enables debug messages of this driver: it is ON, or names ZARR.
bool debugs();

// A debug message of this driver, with secrets masked.
void debug(const std::string& message) noexcept;

// Messages of GDAL, held back to be reported later or on another thread.
class HeldMessages {
 public:
  void add(CPLErr severity, CPLErrorNum number, const char* message) noexcept;
  bool have_failure() const noexcept;
  // Makes failures warnings.
  void soften() noexcept;
  // Removes failures whose text is part of `error`.
  void leave_out(std::string_view error) noexcept;
  // Reports and removes the messages.
  void emit() noexcept;

 private:
  struct Message {
    CPLErr severity;
    CPLErrorNum number;
    std::string text;
  };
  std::vector<Message> messages_;
};

// The failure that a call of the driver is about. The first one remains GDAL's last error when the
// call returns, whatever the call does afterwards: programs that turn errors into exceptions, such
// as those in Python, look at nothing else. An object of this class covers a call, with all calls
// of the driver within it.
class FirstFailure {
 public:
  FirstFailure() noexcept;
  // Makes the failure GDAL's last error again, if there was one.
  ~FirstFailure();
  FirstFailure(const FirstFailure&) = delete;
  FirstFailure& operator=(const FirstFailure&) = delete;

  // GDAL's last error is the failure of the call, unless it is not a failure, or the call had one
  // before.
  static void note() noexcept;
  // The call succeeded after all. Without effect within another call.
  void forget() noexcept;

 private:
  friend class UnrelatedFailures;

  // The outermost call of a thread.
  static FirstFailure*& outermost() noexcept;

  CPLErrorNum number_ = CPLE_None;  // CPLE_None if there was no failure
  std::string text_;
};

// Runs `body` and returns its result, or for a body without one the opposite of `failure`: true, or
// CE_None. An exception becomes a CE_Failure with its text, and `failure` is returned. The first
// failure of the call is then GDAL's last error.
template <typename Result, typename Body>
Result guarded(Result failure, Body&& body) noexcept {
  FirstFailure first_failure;
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      static_assert(std::is_same_v<Result, bool> || std::is_same_v<Result, CPLErr>);
      std::forward<Body>(body)();
      first_failure.forget();
      if constexpr (std::is_same_v<Result, bool>) {
        return true;
      } else {
        return CE_None;
      }
    } else {
      Result result = std::forward<Body>(body)();
      if (result != failure) first_failure.forget();
      return result;
    }
  } catch (const std::bad_alloc&) {
    report(CE_Failure, CPLE_OutOfMemory, "Zarr: not enough memory");
  } catch (const std::exception& exception) {
    report(CE_Failure, CPLE_AppDefined, "Zarr: %s", exception.what());
  }
  FirstFailure::note();
  return failure;
}

// While it lives, failures on this thread do not count as failures of the call: for clean-up, and
// for attempts that may fail.
class UnrelatedFailures {
 public:
  UnrelatedFailures() noexcept;
  ~UnrelatedFailures();
  UnrelatedFailures(const UnrelatedFailures&) = delete;
  UnrelatedFailures& operator=(const UnrelatedFailures&) = delete;

 private:
  FirstFailure* call_;
};

// While it lives, GDAL reports nothing on this thread, and its last error comes from calls within
// the scope; at the end, the previous last error is restored. For attempts that may fail.
class QuietErrors {
 public:
  QuietErrors() {
    CPLErrorReset();
    CPLPushErrorHandler(CPLQuietErrorHandler);
  }
  ~QuietErrors() { CPLPopErrorHandler(); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  CPLErrorStateBackuper state_;
  UnrelatedFailures unrelated_;
};

// While it lives, messages on this thread are held back; at the end they are reported with secrets
// masked.
class HoldMessages {
 public:
  HoldMessages();
  ~HoldMessages();
  HoldMessages(const HoldMessages&) = delete;
  HoldMessages& operator=(const HoldMessages&) = delete;

  bool have_failure() const noexcept { return held_.have_failure(); }
  // Failures so far are reported as warnings: the call succeeded without what failed.
  void soften() noexcept { held_.soften(); }
  // See HeldMessages.
  void leave_out(std::string_view error) noexcept { held_.leave_out(error); }

 private:
  HeldMessages held_;
};

// For calls of GDAL's file systems, whose messages quote URLs.
class MaskedMessages {
  UnrelatedFailures unrelated_;
  HoldMessages hold_;
};

// Maps the progress of a part, 0 to 1, to `from` to `to` of the whole. Once the caller's function
// wants the work to stop, it is not called again, and every further report says so: some of GDAL's
// functions ignore what a report returns.
class PartialProgress {
 public:
  // `progress` may be null.
  PartialProgress(double from, double to, GDALProgressFunc progress, void* data)
      : from_(from), to_(to), progress_(progress), data_(data) {}
  PartialProgress(const PartialProgress&) = delete;
  PartialProgress& operator=(const PartialProgress&) = delete;

  // For functions of GDAL; GDAL's own dummy if no progress is wanted.
  GDALProgressFunc function() const { return is_wanted() ? &report_part : GDALDummyProgress; }
  void* data() { return this; }
  // Returns false when the work is to be stopped.
  bool operator()(double share) { return function()(share, nullptr, this) != FALSE; }
  bool is_stopped() const { return is_stopped_; }

 private:
  bool is_wanted() const { return progress_ != nullptr && progress_ != GDALDummyProgress; }
  static int CPL_STDCALL report_part(double share, const char* message, void* data) {
    auto& self = *static_cast<PartialProgress*>(data);
    const double done = self.from_ + (self.to_ - self.from_) * share;
    if (!self.is_stopped_) self.is_stopped_ = self.progress_(done, message, self.data_) == FALSE;
    return self.is_stopped_ ? FALSE : TRUE;
  }

  double from_;
  double to_;
  GDALProgressFunc progress_;
  void* data_;
  bool is_stopped_ = false;
};

// `what` is "array /name" or the name of a dataset.
inline void report_stop(const std::string& what) {
  report(CE_Failure, CPLE_UserInterrupt, "Zarr: %s: stopped by the user", what.c_str());
}

}  // namespace gdal_zarr
