#include "zarrcore/base/cancellation.h"

#include <utility>

namespace zarrcore {
namespace {

thread_local Cancellation* current_cancellation = nullptr;

}  // namespace

void Cancellation::cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  for (const auto& on_cancel : listeners_) on_cancel();
  cancelled_.notify_all();
}

bool Cancellation::wait_for(std::chrono::duration<double> time) {
  std::unique_lock lock(mutex_);
  return cancelled_.wait_for(lock, time, [this] { return is_cancelled(); });
}

Cancellation* Cancellation::current() {
  return current_cancellation;
}

Cancellation::Scope::Scope(Cancellation* cancellation)
    : before_(std::exchange(current_cancellation, cancellation)) {}

Cancellation::Scope::~Scope() {
  current_cancellation = before_;
}

Cancellation::Listener::Listener(Cancellation* cancellation, std::function<void()> on_cancel)
    : cancellation_(cancellation) {
  if (cancellation_ == nullptr) return;
  const std::lock_guard lock(cancellation_->mutex_);
  auto& listeners = cancellation_->listeners_;
  place_ = listeners.insert(listeners.end(), std::move(on_cancel));
  if (cancellation_->is_cancelled()) (*place_)();
}

Cancellation::Listener::~Listener() {
  if (cancellation_ == nullptr) return;
  const std::lock_guard lock(cancellation_->mutex_);
  cancellation_->listeners_.erase(place_);
}

}  // namespace zarrcore
