// What `lockstep-worker` can be asked for. Each returns the exit code and throws base::Error.
#pragma once

#include <string>
#include <vector>

namespace lockstep::train {

using Words = std::vector<std::string>;

// train --run DIR | --spec FILE: one rank of a run; which one, the environment says.
int train_command(const Words& words);
// describe [--json] [--classes N]: models, strategies and versions of this worker, as JSON on standard
// output.
int describe_command(const Words& words);
// export-weights --spec FILE --out FILE: the initial weights of a run, as safetensors.
int export_weights_command(const Words& words);
// logits --model NAME --weights FILE --input FILE --out FILE: the model's output for the tensor `input` of a
// safetensors file, as the tensor `output` of another.
int logits_command(const Words& words);

}  // namespace lockstep::train
