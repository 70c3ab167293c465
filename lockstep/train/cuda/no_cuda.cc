#include "lockstep/base/error.h"
#include "lockstep/train/gpu.h"
#include "lockstep/train/optimizers/device_update.h"

namespace lockstep::train {
namespace {

[[noreturn]] void refuse() {
  throw base::DeviceError("this worker was built without CUDA: it cannot train on a GPU. Use --device cpu.");
}

}  // namespace

void run_on_device(const DeviceList&, const kernels::SgdFactors&) {
  refuse();
}
void run_on_device(const DeviceList&, const kernels::AdamFactors&) {
  refuse();
}

std::unique_ptr<DeviceFeed> device_feed(const Placement&, measure::MemoryAccount&) {
  refuse();
}

std::unique_ptr<models::LayerFactory> device_layers(const models::LayerOptions&) {
  refuse();
}

void fit_slice(const record::RunSpec&) {}
std::optional<std::string> slice_remark(const record::RunSpec&) {
  return std::nullopt;
}
void require_right_products(const at::Device&, at::ScalarType) {}

}  // namespace lockstep::train
