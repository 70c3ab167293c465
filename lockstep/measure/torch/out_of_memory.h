// Running out of memory, in whatever shape libtorch reports it, as the one error that the run's status is
// made from.
#pragma once

namespace lockstep::measure {

// To be called in a catch block: throws the exception being handled on, as OutOfMemory if it says
// that memory ran out:
//   - our own refusal, of which a TorchScript module leaves the text only;
//   - c10::OutOfMemoryError, a GPU's, and what cuBLAS and cuDNN say in its place; the most that was in use is
//     added where it was counted;
//   - std::bad_alloc.
// Anything else passes unchanged.
[[noreturn]] void rethrow_as_out_of_memory();

}  // namespace lockstep::measure
