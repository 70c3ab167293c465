// PyTorch's .pt and .pth archives, as far as they hold tensors by name.
#pragma once

#include <string>
#include <vector>

#include "lockstep/models/unit.h"

namespace lockstep::models {

// The tensors of a state_dict saved by torch.save (zip format, PyTorch 1.6 and later), on the CPU: views of
// the file's storages. Nothing of the file is ever run. Throws DataError for anything else, naming what was
// found; for a TorchScript archive, which is a program, with the ways out.
std::vector<NamedTensor> read_torch_archive(const std::string& path);

}  // namespace lockstep::models
