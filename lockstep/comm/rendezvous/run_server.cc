#include "lockstep/comm/rendezvous/run_server.h"

#include <fmt/format.h>

#include "lockstep/comm/rendezvous/server_loop.h"

namespace lockstep::comm {

void RunServerOptions::validate() const {
  if (world < 1) throw base::ConfigError(fmt::format("a run of {} ranks cannot be served", world));
  if (port < 0 || port > 65535) throw base::ConfigError(fmt::format("{} is no port", port));
  check_key(key);
}

RunServer::RunServer(const RunServerOptions& options) {
  options.validate();
  loop_ = std::make_unique<ServerLoop>(options);
}

RunServer::~RunServer() = default;

int RunServer::port() const {
  return loop_->endpoint().port;
}

const std::string& RunServer::address() const {
  return loop_->endpoint().address;
}

void RunServer::start(std::function<void(const Verdict&)> on_verdict) {
  loop_->start(std::move(on_verdict));
}

void RunServer::report_exit(int rank, const std::string& how) {
  loop_->post([rank, how](Assembly& assembly) { assembly.exited(rank, how, base::now()); });
}

void RunServer::end_run(const std::string& reason, base::ExitCode exit_code) {
  loop_->post([request = EndRequest{reason, exit_code}](Assembly& assembly) {
    assembly.end_asked(request, base::now());
  });
}

std::optional<Verdict> RunServer::verdict() const {
  return loop_->standing().verdict;
}

int RunServer::finished() const {
  return loop_->standing().finished;
}

bool RunServer::wait_until_left(base::Deadline deadline) const {
  return loop_->wait_until_left(deadline);
}

}  // namespace lockstep::comm
