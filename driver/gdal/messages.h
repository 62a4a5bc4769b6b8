// All that the driver tells a person goes through here. URLs may carry passwords, signatures and
// tokens, and logs are read by others: these are masked.
#pragma once

#include <cpl_error.h>
#include <cpl_port.h>

#include <string>
#include <string_view>
#include <vector>

namespace gdal_zarr {

// `text` with *** in place of the user and password of URLs, and of the values of query parameters
// and options that are secret by their names (sig=, token=, X-Amz-Signature=…). URLs may stand in
// the text as they are, or percent-encoded as in /vsicurl?url=.
std::string mask_secrets(std::string_view text);

// Raises a warning or an error in GDAL, as CPLError does, without the secrets in it.
void report(CPLErr severity, CPLErrorNum number, const char* format, ...) noexcept
    CPL_PRINT_FUNC_FORMAT(3, 4);

// What GDAL reports, held back to be reported later or by another thread.
class HeldMessages {
 public:
  void add(CPLErr severity, CPLErrorNum number, const char* message) noexcept;
  // Reports what was added since.
  void emit() noexcept;

 private:
  struct Message {
    CPLErr severity;
    CPLErrorNum number;
    std::string text;
  };
  std::vector<Message> messages_;
};

// While it lives, what GDAL itself reports on this thread is held back; it is reported, masked, at
// the end. For calls of GDAL's file systems, whose messages quote URLs.
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
