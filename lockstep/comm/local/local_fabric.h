// The memory of replicas inside one process: everybody reaches everything.
#pragma once

#include <memory>
#include <vector>

#include "lockstep/comm/shared/fabric.h"

namespace lockstep::comm {

class LocalFabric : public shared::Fabric {
 public:
  using Memory = std::shared_ptr<Allocation>;
  // `device_hands` may be null: then only the host's memory is served.
  LocalFabric(Memory control, std::unique_ptr<shared::Hands> device_hands)
      : control_(std::move(control)), device_hands_(std::move(device_hands)) {}
  static Memory make_control(int world);

  std::string_view name() const override { return "local"; }
  std::byte* control() const override { return static_cast<std::byte*>(control_->data()); }
  shared::Address address_of(const Buffer& buffer) const override;
  std::byte* resolve(int rank, shared::Address address) const override;
  shared::Hands* device_hands() const override { return device_hands_.get(); }
  bool alive(int) const override { return true; }

  std::unique_ptr<Fabric> create(int world) const override;
  shared::Invitation invitation() const override;
  std::unique_ptr<Fabric> accept(const shared::Invitation& invitation, int rank, int world) const override;
  shared::Invitation create_segment(std::size_t bytes) override;
  void open_segment(const shared::Invitation& invitation, std::size_t bytes) override;
  Allocation claim_segment() override;

 private:
  std::unique_ptr<shared::Hands> more_device_hands() const;

  Memory control_;
  std::unique_ptr<shared::Hands> device_hands_;
  std::size_t segment_bytes_ = 0;
};

}  // namespace lockstep::comm
