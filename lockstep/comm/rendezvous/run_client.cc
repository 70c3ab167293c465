#include "lockstep/comm/rendezvous/run_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/comm/rendezvous/client_link.h"
#include "lockstep/comm/rendezvous/joining.h"

namespace lockstep::comm {
namespace {

// Past the moment at which the server itself gives up, so that its better message wins.
constexpr base::Nanoseconds kServerFirst = std::chrono::seconds(5);
constexpr base::Nanoseconds kLongestWait = std::chrono::hours(24 * 365);

FailureReport report_of(const base::Error& error, const OperationStatus& position) {
  const auto* comm_error = dynamic_cast<const base::CommError*>(&error);
  return {comm_error != nullptr ? comm_error->kind() : base::CommError::Kind::failed, error.exit_code(),
          error.what(), position};
}

}  // namespace

RunClient::RunClient(const RunClientOptions& options, const OperationBoards& boards) {
  const base::Deadline deadline(options.join_timeout);
  link_ = std::make_unique<ClientLink>(join_server(options, deadline), options, boards);
  try {
    link_->wait_for_welcome(base::Deadline(options.join_timeout + kServerFirst), options.still_wanted);
  } catch (const RunEnded&) {
    throw;
  } catch (const base::Error& error) {
    throw RunEnded(report_failure(error));
  }
}

RunClient::~RunClient() = default;

void RunClient::set(const std::string& key, const std::string& value) {
  link_->request(MessageType::set, ByteWriter().text(key).text(value).take(), link_->soon(),
                 fmt::format("setting the key '{}'", key));
}

std::string RunClient::get(const std::string& key, base::Deadline deadline) {
  const base::Nanoseconds patience = std::min<base::Nanoseconds>(deadline.left(), kLongestWait);
  const std::string body =
      link_->request(MessageType::get, ByteWriter().text(key).i64(patience.count()).take(),
                     base::Deadline(patience + kServerFirst), fmt::format("getting the key '{}'", key));
  ByteReader reply(body);
  if (reply.u8() == 0)
    throw base::CommError(base::CommError::Kind::timed_out,
                          fmt::format("rank {} waited in vain for the key '{}' of the run's store: the rank "
                                      "that sets it has not come that far",
                                      link_->rank(), key));
  return reply.text();
}

std::int64_t RunClient::add(const std::string& key, std::int64_t amount) {
  const std::string body = link_->request(MessageType::add, ByteWriter().text(key).i64(amount).take(),
                                          link_->soon(), fmt::format("adding to the key '{}'", key));
  ByteReader reply(body);
  if (reply.u8() == 0)
    throw base::CommError(base::CommError::Kind::failed,
                          fmt::format("the key '{}' of the run's store holds no counter", key));
  return reply.i64();
}

void RunClient::on_abort(std::function<void(const std::string&)> action) {
  link_->on_abort(std::move(action));
}

Verdict RunClient::report_failure(const base::Error& error) {
  return link_->report(report_of(error, link_->position()));
}

void RunClient::goodbye() {
  link_->goodbye();
}

const std::vector<std::string>& RunClient::hosts() const {
  return link_->hosts();
}

const MeetingPoint& RunClient::met_at() const {
  return link_->met_at();
}

void RunClient::wait_until_closed(base::Deadline deadline) {
  link_->wait_until_closed(deadline);
}

std::optional<Verdict> RunClient::verdict() const {
  return link_->verdict();
}

}  // namespace lockstep::comm
