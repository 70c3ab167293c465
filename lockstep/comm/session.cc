#include "lockstep/comm/session.h"

#include <fmt/format.h>

#include "lockstep/base/log.h"

namespace lockstep::comm {
namespace {

// A rank that is gone or silent cannot say what happened: the first of the others does.
bool speaks_for(const Verdict& verdict, int rank) {
  const bool mute =
      verdict.kind == base::CommError::Kind::timed_out || verdict.kind == base::CommError::Kind::peer_lost;
  return mute && rank == (verdict.rank == 0 ? 1 : 0);
}

// The rank that failed says what happened; the others say that they end because of it. Where a launcher
// serves it has heard the verdict itself and speaks for all.
void announce_verdict(const Identity& identity, const Verdict& verdict) {
  const int rank = identity.group.rank;
  if (identity.launcher_serves)
    return base::log_debug(fmt::format("rank {} ends: {}", rank, verdict.message));
  if (verdict.rank == rank || verdict.rank < 0 || speaks_for(verdict, rank))
    return base::log_info("error: " + verdict.message);
  base::log_info(fmt::format("rank {} ends because of another rank: {}", rank, verdict.message));
}

bool is_default_timeout(const OpenOptions& options) {
  return options.timeout == OpenOptions{}.timeout;
}

}  // namespace

Session::Session(const Identity& identity, const Registry& registry, const SessionOptions& options)
    : identity_(identity), registry_(registry), options_(options) {
  if (identity_.master_addr.empty()) meeting_file_ = std::make_unique<MeetingFile>(identity_.job);
  if (!identity_.launcher_serves && identity_.group.rank == 0) serve();
  join();
  // Everybody has come: whatever happens from now on leaves no file behind.
  meeting_file_.reset();
  if (!identity_.local_known) find_local_ranks();
}

Session::~Session() = default;

void Session::serve() {
  RunServerOptions options;
  const std::string& meeting_address = identity_.master_addr;
  options.address = !options_.listen_address.empty() ? options_.listen_address
                    : !meeting_address.empty()       ? meeting_address
                                                     : "127.0.0.1";
  options.port = identity_.master_port;
  options.world = identity_.group.world;
  options.token = identity_.token;
  options.join_timeout = options_.join_timeout;
  server_ = std::make_unique<RunServer>(options);
  server_->start({});
  if (meeting_file_ != nullptr) meeting_file_->write({server_->address(), server_->port()});
}

void Session::join() {
  RunClientOptions options;
  options.address = identity_.master_addr;
  options.port = server_ != nullptr ? server_->port() : identity_.master_port;
  options.rank = identity_.group.rank;
  options.world = identity_.group.world;
  options.token = identity_.token;
  options.join_timeout = options_.join_timeout;
  options.last_words = [identity = identity_](const Verdict& verdict) {
    announce_verdict(identity, verdict);
  };
  if (meeting_file_ != nullptr) options.find_server = [this] { return meeting_file_->read(); };
  client_ = std::make_unique<RunClient>(options, boards_);
  client_->on_abort([this](const std::string& reason) { communicators_.abort_all(reason); });
}

// Ranks that were only told their rank find out at the store who shares their host.
void Session::find_local_ranks() {
  Group& group = identity_.group;
  PrefixStore hosts(*client_, "session/host");
  hosts.set(std::to_string(group.rank), group.host);
  group.local_rank = 0;
  group.local_world = 0;
  for (int rank = 0; rank < group.world; ++rank) {
    if (hosts.get(std::to_string(rank), base::Deadline(options_.join_timeout)) != group.host) continue;
    if (rank < group.rank) ++group.local_rank;
    ++group.local_world;
  }
  identity_.local_known = true;
}

std::unique_ptr<Communicator> Session::open(std::string_view backend, OpenOptions options) {
  if (is_default_timeout(options)) options.timeout = options_.timeout;
  options.boards = &boards_;
  options.key = identity_.token;
  return track(registry_.open(backend, group(), *client_, options, ledger_));
}

std::unique_ptr<Communicator> Session::track(std::unique_ptr<Communicator> opened) {
  return communicators_.track(std::move(opened));
}

int Session::run(const std::function<void(Session&)>& body) {
  try {
    body(*this);
  } catch (const base::Error& error) {
    return fail(error);
  } catch (const std::exception& error) {
    return fail(base::Error(base::ExitCode::run_failed,
                            fmt::format("rank {} failed: {}", group().rank, error.what())));
  }
  return finish();
}

int Session::finish() {
  client_->goodbye();
  if (server_ != nullptr) server_->wait_until_left(base::Deadline(options_.linger));
  const auto verdict = server_ != nullptr ? server_->verdict() : client_->verdict();
  if (!verdict) return static_cast<int>(base::ExitCode::done);
  announce_verdict(identity_, *verdict);
  return static_cast<int>(verdict->exit_code);
}

int Session::fail(const base::Error& error) {
  const Verdict verdict = client_->report_failure(error);
  announce_verdict(identity_, verdict);
  // Hangs up, so that the server need not wait for this rank.
  client_.reset();
  if (server_ != nullptr) server_->wait_until_left(base::Deadline(options_.linger_after_failure));
  return static_cast<int>(verdict.exit_code);
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
