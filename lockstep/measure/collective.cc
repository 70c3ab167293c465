#include "lockstep/measure/collective.h"

#include <algorithm>
#include <array>
#include <string>

namespace lockstep::measure {
namespace {

constexpr std::array<std::string_view, kCollectiveCount> kNames = {
    "all_reduce", "reduce",  "reduce_scatter", "all_gather", "broadcast",
    "gather",     "scatter", "send",           "receive",    "barrier"};

std::string without_separators(std::string_view name) {
  std::string letters(name);
  std::erase_if(letters, [](char c) { return c == '_' || c == '-'; });
  return letters;
}

std::uint64_t divided_up(std::uint64_t bytes, std::uint64_t parts) {
  return (bytes + parts - 1) / parts;
}

}  // namespace

std::string_view name_of(Collective collective) {
  return kNames[static_cast<std::size_t>(collective)];
}

std::optional<Collective> collective_named(std::string_view name) {
  const std::string wanted = without_separators(name);
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (without_separators(kNames[i]) == wanted) return static_cast<Collective>(i);
  return std::nullopt;
}

double bus_factor(Collective collective, int ranks) {
  const double n = ranks;
  switch (collective) {
    case Collective::all_reduce:
      return 2 * (n - 1) / n;
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::gather:
    case Collective::scatter:
      return (n - 1) / n;
    case Collective::reduce:
    case Collective::broadcast:
    case Collective::send:
    case Collective::receive:
      return 1;
    case Collective::barrier:
      return 0;
  }
  return 0;
}

std::uint64_t estimated_wire_bytes(Collective collective, std::uint64_t payload_bytes, int ranks,
                                   bool is_root) {
  if (ranks <= 1) return 0;
  const auto n = static_cast<std::uint64_t>(ranks);
  const std::uint64_t others = divided_up(payload_bytes * (n - 1), n);
  switch (collective) {
    case Collective::all_reduce:
      return divided_up(2 * payload_bytes * (n - 1), n);
    case Collective::reduce_scatter:
    case Collective::all_gather:
      return others;
    case Collective::gather:
      return is_root ? 0 : divided_up(payload_bytes, n);
    case Collective::scatter:
      return is_root ? others : 0;
    case Collective::reduce:
      return is_root ? 0 : payload_bytes;
    case Collective::broadcast:
      return is_root ? payload_bytes * (n - 1) : 0;
    case Collective::send:
      return payload_bytes;
    case Collective::receive:
    case Collective::barrier:
      return 0;
  }
  return 0;
}

}  // namespace lockstep::measure
