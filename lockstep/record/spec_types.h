// The types a field of a RunSpec may have.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace lockstep::record {

// A size: people write "25MiB", JSON holds a whole number of bytes.
struct Bytes {
  std::uint64_t count = 0;
  bool operator==(const Bytes&) const = default;
};

// A duration: people write "10m", JSON holds seconds.
struct Seconds {
  double count = 0;
  bool operator==(const Seconds&) const = default;
};

// A part of a whole: people write "12.5%", JSON holds 0.125.
struct Share {
  double count = 0;
  bool operator==(const Share&) const = default;
};

// Named numbers, such as a model's options: people write "width=8,depth=4", JSON holds an object.
using Options = std::map<std::string, double>;

}  // namespace lockstep::record
