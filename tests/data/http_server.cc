// The server of http_server.h.
#include "tests/data/http_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <stdexcept>

namespace lockstep::data {
namespace {

constexpr int kPatienceMilliseconds = 5000;

bool readable(int fd, int milliseconds) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, milliseconds) > 0;
}

std::string read_request(int connection) {
  std::string request;
  char piece[1024];
  while (request.find("\r\n\r\n") == std::string::npos && readable(connection, kPatienceMilliseconds)) {
    const ssize_t count = ::recv(connection, piece, sizeof piece, 0);
    if (count <= 0) break;
    request.append(piece, static_cast<std::size_t>(count));
  }
  return request;
}

std::size_t range_start(const std::string& request) {
  const auto at = request.find("Range: bytes=");
  return at == std::string::npos ? 0 : std::stoul(request.substr(at + 13));
}

void send_all(int connection, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = ::send(connection, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
}

void send_text(int connection, const std::string& text) {
  send_all(connection, text.data(), text.size());
}

}  // namespace

HttpServer::HttpServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      ::listen(listener_.get(), 16) != 0 ||
      ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("the test's HTTP server could not start");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  stopping_ = true;
  thread_.join();
}

void HttpServer::put(const std::string& name, Content content) {
  const std::lock_guard lock(mutex_);
  contents_[name] = std::move(content);
}

std::string HttpServer::base() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/";
}

std::vector<std::string> HttpServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void HttpServer::serve() {
  while (!stopping_) {
    if (!readable(listener_.get(), 50)) continue;
    const base::UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection) answer(connection.get());
  }
}

void HttpServer::answer(int connection) {
  const std::string request = read_request(connection);
  const auto begin = request.find('/') + 1;
  const std::string name = request.substr(begin, request.find(' ', begin) - begin);
  const std::lock_guard lock(mutex_);
  const auto found = contents_.find(name);
  std::size_t from = range_start(request);
  requests_.push_back(name + " from " + std::to_string(from));
  if (found == contents_.end()) {
    return send_text(connection, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  }
  Content& content = found->second;
  if (!content.ranges) from = 0;
  if (from > 0 && from >= content.bytes.size()) {
    return send_text(connection,
                     "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  }
  const std::size_t left = content.bytes.size() - from;
  std::string head = from > 0 ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n";
  if (from > 0) {
    head += "Content-Range: bytes " + std::to_string(from) + "-" + std::to_string(content.bytes.size() - 1) +
            "/" + std::to_string(content.bytes.size()) + "\r\n";
  }
  send_text(connection, head + "Content-Length: " + std::to_string(left) + "\r\nConnection: close\r\n\r\n");
  const std::size_t sent = content.break_after ? std::min(left, *content.break_after) : left;
  content.break_after.reset();
  send_all(connection, content.bytes.data() + from, sent);
}

}  // namespace lockstep::data
