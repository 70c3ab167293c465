// A run's key: what its ranks share and nobody else knows. A launcher of ours makes a random one and hands it
// to its ranks in their environment; other ranks take LOCKSTEP_KEY from theirs, or find a key in a meeting
// file (meeting_file.h). The key itself never travels: who holds it proves so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::comm {

inline constexpr const char* kKeyVariable = "LOCKSTEP_KEY";
inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kProofBytes = 32;

// 256 random bits as hexadecimal.
std::string make_key();
// Random bytes that no run uses twice.
std::string make_nonce();

// Throws ConfigError, without showing the key, when it is too short to be a secret.
void check_key(std::string_view key);

// What only a holder of the key can say as `role` about these pieces, which must hold a nonce of the other
// side. Roles keep what one side said from being played back as the other's.
std::string prove(std::string_view key, std::string_view role, const std::vector<std::string_view>& said);

// Whether both are equal, in a time that does not depend on where they differ.
bool equal_in_constant_time(std::string_view one, std::string_view other);

}  // namespace lockstep::comm
