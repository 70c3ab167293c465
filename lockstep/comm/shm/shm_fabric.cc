#include "lockstep/comm/shm/shm_fabric.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/base/units.h"

namespace lockstep::comm {
namespace {

using base::CommError;

constexpr std::size_t kPage = 4096;

struct Handle {
  std::int64_t process;
  std::int64_t descriptor;
};
static_assert(sizeof(Handle) == sizeof(shared::Invitation));

[[noreturn]] void fail(const std::string& what) {
  throw CommError(CommError::Kind::failed, fmt::format("shared memory: {}: {}", what, base::errno_text()));
}

base::UniqueFd open_shared_file(const std::string& path) {
  base::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd)
    fail(fmt::format(
        "cannot open {} of another rank (are all ranks of one user, on one host, in one container?)", path));
  return fd;
}

// What the kernel says it could still give; nothing where it does not say.
std::optional<std::size_t> available_memory_bytes() {
  std::ifstream facts("/proc/meminfo");
  std::string name, unit;
  for (std::size_t kibibytes = 0; facts >> name >> kibibytes; std::getline(facts, unit))
    if (name == "MemAvailable:") return kibibytes * 1024;
  return std::nullopt;
}

// Asking for pages that are not there ends in the kernel killing somebody, not in an error.
void require_memory(std::size_t bytes) {
  const std::optional<std::size_t> available = available_memory_bytes();
  if (!available || bytes <= *available) return;
  throw CommError(
      CommError::Kind::failed,
      fmt::format(
          "shared memory: buffers of {} for all ranks together do not fit into the {} that are available. "
          "Use smaller buffers or fewer workers.",
          base::format_bytes(bytes), base::format_bytes(*available)));
}

struct flock byte_range(int rank, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = rank;
  range.l_len = 1;
  return range;
}

}  // namespace

std::shared_ptr<SharedMapping> SharedMapping::create(std::size_t bytes) {
  base::UniqueFd fd(::memfd_create("lockstep", MFD_CLOEXEC));
  if (!fd) fail("memfd_create");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    fail(fmt::format("no room for {} (is there a limit on the size of files? See ulimit -f)",
                     base::format_bytes(bytes)));
  return std::shared_ptr<SharedMapping>(new SharedMapping(std::move(fd), bytes));
}

std::shared_ptr<SharedMapping> SharedMapping::open(const shared::Invitation& invitation, std::size_t bytes) {
  Handle handle{};
  std::memcpy(&handle, invitation.data(), sizeof(handle));
  base::UniqueFd fd = open_shared_file(fmt::format("/proc/{}/fd/{}", handle.process, handle.descriptor));
  return std::shared_ptr<SharedMapping>(new SharedMapping(std::move(fd), bytes));
}

SharedMapping::SharedMapping(base::UniqueFd fd, std::size_t bytes) : fd_(std::move(fd)), bytes_(bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) fail(fmt::format("cannot map {}", base::format_bytes(bytes)));
  data_ = static_cast<std::byte*>(memory);
  ::madvise(data_, bytes, MADV_HUGEPAGE);  // a wish: many kernels have it off for shared memory
}

SharedMapping::~SharedMapping() {
  ::munmap(data_, bytes_);
}

shared::Invitation SharedMapping::invitation() const {
  const Handle handle{::getpid(), fd_.get()};
  shared::Invitation invitation{};
  std::memcpy(invitation.data(), &handle, sizeof(handle));
  return invitation;
}

void SharedMapping::reserve(std::size_t offset, std::size_t bytes) const {
  if (bytes == 0) return;
  const int error = ::posix_fallocate(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (error == 0) return;
  errno = error;
  fail(fmt::format("no room for {}", base::format_bytes(bytes)));
}

LifeLocks::LifeLocks(const SharedMapping& mapping, int rank)
    : fd_(open_shared_file(fmt::format("/proc/self/fd/{}", mapping.fd()))) {
  struct flock range = byte_range(rank, F_WRLCK);
  if (::fcntl(fd_.get(), F_OFD_SETLK, &range) != 0) fail("cannot mark this rank as alive");
}

bool LifeLocks::alive(int rank) const {
  struct flock range = byte_range(rank, F_WRLCK);
  if (::fcntl(fd_.get(), F_OFD_GETLK, &range) != 0) return true;
  return range.l_type != F_UNLCK;
}

ShmFabric::ShmFabric(int rank, int world)
    : rank_(rank),
      world_(world),
      control_(SharedMapping::create(shared::ControlBlock::bytes(world))),
      locks_(*control_, rank) {}

ShmFabric::ShmFabric(const shared::Invitation& invitation, int rank, int world)
    : rank_(rank),
      world_(world),
      control_(SharedMapping::open(invitation, shared::ControlBlock::bytes(world))),
      locks_(*control_, rank) {}

bool ShmFabric::alive(int rank) const {
  if (rank == rank_) return true;
  // Before a rank has come for the first time there is no lock to look for: that is a matter for the
  // deadline.
  const auto block = shared::ControlBlock(control(), world_);
  if (block.slot(rank).arrived.load(std::memory_order_acquire) == 0) return true;
  return locks_.alive(rank);
}

std::unique_ptr<shared::Fabric> ShmFabric::create(int world) const {
  return std::make_unique<ShmFabric>(0, world);
}

std::unique_ptr<shared::Fabric> ShmFabric::accept(const shared::Invitation& invitation, int rank,
                                                  int world) const {
  return std::make_unique<ShmFabric>(invitation, rank, world);
}

bool ShmFabric::Segment::holds(const Buffer& buffer, int rank) const {
  const auto* pointer = static_cast<const std::byte*>(buffer.data);
  const std::byte* begin = mapping->data() + static_cast<std::size_t>(rank) * stride_bytes;
  return pointer >= begin && pointer < begin + stride_bytes &&
         buffer.bytes <= stride_bytes - static_cast<std::size_t>(pointer - begin);
}

shared::Address ShmFabric::address_of(const Buffer& buffer) const {
  const auto* pointer = static_cast<const std::byte*>(buffer.data);
  for (std::size_t number = 0; number < segments_.size(); ++number) {
    const std::shared_ptr<Segment> segment = segments_[number].lock();
    if (segment == nullptr || !segment->holds(buffer, rank_)) continue;
    const std::byte* begin =
        segment->mapping->data() + static_cast<std::size_t>(rank_) * segment->stride_bytes;
    return {static_cast<std::int64_t>(number), static_cast<std::uint64_t>(pointer - begin)};
  }
  return {};
}

std::byte* ShmFabric::resolve(int rank, shared::Address address) const {
  const std::shared_ptr<Segment> segment = segments_[static_cast<std::size_t>(address.segment)].lock();
  if (segment == nullptr)
    throw CommError(CommError::Kind::disagreement,
                    fmt::format("rank {} uses a shared buffer that this rank has freed", rank));
  return segment->mapping->data() + static_cast<std::size_t>(rank) * segment->stride_bytes + address.offset;
}

shared::Invitation ShmFabric::create_segment(std::size_t bytes) {
  const std::size_t stride = (bytes + kPage - 1) / kPage * kPage;
  require_memory(stride * static_cast<std::size_t>(world_));
  add_segment(SharedMapping::create(std::max(kPage, stride * static_cast<std::size_t>(world_))), bytes);
  return unclaimed_->mapping->invitation();
}

void ShmFabric::open_segment(const shared::Invitation& invitation, std::size_t bytes) {
  const std::size_t stride = (bytes + kPage - 1) / kPage * kPage;
  add_segment(SharedMapping::open(invitation, std::max(kPage, stride * static_cast<std::size_t>(world_))),
              bytes);
}

// Every rank takes the pages of its own buffer, so that they lie near its cores.
void ShmFabric::add_segment(std::shared_ptr<SharedMapping> mapping, std::size_t bytes) {
  const std::size_t stride = (bytes + kPage - 1) / kPage * kPage;
  mapping->reserve(static_cast<std::size_t>(rank_) * stride, stride);
  unclaimed_ = std::make_shared<Segment>(Segment{std::move(mapping), stride});
  unclaimed_bytes_ = bytes;
  segments_.push_back(unclaimed_);
}

Allocation ShmFabric::claim_segment() {
  std::shared_ptr<Segment> segment = std::move(unclaimed_);
  segment->mapping->close_file();
  // All pages exist by now; mapping them at once spares the first operation the faults.
  ::madvise(segment->mapping->data(), segment->mapping->bytes(), MADV_POPULATE_WRITE);
  std::byte* own = segment->mapping->data() + static_cast<std::size_t>(rank_) * segment->stride_bytes;
  return {own, unclaimed_bytes_, Place::shared, [segment] {}};
}

}  // namespace lockstep::comm
