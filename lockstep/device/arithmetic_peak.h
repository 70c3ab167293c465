// How fast a processor's threads can multiply and add at most, measured: the limit that training is held
// against.
#pragma once

namespace lockstep::device {

// FLOP per second of this many threads that do nothing but independent multiply-adds in registers, in the
// widest instructions that the processor has; the best of several tries. `value_bytes`: 4 (f32) or 8 (f64).
// Takes some hundredths of a second.
double arithmetic_peak(int threads, int value_bytes);

}  // namespace lockstep::device
