// Memory that has been freed, and that the allocator keeps for later.
#pragma once

namespace zarrcore {

// Gives it back to the system, where the allocator can. Buffers of many sizes that come and go
// between others that stay leave holes, which may become as large together as all that stays. What
// is taken next is then cleared by the system, at about the cost of a copy: for who has just freed
// tens of megabytes that others will not take at once.
void return_free_memory();

// Tells the allocator, for the rest of the process, that large buffers come and go. glibc gives
// each back to the system when it is freed, and has the next one cleared again, until it has seen
// that others follow; so may the codecs' libraries get theirs. Where there is too little memory to
// tell it, that is left.
void expect_large_buffers();

}  // namespace zarrcore
