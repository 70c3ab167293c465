// SHA-256 (FIPS 180-4), for turning a user's secret and a meeting place into a run's token.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lockstep::comm {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view text);

}  // namespace lockstep::comm
