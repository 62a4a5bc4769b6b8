#include "zarrcore/array/write_queue.h"

#include <memory>
#include <utility>

namespace zarrcore {
namespace {

// Counts the bytes of a job until the job has run or is dropped.
class QueuedBytes {
 public:
  QueuedBytes(std::atomic<std::uint64_t>& total, std::uint64_t bytes)
      : total_(total), bytes_(bytes) {
    total_ += bytes_;
  }
  ~QueuedBytes() { total_ -= bytes_; }
  QueuedBytes(const QueuedBytes&) = delete;
  QueuedBytes& operator=(const QueuedBytes&) = delete;

 private:
  std::atomic<std::uint64_t>& total_;
  std::uint64_t bytes_;
};

}  // namespace

void WriteQueue::post_encoding(const Way& way, std::uint64_t bytes, std::function<void()> job) {
  post(encodings_, way, bytes, std::move(job));
}

void WriteQueue::post_put(const Way& way, std::uint64_t bytes, std::function<void()> job) {
  post(puts_, way, bytes, std::move(job));
}

void WriteQueue::post(TaskGroup& group, const Way& way, std::uint64_t bytes,
                      std::function<void()> job) {
  auto counted = std::make_shared<const QueuedBytes>(bytes_, bytes);
  group.post(
      [this, scope = way.scope, counted = std::move(counted), job = std::move(job)] {
        const auto run = [&] { error_.keep(job); };
        scope ? scope(run) : run();
      },
      way.threads);
}

void WriteQueue::cancel() {
  encodings_.cancel();
  puts_.cancel();
}

}  // namespace zarrcore
