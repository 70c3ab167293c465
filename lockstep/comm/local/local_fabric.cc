#include "lockstep/comm/local/local_fabric.h"

#include <cstring>

#include "lockstep/comm/channel.h"

namespace lockstep::comm {

LocalFabric::Memory LocalFabric::make_control(int world) {
  return std::make_shared<Allocation>(reserve_host(shared::ControlBlock::bytes(world)));
}

// An empty buffer is nowhere, and nobody has to reach it.
shared::Address LocalFabric::address_of(const Buffer& buffer) const {
  return {0, reinterpret_cast<std::uint64_t>(buffer.data)};
}

std::byte* LocalFabric::resolve(int, shared::Address address) const {
  return reinterpret_cast<std::byte*>(address.offset);
}

std::unique_ptr<shared::Hands> LocalFabric::more_device_hands() const {
  return device_hands_ == nullptr ? nullptr : device_hands_->another();
}

std::unique_ptr<shared::Fabric> LocalFabric::create(int world) const {
  return std::make_unique<LocalFabric>(make_control(world), more_device_hands());
}

// The address of the creator's pointer, which lives until all have accepted.
shared::Invitation LocalFabric::invitation() const {
  shared::Invitation invitation{};
  const Memory* control = &control_;
  std::memcpy(invitation.data(), &control, sizeof(control));
  return invitation;
}

std::unique_ptr<shared::Fabric> LocalFabric::accept(const shared::Invitation& invitation, int, int) const {
  const Memory* control = nullptr;
  std::memcpy(&control, invitation.data(), sizeof(control));
  return std::make_unique<LocalFabric>(*control, more_device_hands());
}

// Every replica reaches any memory: each takes its own.
shared::Invitation LocalFabric::create_segment(std::size_t bytes) {
  segment_bytes_ = bytes;
  return {};
}

void LocalFabric::open_segment(const shared::Invitation&, std::size_t bytes) {
  segment_bytes_ = bytes;
}

Allocation LocalFabric::claim_segment() {
  return device_hands_ == nullptr ? allocate_host(segment_bytes_) : device_hands_->allocate(segment_bytes_);
}

}  // namespace lockstep::comm
