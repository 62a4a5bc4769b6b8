#include "zarrcore/array/write_queue.h"

#include <memory>
#include <utility>

namespace zarrcore {

// Counts a job until it has run or is dropped.
class WriteQueue::Counted {
 public:
  Counted(Total& total, std::uint64_t bytes) : total_(total), bytes_(bytes) {
    total_.bytes += bytes_;
    ++total_.jobs;
  }
  ~Counted() {
    total_.bytes -= bytes_;
    --total_.jobs;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  Total& total_;
  std::uint64_t bytes_;
};

void WriteQueue::post_encoding(const Way& way, std::uint64_t bytes, std::function<void()> job) {
  post(encodings_, way, bytes, std::move(job));
}

void WriteQueue::post_put(const Way& way, std::uint64_t bytes, std::function<void()> job) {
  post(puts_, way, bytes, std::move(job));
}

void WriteQueue::post(TaskGroup& group, const Way& way, std::uint64_t bytes,
                      std::function<void()> job) {
  auto counted = std::make_shared<const Counted>(total_, bytes);
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
