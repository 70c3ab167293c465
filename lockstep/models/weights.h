// Weights on disk: saved as safetensors, read from safetensors or from PyTorch's .pt and .pth files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lockstep/models/model.h"

namespace lockstep::models {

// Writes the tensors by name, from any device, in their logical order. The file appears whole or not at all.
// Throws StoreError.
void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});

// Every tensor of the file, on the CPU. Throws DataError for a file that is missing, truncated or corrupt.
std::vector<NamedTensor> read_safetensors(const std::string& path);

// The same for any weights file, by its contents: safetensors, or a state_dict of torch.save. Weights are
// data: a file that is a program (TorchScript) is refused.
std::vector<NamedTensor> read_weights(const std::string& path);

struct LoadReport {
  std::vector<std::string> loaded;
  // Tensors of the head whose shape differs (another number of classes): left at their initial values.
  std::vector<std::string> left_alone;
};

// Copies by name into the model, converting the type. A name that is missing or unknown, or a shape that
// differs outside the head, is a DataError that lists them; `num_batches_tracked` may be missing (old files
// have none).
LoadReport load_weights(const Model& model, const std::vector<NamedTensor>& weights,
                        const std::string& source);

}  // namespace lockstep::models
