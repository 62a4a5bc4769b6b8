#include <cpl_conv.h>
#include <cpl_http.h>
#include <cpl_string.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "driver/stores/vsi/http_client.h"
#include "driver/stores/vsi/http_transfers.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"

#if GDAL_ZARR_HAS_CURL
#include <dlfcn.h>
#include <link.h>
#endif

namespace gdal_zarr {

#if GDAL_ZARR_HAS_CURL

namespace {

using zarrcore::Buffer;

// The file of the library that has a function; empty if unknown.
const char* library_of(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 ? info.dli_fname : "";
}

// Returns true if a library is linked with the file at `path`, not only through other libraries.
bool is_linked_with(void* library, std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  const link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) return false;
  const char* names = nullptr;
  for (const auto* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    // glibc replaces the offset in the file by the address.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  }
  for (const auto* entry = map->l_ld; names != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED && name == names + entry->d_un.d_val) return true;
  }
  return false;
}

std::optional<CurlLibrary> find_curl() {
  const char* gdal = library_of(reinterpret_cast<const void*>(&CPLHTTPSetOptions));
  // Never closed: libgdal stays loaded anyway.
  void* library = dlopen(gdal, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return std::nullopt;
  // Searches libgdal, the libraries that it is linked with, and then theirs.
  CurlLibrary curl;
#define GDAL_ZARR_FIND_CURL_FUNCTION(name)                                          \
  curl.name = reinterpret_cast<decltype(curl.name)>(dlsym(library, "curl_" #name)); \
  if (curl.name == nullptr) return std::nullopt;
  GDAL_ZARR_CURL_FUNCTIONS(GDAL_ZARR_FIND_CURL_FUNCTION)
#undef GDAL_ZARR_FIND_CURL_FUNCTION
  // The search may find the libcurl of another library, if GDAL's is a part of libgdal.
  const std::string_view found = library_of(reinterpret_cast<const void*>(curl.easy_init));
  if (found != gdal && !is_linked_with(library, found)) return std::nullopt;
  if (void* own = dlopen(found.data(), RTLD_LAZY | RTLD_NOLOAD)) {
    curl.gnutls_protocol = reinterpret_cast<decltype(curl.gnutls_protocol)>(
        dlsym(own, "gnutls_alpn_get_selected_protocol"));
    curl.openssl_protocol =
        reinterpret_cast<decltype(curl.openssl_protocol)>(dlsym(own, "SSL_get0_alpn_selected"));
  }
  return curl;
}

// A reply while it arrives. Used by the thread of the transfers.
class Receiver {
 public:
  Receiver(HttpReply& reply, std::uint64_t max_size) : reply_(reply), max_size_(max_size) {}

  // curl's callbacks: they return the number of bytes that they took, or less to end the transfer.
  static std::size_t take_header(char* line, std::size_t /*one*/, std::size_t size, void* self) {
    return call(self, size, [&](Receiver& receiver) { return receiver.header({line, size}); });
  }
  static std::size_t take_bytes(char* bytes, std::size_t /*one*/, std::size_t size, void* self) {
    return call(self, size, [&](Receiver& receiver) { return receiver.append(bytes, size); });
  }

  void finish() {
    bytes_.truncate(size_);
    reply_.bytes = std::move(bytes_);
  }

 private:
  // The most bytes that are reserved for a value before they have arrived.
  static constexpr std::uint64_t kMaxReserved = std::uint64_t{64} << 20;
  // The limit for a server's error message.
  static constexpr std::uint64_t kMaxErrorBytes = std::uint64_t{64} << 10;

  template <typename Body>
  static std::size_t call(void* self, std::size_t size, const Body& body) {
    auto& receiver = *static_cast<Receiver*>(self);
    try {
      return body(receiver) ? size : 0;
    } catch (const std::exception& error) {
      receiver.reply_.problem = error.what();
      return 0;
    }
  }

  bool header(std::string_view line) {
    line = line.substr(0, line.find_last_not_of("\r\n") + 1);
    if (line.starts_with("HTTP/")) {  // replies that redirect, and replies of proxies, come before
      reply_.headers.Clear();
      const auto space = line.find(' ');
      if (space != std::string_view::npos) reply_.status = std::atoi(line.data() + space);
      size_ = 0;
      return true;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return true;
    const std::string name(line.substr(0, colon));
    const auto start = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
    const std::string value(line.substr(start));
    reply_.headers.SetNameValue(name.c_str(), value.c_str());
    if (EQUAL(name.c_str(), "Content-Length") && is_value()) {
      std::uint64_t length = 0;
      std::from_chars(value.data(), value.data() + value.size(), length);
      reply_.is_large = length > max_size_;
      if (!reply_.is_large) reserve(std::min(length, kMaxReserved));
      return !reply_.is_large;
    }
    return true;
  }

  bool append(const char* bytes, std::size_t size) {
    if (!is_value()) {
      size = static_cast<std::size_t>(std::min<std::uint64_t>(size, kMaxErrorBytes - size_));
    } else if (size > max_size_ - size_) {
      reply_.is_large = true;
      return false;
    }
    if (size > bytes_.size() - size_) reserve(std::max(2 * bytes_.size(), size_ + size));
    if (size > 0) std::memcpy(bytes_.data() + size_, bytes, size);
    size_ += size;
    return true;
  }

  bool is_value() const { return reply_.status >= 200 && reply_.status < 300; }

  void reserve(std::uint64_t size) {
    if (size <= bytes_.size()) return;
    Buffer larger(size);
    if (size_ > 0) std::memcpy(larger.data(), bytes_.data(), size_);
    bytes_ = std::move(larger);
  }

  HttpReply& reply_;
  std::uint64_t max_size_;
  Buffer bytes_;            // larger than the bytes received so far
  std::uint64_t size_ = 0;  // that has arrived
};

// State that the transfers of a folder share beside connections: cookies, and the sessions of TLS,
// by which a server recognizes a client.
class CurlShare {
 public:
  explicit CurlShare(const CurlLibrary& curl) : curl_(curl), share_(curl.share_init()) {
    if (share_ == nullptr) throw zarrcore::Error("libcurl cannot be used");
    curl_.share_setopt(share_, CURLSHOPT_LOCKFUNC, &CurlShare::lock);
    curl_.share_setopt(share_, CURLSHOPT_UNLOCKFUNC, &CurlShare::unlock);
    curl_.share_setopt(share_, CURLSHOPT_USERDATA, static_cast<void*>(this));
    curl_.share_setopt(share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    curl_.share_setopt(share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  }
  ~CurlShare() { curl_.share_cleanup(share_); }
  CurlShare(const CurlShare&) = delete;
  CurlShare& operator=(const CurlShare&) = delete;

  CURLSH* get() const { return share_; }

 private:
  static void lock(CURL* /*handle*/, curl_lock_data /*data*/, curl_lock_access /*access*/,
                   void* self) {
    static_cast<CurlShare*>(self)->mutex_.lock();
  }
  static void unlock(CURL* /*handle*/, curl_lock_data /*data*/, void* self) {
    static_cast<CurlShare*>(self)->mutex_.unlock();
  }

  const CurlLibrary& curl_;
  CURLSH* share_;
  std::recursive_mutex mutex_;  // for all kinds of data
};

class SharedConnections final : public HttpConnection {
 public:
  SharedConnections(const HttpFolder& folder, const CurlLibrary& curl)
      : folder_(folder),
        curl_(curl),
        share_(curl),
        uses_certificate_folder_(!folder.value(ConfigOption::certificate_folder).empty()) {}

  HttpReply get(const std::string& url, const std::string& headers,
                std::uint64_t max_size) override {
    const bool uses_folder = uses_certificate_folder_;
    HttpReply reply = repeat(url, headers, max_size);
    constexpr std::array kUnknownCertificate{CURLE_PEER_FAILED_VERIFICATION,
                                             CURLE_SSL_CACERT_BADFILE};
    if (uses_folder || std::ranges::count(kUnknownCertificate, reply.curl_code) == 0) return reply;
    uses_certificate_folder_ = true;
    return repeat(url, headers, max_size);
  }

 private:
  using Handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
  using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

  // Once more if a connection that had been used before is found to be closed. With HTTP/2, a
  // server that closes one, as many do after a number of requests, ends all that run on it.
  HttpReply repeat(const std::string& url, const std::string& headers,
                   std::uint64_t max_size) const {
    constexpr int kMaxAttempts = 3;
    for (int attempt = 1;; ++attempt) {
      HttpReply reply;
      const bool was_new = send(url, headers, max_size, reply);
      constexpr std::array kClosed{CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR,
                                   CURLE_RECV_ERROR};
      const bool is_closed = reply.curl_code == CURLE_HTTP2 ||
                             reply.curl_code == CURLE_HTTP2_STREAM ||
                             (!was_new && std::ranges::count(kClosed, reply.curl_code) > 0);
      if (!is_closed || attempt == kMaxAttempts) return reply;
    }
  }

  // Returns whether a connection was opened for the request.
  bool send(const std::string& url, const std::string& headers, std::uint64_t max_size,
            HttpReply& reply) const {
    const Handle handle(curl_.easy_init(), curl_.easy_cleanup);
    if (!handle) throw zarrcore::Error("libcurl cannot be used");
    const HeaderList sent = set_options(handle.get(), url, headers);
    Receiver receiver(reply, max_size);
    set(handle, CURLOPT_HTTPHEADER, sent.get());
    set(handle, CURLOPT_HEADERFUNCTION, &Receiver::take_header);
    set(handle, CURLOPT_HEADERDATA, static_cast<void*>(&receiver));
    set(handle, CURLOPT_WRITEFUNCTION, &Receiver::take_bytes);
    set(handle, CURLOPT_WRITEDATA, static_cast<void*>(&receiver));
    set(handle, CURLOPT_SHARE, share_.get());
    set(handle, CURLOPT_NOSIGNAL, 1L);
    const std::string certificates = folder_.value(ConfigOption::certificate_folder);
    if (!certificates.empty() || !uses_certificate_folder_) {
      set(handle, CURLOPT_CAPATH, certificates.empty() ? nullptr : certificates.c_str());
    }
    if (folder_.test(ConfigOption::gzip)) {
      set(handle, CURLOPT_ACCEPT_ENCODING, "gzip");
    }
    const auto result = HttpTransfers::of_process()->run(handle.get(), url, limits_of(folder_));
    receiver.finish();
    long opened = 0;
    curl_.easy_getinfo(handle.get(), CURLINFO_NUM_CONNECTS, &opened);
    if (result.code == CURLE_OK) return opened > 0;
    reply.curl_code = result.code;
    if (reply.problem.empty()) reply.problem = result.problem;
    if (reply.problem.empty()) reply.problem = curl_.easy_strerror(result.code);
    return opened > 0;
  }

  template <typename Value>
  void set(const Handle& handle, CURLoption option, Value value) const {
    curl_.easy_setopt(handle.get(), option, value);
  }

  // Applies GDAL's options. Returns all headers of the request.
  HeaderList set_options(CURL* handle, const std::string& url, const std::string& headers) const {
    const HttpOptionScope scope(folder_);
    const QuietCall call;
    // `headers` include this option, which GDAL 3.6 does not parse completely.
    const CPLConfigOptionSetter no_headers("GDAL_HTTP_HEADERS", "", false);
    HeaderList list(static_cast<curl_slist*>(CPLHTTPSetOptions(handle, url.c_str(), nullptr)),
                    curl_.slist_free_all);
    const CPLStringList lines(CSLTokenizeString2(headers.c_str(), "\r\n", 0));
    for (int i = 0; i < lines.size(); ++i) {
      curl_slist* longer = curl_.slist_append(list.get(), lines[i]);
      if (longer == nullptr) throw std::bad_alloc();
      if (!list) list.reset(longer);  // else it has the same start
    }
    return list;
  }

  static HttpTransfers::Limits limits_of(const HttpFolder& folder) {
    HttpTransfers::Limits limits;
    limits.parallel_requests = static_cast<long>(parallel_network_requests());
    limits.is_multiplexed = folder.test(ConfigOption::multiplex);
    const auto number = [&](ConfigOption option) {
      return std::max(0L, std::atol(folder.value(option).c_str()));
    };
    limits.max_connections = number(ConfigOption::max_connections);
    limits.max_idle_connections = number(ConfigOption::max_idle_connections);
    return limits;
  }

  const HttpFolder& folder_;
  const CurlLibrary& curl_;
  CurlShare share_;
  // libcurl's own folder of certificates has the same as its file, as a rule. GnuTLS reads all of
  // them for each connection, which takes 30 times as long as connecting (28 ms of a processor in
  // Debian 12, instead of 1 ms): it is used when the file does not suffice.
  std::atomic<bool> uses_certificate_folder_;
};

}  // namespace

const CurlLibrary* gdal_curl() {
  static const std::optional<CurlLibrary> curl = find_curl();
  return curl ? &*curl : nullptr;
}

std::unique_ptr<HttpConnection> make_shared_connections(const HttpFolder& folder) {
  const CurlLibrary* curl = gdal_curl();
  return curl != nullptr ? std::make_unique<SharedConnections>(folder, *curl) : nullptr;
}

void close_shared_connections() {
  HttpTransfers::shut_down();
}

#else

std::unique_ptr<HttpConnection> make_shared_connections(const HttpFolder& /*folder*/) {
  return nullptr;
}

void close_shared_connections() {}

#endif

}  // namespace gdal_zarr
