#include "lockstep/comm/rendezvous/identity.h"

#include <fmt/format.h>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/rendezvous/identity_source.h"
#include "lockstep/comm/rendezvous/key.h"
#include "lockstep/comm/rendezvous/meeting_place.h"
#include "lockstep/comm/rendezvous/own_host.h"

namespace lockstep::comm {
namespace {

std::string says(const SourceReading& reading) {
  const std::string world = reading.world ? fmt::format(" of {}", *reading.world) : "";
  return fmt::format("rank {}{}", reading.rank, world);
}

// The rank of the highest source; its world too, or that of the next source that agrees about the rank.
SourceReading winner(const std::vector<SourceReading>& readings) {
  SourceReading first = readings.front();
  for (const SourceReading& lower : readings)
    if (!first.world && lower.rank == first.rank) first.world = lower.world;
  if (!first.world)
    throw base::ConfigError(
        fmt::format("{} is set, but nothing says how many ranks there are. Next step: set "
                    "RANK and WORLD_SIZE",
                    first.source));
  if (first.rank >= *first.world)
    throw base::ConfigError(
        fmt::format("there is no rank {} in a world of {} (by {})", first.rank, *first.world, first.source));
  return first;
}

std::vector<std::string> disagreements_with(const SourceReading& chosen,
                                            const std::vector<SourceReading>& readings) {
  std::vector<std::string> texts;
  for (const SourceReading& other : readings)
    if (other.rank != chosen.rank || (other.world && *other.world != *chosen.world))
      texts.push_back(fmt::format("{} says {}, {} says {}: the former is used", chosen.source, says(chosen),
                                  other.source, says(other)));
  return texts;
}

// mpirun and srun know the host's ranks even where torchrun's variables name the rank.
void fill_local(Identity& identity, const SourceReading& chosen, const std::vector<SourceReading>& readings) {
  identity.group.host = this_host();
  for (const SourceReading& reading : readings) {
    const bool agrees = reading.rank == chosen.rank && reading.world == chosen.world;
    if (!agrees || !reading.local_rank || !reading.local_world) continue;
    identity.group.local_rank = *reading.local_rank;
    identity.group.local_world = *reading.local_world;
    identity.local_known = true;
    return;
  }
  identity.local_known = identity.group.world == 1;
}

// Whoever meets at a loopback address is on one host, also where nobody said so.
void fill_local_from_place(Identity& identity) {
  if (identity.local_known || !is_loopback(identity.master_addr)) return;
  identity.group.local_rank = identity.group.rank;
  identity.group.local_world = identity.group.world;
  identity.local_known = true;
}

std::string find_key(const Identity& identity) {
  if (const auto key = base::environment(kKeyVariable)) {
    check_key(*key);
    return *key;
  }
  // Alone, this rank needs nobody else to know it.
  return identity.group.world == 1 ? make_key() : "";
}

}  // namespace

std::optional<Identity> find_identity(const IdentityFlags& flags) {
  const std::vector<SourceReading> readings = read_sources(flags);
  if (readings.empty()) return std::nullopt;
  const SourceReading chosen = winner(readings);
  Identity identity;
  identity.group.rank = chosen.rank;
  identity.group.world = *chosen.world;
  identity.source = chosen.source;
  identity.disagreements = disagreements_with(chosen, readings);
  fill_local(identity, chosen, readings);
  identity.key = find_key(identity);
  find_meeting_place(flags, identity);
  fill_local_from_place(identity);
  return identity;
}

// torchrun sets RANK too.
bool started_by_hand(const Identity& identity) {
  return !identity.launcher_serves && (identity.source == "flags" || identity.source == "RANK") &&
         !base::environment("TORCHELASTIC_RUN_ID");
}

std::string describe(const Identity& identity) {
  const std::string place = identity.master_addr.empty()
                                ? "where it says in the meeting file"
                                : fmt::format("at {}:{}", identity.master_addr, identity.master_port);
  return fmt::format("rank {} of {}, as {} says; {} serves {}", identity.group.rank, identity.group.world,
                     identity.source, identity.launcher_serves ? "the launcher" : "rank 0", place);
}

}  // namespace lockstep::comm
