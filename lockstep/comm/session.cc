#include "lockstep/comm/session.h"

#include <fmt/format.h>

#include <set>
#include <system_error>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/comm/rendezvous/own_host.h"

namespace lockstep::comm {
namespace {

// A rank that is gone or silent cannot say what happened: the first of the others does.
bool speaks_for(const Verdict& verdict, int rank) {
  const bool mute =
      verdict.kind == base::CommError::Kind::timed_out || verdict.kind == base::CommError::Kind::peer_lost;
  return mute && rank == (verdict.rank == 0 ? 1 : 0);
}

bool is_default_timeout(const OpenOptions& options) {
  return options.timeout == OpenOptions{}.timeout;
}

}  // namespace

void announce_verdict(const Identity& identity, const Verdict& verdict) {
  const int rank = identity.group.rank;
  if (identity.launcher_serves)
    return base::log_debug(fmt::format("rank {} ends: {}", rank, verdict.message));
  if (verdict.rank == rank || verdict.rank < 0 || speaks_for(verdict, rank))
    return base::log_info("error: " + verdict.message);
  base::log_info(fmt::format("rank {} ends because of another rank: {}", rank, verdict.message));
}

Session::Session(const Identity& identity, const Registry& registry, const SessionOptions& options)
    : identity_(identity), registry_(registry), options_(options) {
  if (options_.interface.empty()) options_.interface = base::environment(kInterfaceVariable).value_or("");
  if (identity_.key.empty() || (identity_.master_addr.empty() && identity_.group.world > 1))
    meeting_file_ = std::make_unique<MeetingFile>(options_.meeting_directory, identity_.job);
  if (!identity_.launcher_serves && identity_.group.rank == 0) serve();
  join();
  // Everybody has come: whatever happens from now on leaves no file behind.
  meeting_file_.reset();
  learn_where_everybody_is();
}

Session::~Session() = default;

// Loopback only where all ranks are likely to be on this host: what the launcher said is all that is known.
std::string Session::listen_address() const {
  if (!options_.listen_address.empty()) return options_.listen_address;
  const Group& group = identity_.group;
  if (!identity_.master_addr.empty()) {
    const std::string address = reachable_address(identity_.master_addr, options_.interface);
    if (address != identity_.master_addr)
      base::log_debug(fmt::format("{} stands for loopback on this host: rank 0 serves at {}",
                                  identity_.master_addr, address));
    return address;
  }
  const bool alone = group.world == 1 || (identity_.local_known && group.local_world == group.world);
  const std::string address = alone ? "" : routable_address(options_.interface);
  return address.empty() ? "127.0.0.1" : address;
}

void Session::serve() {
  if (meeting_file_ != nullptr) {
    const std::string found = meeting_file_->take_key();
    if (identity_.key.empty()) identity_.key = found;
  }
  RunServerOptions options;
  options.address = listen_address();
  options.port = identity_.master_port;
  options.world = identity_.group.world;
  options.key = identity_.key;
  options.join_timeout = options_.join_timeout;
  options.silence_timeout = options_.timeout;
  server_ = std::make_unique<RunServer>(options);
  if (meeting_file_ != nullptr) meeting_file_->say({server_->address(), server_->port()});
  server_->start({});
}

// A rank other than 0 looks anew before every attempt: what it has seen may be an earlier run's.
MeetingPoint Session::find_server() {
  MeetingPoint point = meeting_file_->read_or_make();
  if (!identity_.key.empty()) point.key = identity_.key;
  if (!point.server && !identity_.master_addr.empty()) {
    point.said_by_rank_0 = false;
    point.server = {reachable_address(identity_.master_addr, options_.interface), identity_.master_port};
  }
  return point;
}

void Session::join() {
  RunClientOptions options;
  options.address =
      server_ != nullptr ? server_->address() : reachable_address(identity_.master_addr, options_.interface);
  options.port = server_ != nullptr ? server_->port() : identity_.master_port;
  options.rank = identity_.group.rank;
  options.world = identity_.group.world;
  options.key = identity_.key;
  options.host = identity_.group.host;
  options.join_timeout = options_.join_timeout;
  if (!identity_.launcher_serves) options.silence_timeout = options_.timeout;
  options.still_wanted = options_.still_wanted;
  options.last_words = [identity = identity_](const Verdict& verdict) {
    announce_verdict(identity, verdict);
  };
  if (meeting_file_ != nullptr && server_ == nullptr) {
    options.find_server = [this] { return find_server(); };
    options.find_server_in = meeting_file_->path().string();
  }
  client_ = std::make_unique<RunClient>(options, boards_);
  client_->on_abort([this](const std::string& reason) { communicators_.abort_all(reason); });
}

// Who shares this rank's host is what the ranks said when they met, whatever a variable says.
void Session::learn_where_everybody_is() {
  const MeetingPoint& met = client_->met_at();
  identity_.key = met.key;
  identity_.master_addr = met.server->address;
  identity_.master_port = met.server->port;
  Group& group = identity_.group;
  group.local_rank = 0;
  group.local_world = 0;
  for (int rank = 0; rank < group.world; ++rank) {
    if (client_->hosts()[static_cast<std::size_t>(rank)] != group.host) continue;
    if (rank < group.rank) ++group.local_rank;
    ++group.local_world;
  }
  identity_.local_known = true;
  identity_.hosts = static_cast<int>(std::set(client_->hosts().begin(), client_->hosts().end()).size());
}

std::unique_ptr<Communicator> Session::open(std::string_view backend, OpenOptions options) {
  if (is_default_timeout(options)) options.timeout = options_.timeout;
  if (options.interface.empty()) options.interface = options_.interface;
  options.boards = &boards_;
  options.key = identity_.key;
  options.towards = identity_.master_addr;
  options.join_timeout = options_.join_timeout;
  return track(registry_.open(backend, group(), *client_, options, ledger_));
}

std::unique_ptr<Communicator> Session::track(std::unique_ptr<Communicator> opened) {
  return communicators_.track(std::move(opened));
}

int Session::run(const std::function<void(Session&)>& body) {
  const auto verdict = carry_out(body, true);
  return static_cast<int>(verdict ? verdict->exit_code : base::ExitCode::done);
}

void Session::run_part(const std::function<void(Session&)>& body) {
  if (const auto verdict = carry_out(body, false)) throw RunEnded(*verdict);
  // Its server hangs up when the last rank has taken leave; only then is the place free for the next part.
  if (server_ == nullptr) client_->wait_until_closed(base::Deadline(options_.linger));
}

std::optional<Verdict> Session::carry_out(const std::function<void(Session&)>& body, bool announces) {
  try {
    body(*this);
  } catch (const base::Error& error) {
    return fail(error, announces);
  } catch (const std::system_error& error) {  // a thread that could not be started
    return fail(base::Error(base::ExitCode::run_failed, fmt::format("rank {} failed: {}", group().rank,
                                                                    base::errno_text(error.code().value()))),
                announces);
  } catch (const std::exception& error) {
    return fail(base::Error(base::ExitCode::run_failed,
                            fmt::format("rank {} failed: {}", group().rank, error.what())),
                announces);
  }
  return finish(announces);
}

std::optional<Verdict> Session::finish(bool announces) {
  client_->goodbye();
  if (server_ != nullptr) server_->wait_until_left(base::Deadline(options_.linger));
  const auto verdict = server_ != nullptr ? server_->verdict() : client_->verdict();
  if (verdict && announces) announce_verdict(identity_, *verdict);
  return verdict;
}

void Session::end_run(const base::Error& error, const std::function<void(int)>& leave) {
  // For the others to hear of it: this rank itself stays connected to the end.
  constexpr base::Nanoseconds kShortLinger = std::chrono::seconds(1);
  const std::lock_guard lock(failing_);
  if (client_ == nullptr) return;
  const Verdict verdict = client_->report_failure(error);
  announce_verdict(identity_, verdict);
  if (server_ != nullptr) server_->wait_until_left(base::Deadline(kShortLinger));
  leave(static_cast<int>(verdict.exit_code));
}

Verdict Session::fail(const base::Error& error, bool announces) {
  const std::lock_guard lock(failing_);
  const Verdict verdict = client_->report_failure(error);
  if (announces) announce_verdict(identity_, verdict);
  // Hangs up, so that the server need not wait for this rank.
  client_.reset();
  if (server_ != nullptr) server_->wait_until_left(base::Deadline(options_.linger_after_failure));
  return verdict;
}

int run_session(const Identity& identity, const Registry& registry, const SessionOptions& options,
                const std::function<void(Session&)>& body) {
  std::unique_ptr<Session> session;
  try {
    session = std::make_unique<Session>(identity, registry, options);
  } catch (const RunEnded& ended) {
    announce_verdict(identity, ended.verdict);
    return static_cast<int>(ended.verdict.exit_code);
  }
  return session->run(body);
}

}  // namespace lockstep::comm
