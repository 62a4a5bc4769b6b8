// What the allocator does with memory that has been freed, and the system with new memory.
#pragma once

#include <cstddef>
#include <span>

namespace zarrcore {

// Returns free heap memory to the system, if the allocator supports it. Buffers of many sizes that
// are freed between others that stay leave holes, which together can become as large as everything
// that stays. Memory that is allocated afterwards is cleared by the system, at about the cost of a
// copy: call this after freeing tens of megabytes that are not needed again soon.
void return_free_memory();

// Prepares the allocator, for the rest of the process, for large buffers that are allocated and
// freed in turn, also by the codecs' libraries. Until it has seen this pattern, glibc returns each
// buffer to the system when it is freed and has the next one cleared again. Does nothing when there
// is too little memory.
void expect_large_buffers();

// Says that a large buffer, which is new, will be used as a whole: where the system supports it, it
// is cleared in large pages, at a fraction of the cost.
void expect_full_use(std::span<std::byte> buffer);

}  // namespace zarrcore
