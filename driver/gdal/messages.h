// All messages of the driver. URLs may contain passwords, signatures and tokens, and others may
// read logs: these are masked.
#pragma once

#include <cpl_error.h>
#include <cpl_port.h>

#include <string>
#include <string_view>
#include <vector>

namespace gdal_zarr {

// `text` with *** instead of users and passwords of URLs, and of the values of query parameters and
// options whose names mark them as secret (sig=, token=, X-Amz-Signature=…). URLs may be plain or
// percent-encoded, as in /vsicurl?url=.
std::string mask_secrets(std::string_view text);

// Raises a warning or an error in GDAL, like CPLError, but masks secrets.
void report(CPLErr severity, CPLErrorNum number, const char* format, ...) noexcept
    CPL_PRINT_FUNC_FORMAT(3, 4);

// Whether CPL_DEBUG asks for debug messages of this driver: it is ON, or names ZARR.
bool debugs();

// A debug message of this driver, with secrets masked.
void debug(const std::string& message) noexcept;

// Messages of GDAL, held back to be reported later or on another thread.
class HeldMessages {
 public:
  void add(CPLErr severity, CPLErrorNum number, const char* message) noexcept;
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

// While it lives, messages of GDAL itself on this thread are held back; at the end they are
// reported with secrets masked. For calls of GDAL's file systems, whose messages quote URLs.
class MaskedMessages {
 public:
  MaskedMessages();
  ~MaskedMessages();
  MaskedMessages(const MaskedMessages&) = delete;
  MaskedMessages& operator=(const MaskedMessages&) = delete;

 private:
  HeldMessages held_;
};

}  // namespace gdal_zarr
