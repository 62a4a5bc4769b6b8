// Parts of a test that run in a process of their own.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace zarrcore::test {

// A child of this process that runs `body` and is gone after the test.
class ChildProcess {
 public:
  template <typename Body>
  explicit ChildProcess(const Body& body) : id_(::fork()) {
    if (id_ != 0) return;
    int code = 0;
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child process: %s\n", error.what());
      code = 1;
    }
    // Without what a test program does at its end.
    ::_exit(code);
  }
  ~ChildProcess() { kill(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void kill() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    wait();
  }

  // Its exit code, or -1 when it was killed.
  int wait() {
    int status = 0;
    ::waitpid(id_, &status, 0);
    id_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  ::pid_t id_;
};

}  // namespace zarrcore::test
