#include "lockstep/parallel/compression.h"

#include <ATen/ATen.h>

#include <cstring>

#include "lockstep/comm/reduction/reduction.h"

namespace lockstep::parallel {
namespace {

at::ScalarType scalar_type(comm::ElementType type) {
  if (type == comm::ElementType::f16) return at::kHalf;
  if (type == comm::ElementType::bf16) return at::kBFloat16;
  return type == comm::ElementType::f64 ? at::kDouble : at::kFloat;
}

// A view of a GPU's memory, which only torch can convert.
at::Tensor device_view(const comm::Buffer& buffer) {
  return at::from_blob(buffer.data, {static_cast<std::int64_t>(buffer.count())},
                       at::TensorOptions().device(at::kCUDA).dtype(scalar_type(buffer.type)));
}

bool on_device(const comm::Buffer& buffer) {
  return buffer.place == comm::Place::device;
}

void copy_on_device(const comm::Buffer& to, const comm::Buffer& from) {
  device_view(to).copy_(device_view(from));
}

}  // namespace

Compression::Compression(const std::string& name) {
  if (name != "none") sent_as_ = comm::element_type_named(name);
}

std::uint64_t Compression::sent_bytes(const comm::Buffer& values) const {
  return values.count() * comm::bytes_of(sent_type(values.type));
}

void Compression::pack(const comm::Buffer& sent, const comm::Buffer& values) const {
  if (on_device(sent)) return copy_on_device(sent, values);
  if (!on()) {
    std::memcpy(sent.data, values.data, values.bytes);
  } else {
    comm::narrow(sent.type, sent.data, static_cast<const float*>(values.data), values.count());
  }
}

void Compression::unpack(const comm::Buffer& values, const comm::Buffer& sent) const {
  if (on_device(sent)) return copy_on_device(values, sent);
  if (!on()) {
    std::memcpy(values.data, sent.data, values.bytes);
  } else {
    comm::widen(sent.type, static_cast<float*>(values.data), sent.data, values.count());
  }
}

}  // namespace lockstep::parallel
