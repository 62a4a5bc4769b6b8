// The floor under reading: what the file system, the codec libraries and one copy take. Each chunk
// is read, decoded into a scratch buffer of its thread, and its rows are copied to their place in a
// freshly allocated result. No metadata, no checks but the library's, no partial reads. With
// --encode, the floor under writing: the rows of each chunk are copied to a scratch buffer,
// encoded, and written to a file of FOLDER as flat names; what was read first is not timed. zstd at
// level 3, Blosc with the settings of the chunks that were read.
//
// usage: zarr_floor [--encode FOLDER] FOLDER CODEC ITEM_SIZE ORDER SEPARATOR THREADS SHAPE CHUNK
// [INNER]
//          CODEC      blosc, zstd, gzip or none
//          ORDER      of the elements in a chunk: C, or F for the reverse of the dimensions
//          SHAPE, CHUNK, INNER   lengths, as in 240,721,1440; with INNER, a chunk is a shard, whose
//                     index stands at its end with a checksum, as "sharding_indexed" has it
// prints: the seconds, and those of the processors
#include <blosc.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Shape = std::vector<std::size_t>;

struct Job {
  std::string folder;
  std::string codec;
  std::size_t item_size = 0;
  bool is_order_f = false;
  std::string separator;
  std::size_t threads = 1;
  Shape shape;
  Shape chunk;
  Shape inner;
};

Shape parse_shape(const std::string& text) {
  Shape shape;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    shape.push_back(std::stoul(text.substr(at, comma - at)));
    at = comma + 1;
  }
  return shape;
}

std::size_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

// Memory as numpy takes it for a large array.
std::byte* allocate_result(std::size_t size) {
  constexpr std::size_t kHugePage = 2 << 20;
  void* memory = std::aligned_alloc(kHugePage, (size + kHugePage - 1) / kHugePage * kHugePage);
  if (memory == nullptr) throw std::bad_alloc();
  ::madvise(memory, size, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

// What a thread has for itself.
class Decoder {
 public:
  explicit Decoder(const Job& job)
      : job_(job), scratch_(product(job.inner.empty() ? job.chunk : job.inner) * job.item_size) {}

  const std::byte* decode(const std::byte* bytes, std::size_t size) {
    if (job_.codec == "none") return bytes;
    std::size_t decoded = 0;
    if (job_.codec == "blosc") {
      decoded = static_cast<std::size_t>(
          std::max(0, blosc_decompress_ctx(bytes, scratch_.data(), scratch_.size(), 1)));
    } else if (job_.codec == "zstd") {
      decoded = ZSTD_decompressDCtx(zstd_.get(), scratch_.data(), scratch_.size(), bytes, size);
    } else if (libdeflate_gzip_decompress(deflate_.get(), bytes, size, scratch_.data(),
                                          scratch_.size(), &decoded) != LIBDEFLATE_SUCCESS) {
      decoded = 0;
    }
    if (decoded != scratch_.size()) throw std::runtime_error("a chunk cannot be decoded");
    return scratch_.data();
  }

  std::vector<std::byte> encoded;

 private:
  const Job& job_;
  std::vector<std::byte> scratch_;
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> zstd_{ZSTD_createDCtx(), ZSTD_freeDCtx};
  std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> deflate_{
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor};
};

// Calls copy(result, chunk) for each row of a chunk of `length` that begins at `start` of the
// result, as far as it is inside, and with the stride of elements in the chunk and their number.
template <typename Copy>
void for_each_row(const Job& job, const Shape& start, const Shape& length, const Copy& copy) {
  const std::size_t rank = start.size();
  Shape count(rank);
  Shape from(rank);
  Shape to(rank);
  std::size_t from_stride = job.item_size;
  std::size_t to_stride = job.item_size;
  std::size_t first = 0;
  for (std::size_t i = rank; i-- > 0;) {
    to[i] = to_stride;
    to_stride *= job.shape[i];
    count[i] = std::min(length[i], job.shape[i] - start[i]);
    first += start[i] * to[i];
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = job.is_order_f ? i : rank - 1 - i;
    from[axis] = from_stride;
    from_stride *= length[axis];
  }
  const std::size_t rows = product(Shape(count.begin(), count.end() - 1));
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t source = 0;
    std::size_t target = first;
    for (std::size_t i = rank - 1, rest = row; i-- > 0; rest /= count[i]) {
      source += rest % count[i] * from[i];
      target += rest % count[i] * to[i];
    }
    copy(target, source, from.back(), count.back());
  }
}

void copy_chunk(const Job& job, const Shape& start, const Shape& length, const std::byte* chunk,
                std::byte* result) {
  for_each_row(job, start, length,
               [&](std::size_t to, std::size_t from, std::size_t stride, std::size_t count) {
                 if (stride == job.item_size) {
                   std::memcpy(result + to, chunk + from, count * job.item_size);
                   return;
                 }
                 for (std::size_t i = 0; i < count; ++i) {
                   std::memcpy(result + to + i * job.item_size, chunk + from + i * stride,
                               job.item_size);
                 }
               });
}

void read_file(const std::string& path, std::vector<std::byte>& bytes) {
  const int file = ::open(path.c_str(), O_RDONLY);
  if (file < 0) throw std::runtime_error(path + " cannot be opened");
  struct stat status;
  ::fstat(file, &status);
  bytes.resize(static_cast<std::size_t>(status.st_size));
  const ssize_t count = ::read(file, bytes.data(), bytes.size());
  ::close(file);
  if (count != status.st_size) throw std::runtime_error(path + " cannot be read");
}

// The position of number `i` of a grid of `lengths` boxes, in elements.
Shape position(std::size_t i, const Shape& grid, const Shape& lengths) {
  Shape start(grid.size());
  for (std::size_t axis = grid.size(); axis-- > 0; i /= grid[axis]) {
    start[axis] = i % grid[axis] * lengths[axis];
  }
  return start;
}

Shape grid_of(const Shape& shape, const Shape& lengths) {
  Shape grid(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    grid[i] = (shape[i] + lengths[i] - 1) / lengths[i];
  }
  return grid;
}

void read_chunk(const Job& job, const Shape& start, Decoder& decoder, std::byte* result) {
  std::string path = job.folder + '/';
  for (std::size_t i = 0; i < start.size(); ++i) {
    path += (i == 0 ? "" : job.separator) + std::to_string(start[i] / job.chunk[i]);
  }
  read_file(path, decoder.encoded);
  const std::byte* bytes = decoder.encoded.data();
  if (job.inner.empty()) {
    copy_chunk(job, start, job.chunk, decoder.decode(bytes, decoder.encoded.size()), result);
    return;
  }
  const Shape grid = grid_of(job.chunk, job.inner);
  const std::size_t count = product(grid);
  const std::byte* index = bytes + decoder.encoded.size() - 4 - 16 * count;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t entry[2];
    std::memcpy(entry, index + 16 * i, 16);
    if (entry[0] == UINT64_MAX) continue;
    Shape inner_start = position(i, grid, job.inner);
    for (std::size_t axis = 0; axis < start.size(); ++axis) inner_start[axis] += start[axis];
    copy_chunk(job, inner_start, job.inner, decoder.decode(bytes + entry[0], entry[1]), result);
  }
}

// Runs work(thread's decoder, number of a chunk) for all chunks on the job's threads.
template <typename Work>
void for_each_chunk(const Job& job, const Work& work) {
  const Shape grid = grid_of(job.shape, job.chunk);
  const std::size_t count = product(grid);
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    Decoder decoder(job);
    for (std::size_t i = next++; i < count; i = next++) {
      work(decoder, position(i, grid, job.chunk), i);
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < job.threads; ++i) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
}

// A chunk of `length` at `start`, encoded, at the end of `bytes`.
void encode_chunk(const Job& job, const Shape& start, const Shape& length, const std::byte* result,
                  int blosc_code, std::vector<std::byte>& bytes) {
  std::vector<std::byte> chunk(product(length) * job.item_size);
  for_each_row(job, start, length,
               [&](std::size_t from, std::size_t to, std::size_t stride, std::size_t count) {
                 for (std::size_t i = 0; stride != job.item_size && i < count; ++i) {
                   std::memcpy(chunk.data() + to + i * stride, result + from + i * job.item_size,
                               job.item_size);
                 }
                 if (stride == job.item_size) {
                   std::memcpy(chunk.data() + to, result + from, count * job.item_size);
                 }
               });
  const std::size_t before = bytes.size();
  if (job.codec == "none") {
    bytes.insert(bytes.end(), chunk.begin(), chunk.end());
    return;
  }
  bytes.resize(before + std::max(ZSTD_compressBound(chunk.size()),
                                 chunk.size() + std::size_t{BLOSC_MAX_OVERHEAD}));
  std::size_t encoded = 0;
  if (job.codec == "zstd") {
    thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{
        ZSTD_createCCtx(), ZSTD_freeCCtx};
    encoded = ZSTD_compressCCtx(context.get(), bytes.data() + before, bytes.size() - before,
                                chunk.data(), chunk.size(), 3);
  } else if (job.codec == "blosc") {
    const char* name = nullptr;
    blosc_compcode_to_compname(blosc_code, &name);
    encoded = static_cast<std::size_t>(
        std::max(0, blosc_compress_ctx(5, BLOSC_SHUFFLE, job.item_size, chunk.size(), chunk.data(),
                                       bytes.data() + before, bytes.size() - before, name, 0, 1)));
  }
  if (encoded == 0 || encoded > bytes.size() - before) {
    throw std::runtime_error("a chunk cannot be encoded");
  }
  bytes.resize(before + encoded);
}

// Writes all chunks of `result`; shards without their index.
void write_all(const Job& job, const std::byte* result, int blosc_code, const std::string& folder) {
  for_each_chunk(job, [&](Decoder& /*decoder*/, const Shape& start, std::size_t number) {
    std::vector<std::byte> bytes;
    const Shape& length = job.inner.empty() ? job.chunk : job.inner;
    const Shape grid = grid_of(job.chunk, length);
    for (std::size_t i = 0; i < product(grid); ++i) {
      Shape inner_start = position(i, grid, length);
      bool is_inside = true;
      for (std::size_t axis = 0; axis < start.size(); ++axis) {
        inner_start[axis] += start[axis];
        is_inside = is_inside && inner_start[axis] < job.shape[axis];
      }
      if (is_inside) encode_chunk(job, inner_start, length, result, blosc_code, bytes);
    }
    const std::string path = folder + '/' + std::to_string(number);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const bool is_written =
        file >= 0 && ::write(file, bytes.data(), bytes.size()) == std::ssize(bytes);
    if (file < 0 || ::close(file) != 0 || !is_written) {
      throw std::runtime_error(path + " cannot be written");
    }
  });
}

// The compressor of the first chunk, in Blosc's numbers.
int blosc_code_of(const Job& job) {
  if (job.codec != "blosc") return 0;
  std::string path = job.folder + '/';
  for (std::size_t i = 0; i < job.shape.size(); ++i) path += (i == 0 ? "0" : job.separator + "0");
  std::vector<std::byte> bytes;
  read_file(path, bytes);
  const std::string library = blosc_cbuffer_complib(bytes.data());
  return library == "Zstd" ? BLOSC_ZSTD : library == "LZ4" ? BLOSC_LZ4 : BLOSC_BLOSCLZ;
}

class Clock {
 public:
  void print() const {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began_;
    std::printf("%.6f %.6f\n", seconds.count(), cpu() - cpu_);
  }

 private:
  static double cpu() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double cpu_ = cpu();
};

void run(const Job& job, const char* written) {
  const Clock reading;
  std::byte* result = allocate_result(product(job.shape) * job.item_size);
  for_each_chunk(job, [&](Decoder& decoder, const Shape& start, std::size_t) {
    read_chunk(job, start, decoder, result);
  });
  if (written == nullptr) {
    reading.print();
  } else {
    const int blosc_code = blosc_code_of(job);
    const Clock writing;
    write_all(job, result, blosc_code, written);
    writing.print();
  }
  std::free(result);
}

}  // namespace

int main(int argc, char** argv) {
  const char* written = nullptr;
  if (argc > 2 && std::strcmp(argv[1], "--encode") == 0) {
    written = argv[2];
    argv += 2;
    argc -= 2;
  }
  if (argc != 9 && argc != 10) {
    std::fprintf(stderr,
                 "usage: zarr_floor [--encode FOLDER] FOLDER CODEC ITEM_SIZE ORDER SEPARATOR "
                 "THREADS SHAPE CHUNK [INNER]\n");
    return 2;
  }
  try {
    const Job job{argv[1],
                  argv[2],
                  std::stoul(argv[3]),
                  std::string(argv[4]) == "F",
                  argv[5],
                  std::stoul(argv[6]),
                  parse_shape(argv[7]),
                  parse_shape(argv[8]),
                  argc == 10 ? parse_shape(argv[9]) : Shape()};
    run(job, written);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "zarr_floor: %s\n", error.what());
    return 1;
  }
}
