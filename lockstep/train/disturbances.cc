#include "lockstep/train/disturbances.h"

#include <ATen/ATen.h>

#include <atomic>
#include <charconv>
#include <thread>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/base/text.h"
#include "lockstep/base/units.h"
#include "lockstep/comm/wrappers/injecting.h"
#include "lockstep/models/runner.h"

namespace lockstep::train {
namespace {

constexpr const char* kDelayVariable = "LOCKSTEP_DELAY";
constexpr const char* kFlipVariable = "LOCKSTEP_FLIP";
constexpr const char* kWithholdVariable = "LOCKSTEP_WITHHOLD";
constexpr const char* kMeasureTurnVariable = "LOCKSTEP_MEASURE_TURN";

[[noreturn]] void refuse(const char* variable, const std::string& text, const char* example) {
  throw base::ConfigError(
      fmt::format("{} is '{}', which cannot be read; it takes {}.", variable, text, example));
}

std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

// "50ms@1": what, and the only rank that is meant.
struct Aimed {
  std::string what;
  std::optional<std::int64_t> rank;
  bool hits(int mine) const { return !rank || *rank == mine; }
};

std::optional<Aimed> aimed(const std::string& text) {
  const std::size_t at = text.find('@');
  if (at == std::string::npos) return Aimed{text, {}};
  const auto rank = number_in(text.substr(at + 1));
  return rank ? std::optional(Aimed{text.substr(0, at), rank}) : std::nullopt;
}

base::Nanoseconds* field_named(Disturbances& disturbances, const std::string& name) {
  if (name == "loader") return &disturbances.loader;
  if (name == "compute") return &disturbances.compute;
  if (name == "link") return &disturbances.link;
  return name == "first-bucket" ? &disturbances.first_bucket : nullptr;
}

void add_delay(Disturbances& disturbances, const std::string& text, int rank) {
  constexpr const char* kExample =
      "loader=50ms, compute=50ms@RANK, link=50ms or first-bucket=20ms, with commas";
  const std::size_t equals = text.find('=');
  base::Nanoseconds* const field = field_named(disturbances, text.substr(0, equals));
  const auto delay = equals == std::string::npos ? std::nullopt : aimed(text.substr(equals + 1));
  if (field == nullptr || !delay) refuse(kDelayVariable, text, kExample);
  try {
    const base::Nanoseconds time = base::parse_duration(delay->what);
    if (delay->hits(rank)) *field = time;
  } catch (const base::UsageError&) {
    refuse(kDelayVariable, text, kExample);
  }
}

// The first operation on gradients since the last step's loss was added up. Both may go over channels of
// their own.
comm::OperationFilter first_bucket_of_each_step() {
  return [waiting = std::make_shared<std::atomic<bool>>(true)](const comm::Operation& operation) {
    if (operation.purpose == comm::Purpose::metric) *waiting = true;
    return operation.purpose == comm::Purpose::gradient && waiting->exchange(false);
  };
}

std::int64_t parse_measure_turn(const std::string& text) {
  if (text.empty()) return 0;
  const auto steps = number_in(text);
  if (!steps || *steps < 1) refuse(kMeasureTurnVariable, text, "a number of steps");
  return *steps;
}

[[noreturn]] void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

class Sleeper : public models::UnitHooks {
 public:
  explicit Sleeper(base::Nanoseconds time) : time_(time) {}
  bool wants(const models::Unit& unit) const override { return unit.path().empty(); }
  void before_forward(models::Unit&, const at::Tensor&) override { std::this_thread::sleep_for(time_); }

 private:
  base::Nanoseconds time_;
};

}  // namespace

Disturbances parse_disturbances(const std::string& delays, const std::string& flip, int rank,
                                const std::string& withheld) {
  Disturbances disturbances;
  if (!withheld.empty()) {
    const auto parsed = aimed(withheld);
    if (!parsed || parsed->what.empty()) refuse(kWithholdVariable, withheld, "PARAMETER or PARAMETER@RANK");
    if (parsed->hits(rank)) disturbances.withheld = parsed->what;
  }
  for (const std::string& part : base::split(delays, ',')) add_delay(disturbances, base::trim(part), rank);
  if (flip.empty()) return disturbances;
  const auto parsed = aimed(flip);
  const auto steps = parsed ? number_in(parsed->what) : std::nullopt;
  if (!steps) refuse(kFlipVariable, flip, "STEPS or STEPS@RANK");
  if (parsed->hits(rank)) disturbances.flip_after = steps;
  return disturbances;
}

Disturbances disturbances_of(int rank) {
  const std::string delays = base::environment(kDelayVariable).value_or("");
  const std::string flip = base::environment(kFlipVariable).value_or("");
  const std::string withheld = base::environment(kWithholdVariable).value_or("");
  const std::string turn = base::environment(kMeasureTurnVariable).value_or("");
  if (rank == 0 && !(delays.empty() && flip.empty() && withheld.empty() && turn.empty()))
    base::log_info(fmt::format(
        "warning: this run is disturbed on purpose ({}='{}', {}='{}', {}='{}', {}='{}')", kDelayVariable,
        delays, kFlipVariable, flip, kWithholdVariable, withheld, kMeasureTurnVariable, turn));
  Disturbances disturbances = parse_disturbances(delays, flip, rank, withheld);
  disturbances.measure_turn = parse_measure_turn(turn);
  return disturbances;
}

std::unique_ptr<comm::Communicator> slow_down(std::unique_ptr<comm::Communicator> opened,
                                              const Disturbances& disturbances) {
  const auto on_gradients = [](const comm::Operation& operation) {
    return operation.purpose == comm::Purpose::gradient;
  };
  if (disturbances.link.count() > 0)
    opened = std::make_unique<comm::DelayingCommunicator>(std::move(opened), disturbances.link, on_gradients);
  if (disturbances.first_bucket.count() > 0)
    opened = std::make_unique<comm::DelayingCommunicator>(std::move(opened), disturbances.first_bucket,
                                                          first_bucket_of_each_step());
  return opened;
}

std::unique_ptr<models::UnitHooks> slow_down(models::Model& model, const Disturbances& disturbances) {
  if (disturbances.compute.count() == 0) return nullptr;
  auto sleeper = std::make_unique<Sleeper>(disturbances.compute);
  models::Runner::attach(model.root(), *sleeper);
  return sleeper;
}

std::unique_ptr<parallel::GradientTap> withhold(const models::Model& model,
                                                const Disturbances& disturbances) {
  if (!disturbances.withheld) return nullptr;
  for (const models::NamedTensor& parameter : model.parameters()) {
    if (parameter.name != *disturbances.withheld) continue;
    return std::make_unique<parallel::GradientTap>(nullptr, std::vector{parameter.tensor},
                                                   [](std::size_t) { hang(); });
  }
  refuse(kWithholdVariable, *disturbances.withheld, "a parameter of the model");
}

void flip_a_bit(std::span<const parallel::Updatable> updatables) {
  const at::NoGradGuard no_grad;
  const at::Tensor value = updatables.front().value.detach();
  at::Tensor bytes = value.flatten().narrow(0, 0, 1).cpu().view(at::kByte);
  // The sign, in the last byte: a low bit may be rounded away by later updates before anybody looks.
  bytes[-1].bitwise_xor_(0x80);
  value.flatten().narrow(0, 0, 1).copy_(bytes.view(value.scalar_type()));
}

}  // namespace lockstep::train
