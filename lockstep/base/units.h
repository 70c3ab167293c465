// Sizes, durations and rates, read from what people type and written as people read them.
// K, M, G and KiB, MiB, GiB are both binary.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lockstep/base/clock.h"

namespace lockstep::base {

// "4096", "4K", "1.5MiB", "44.7M". Throws UsageError that names the text.
std::uint64_t parse_bytes(std::string_view text);

// "250ms", "2s", "1.5m", "2h", or plain seconds. Throws UsageError that names the text.
Nanoseconds parse_duration(std::string_view text);

// A rate in bytes per second: a size with an optional "/s" ("8G", "8G/s").
double parse_bytes_per_second(std::string_view text);

std::string format_bytes(std::uint64_t bytes);      // "44.7 MiB"
std::string format_duration(Nanoseconds duration);  // "1.50 ms"
std::string format_rate(double bytes_per_second);   // "8.31 GB/s", decimal as nccl-tests prints it

}  // namespace lockstep::base
