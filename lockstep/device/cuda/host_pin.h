// Memory of the host that the device reads by itself, without a copy by the host in between.
#pragma once

#include <cstddef>

namespace lockstep::device::cuda {

class HostPin {
 public:
  HostPin(void* data, std::size_t bytes);  // throws DeviceError
  ~HostPin();
  HostPin(const HostPin&) = delete;
  HostPin& operator=(const HostPin&) = delete;

  // Where kernels and streams find `data`.
  std::byte* on_device() const;

  bool covers(const void* data, std::size_t bytes) const {
    const auto* begin = static_cast<const std::byte*>(data);
    return begin >= data_ && begin + bytes <= data_ + bytes_;
  }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace lockstep::device::cuda
