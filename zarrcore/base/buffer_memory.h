// The memory of buffers. Large ones are mapped by themselves, in huge pages where the system has
// them; a few that have been freed are reused. The system clears memory that is new
// to a process page by page, which can take as long as decoding a chunk into it.
#pragma once

#include <cstddef>

#include "zarrcore/base/api.h"

namespace zarrcore {

// Memory that is not initialized. Throws std::bad_alloc.
ZARRCORE_API std::byte* allocate_buffer(std::size_t size);
// Null if there is not enough memory.
ZARRCORE_API std::byte* try_to_allocate_buffer(std::size_t size) noexcept;
// Frees memory that was allocated with this size.
ZARRCORE_API void free_buffer(std::byte* memory, std::size_t size) noexcept;

struct BufferDeleter {
  std::size_t size = 0;  // that was allocated
  void operator()(std::byte* memory) const noexcept { free_buffer(memory, size); }
};

// Returns free heap memory to the system, if the allocator supports it. Buffers of many sizes that
// are freed between others that stay leave holes, which together can become as large as everything
// that stays. Memory that is allocated afterwards is cleared by the system, at about the cost of a
// copy: call this after freeing tens of megabytes that are not needed again soon.
void return_free_memory();

// Prepares the allocator, for the rest of the process, for large buffers that are allocated and
// freed in turn, also by the codecs' libraries. Until it has seen this pattern, glibc returns each
// buffer to the system when it is freed and has the next one cleared again. Does nothing when there
// is too little memory.
ZARRCORE_API void expect_large_buffers();

}  // namespace zarrcore
