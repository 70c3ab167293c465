// A small HTTP server on the loopback interface, for tests that fetch: it serves named contents, with or
// without ranges, and can break off in the middle.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lockstep/base/unique_fd.h"
#include "lockstep/data/files.h"

namespace lockstep::data {

class HttpServer {
 public:
  struct Content {
    Bytes bytes;
    bool ranges = true;                      // whether a part can be asked for
    std::optional<std::size_t> break_after;  // close the connection after so many bytes, once
  };

  HttpServer();
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void put(const std::string& name, Content content);
  std::string base() const;  // "http://127.0.0.1:PORT/"
  // The requests so far: "name from OFFSET".
  std::vector<std::string> requests() const;

 private:
  void serve();
  void answer(int connection);

  base::UniqueFd listener_;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::map<std::string, Content> contents_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace lockstep::data
