// The update rules on a GPU: one pass over all tensors of a list, with the bits of the CPU's kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "lockstep/train/kernels/update.h"

namespace lockstep::train::kernels {

// Puts the update of `count` whole tensors on the stream. What the factors are lies in the device's memory
// and is read when the kernels run, so that a graph of a step can be replayed with others; `host` is a copy
// whose zeros (no decay, no momentum) choose the kernels and must stay what they are.
void update_on_device(Element element, const Stretch* stretches, std::size_t count, const SgdFactors& host,
                      const SgdFactors* device, cudaStream_t stream);
void update_on_device(Element element, const Stretch* stretches, std::size_t count, const AdamFactors& host,
                      const AdamFactors* device, cudaStream_t stream);

}  // namespace lockstep::train::kernels
