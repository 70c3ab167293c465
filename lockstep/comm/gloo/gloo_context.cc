#include "lockstep/comm/gloo/gloo_context.h"

#include <gloo/transport/context.h>
#include <gloo/transport/tcp/pair.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <future>

namespace lockstep::comm {
namespace {

namespace tcp = gloo::transport::tcp;

// What a pair of gloo's keeps protected.
class InsidePair : public tcp::Pair {
 public:
  // A pair begins by listening. On the event thread, where this must run right after it was made, nobody can
  // have been accepted before that socket is closed again.
  static void connect(tcp::Pair& pair, tcp::Device& device, base::UniqueFd connection) {
    const std::lock_guard lock(pair.*&InsidePair::m_);
    int& fd = pair.*&InsidePair::fd_;
    if (fd >= 0) {
      device.unregisterDescriptor(fd, &pair);
      ::close(fd);
    }
    fd = connection.release();
    const int at_once = 1;
    (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    pair.*& InsidePair::self_ = tcp::Address::fromSockName(fd);
    pair.*& InsidePair::peer_ = tcp::Address::fromPeerName(fd);
    device.registerDescriptor(fd, EPOLLIN, &pair);
    (pair.*&InsidePair::changeState)(CONNECTED);
  }
};

class ConnectedContext : public gloo::Context {
 public:
  ConnectedContext(const Group& group, std::shared_ptr<gloo::transport::Device> device,
                   std::shared_ptr<gloo::transport::Context> transport)
      : Context(group.rank, group.world) {
    device_ = std::move(device);
    transportContext_ = std::move(transport);
  }
};

// Something to be done once on the event thread.
class Errand : public tcp::Handler {
 public:
  explicit Errand(std::function<void()> task)
      : task_(std::move(task)), wake_(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  void run_on(tcp::Device& device) {
    device.registerDescriptor(wake_.get(), EPOLLIN, this);
    std::future<void> done = task_.get_future();
    done.wait();
    device.unregisterDescriptor(wake_.get(), this);
    done.get();
  }

  void handleEvents(int) override {
    eventfd_t count = 0;
    if (::eventfd_read(wake_.get(), &count) == 0) task_();
  }

 private:
  std::packaged_task<void()> task_;
  base::UniqueFd wake_;
};

}  // namespace

std::shared_ptr<tcp::Device> make_device(const std::string& address) {
  return std::dynamic_pointer_cast<tcp::Device>(tcp::CreateDevice(tcp::attr(address.c_str())));
}

std::shared_ptr<gloo::Context> make_context(const std::shared_ptr<tcp::Device>& device, const Group& group,
                                            std::vector<base::UniqueFd> connections,
                                            std::chrono::milliseconds timeout) {
  const std::shared_ptr<gloo::transport::Context> transport = device->createContext(group.rank, group.world);
  transport->setTimeout(timeout);
  Errand connecting([&] {
    for (int peer = 0; peer < group.world; ++peer)
      if (peer != group.rank)
        InsidePair::connect(dynamic_cast<tcp::Pair&>(*transport->createPair(peer)), *device,
                            std::move(connections[static_cast<std::size_t>(peer)]));
  });
  connecting.run_on(*device);
  auto context = std::make_shared<ConnectedContext>(group, device, transport);
  context->setTimeout(timeout);
  return context;
}

}  // namespace lockstep::comm
