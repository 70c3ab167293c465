#include "lockstep/data/get/transfer.h"

#include <curl/curl.h>
#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <mutex>

#include "lockstep/base/error.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

struct CloseHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Handle = std::unique_ptr<CURL, CloseHandle>;
using File = std::unique_ptr<std::FILE, CloseFile>;

void prepare_library() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

long milliseconds(base::Nanoseconds duration) {
  return static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

std::uint64_t size_of(const fs::path& file) {
  std::error_code missing;
  const auto size = fs::file_size(file, missing);
  return missing ? 0 : size;
}

struct Progress {
  const TransferOptions* options;
  std::uint64_t already;
};

int report_progress(void* context, curl_off_t total, curl_off_t now, curl_off_t, curl_off_t) {
  const auto& progress = *static_cast<const Progress*>(context);
  if (progress.options->on_progress) {
    const auto all = total > 0 ? progress.already + static_cast<std::uint64_t>(total) : 0;
    progress.options->on_progress(progress.already + static_cast<std::uint64_t>(now), all);
  }
  return 0;
}

void set_limits(CURL* handle, const TransferOptions& options) {
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options.connect_timeout));
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, std::max(1L, milliseconds(options.stall_timeout) / 1000));
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "lockstep");
}

bool is_unreachable(CURLcode code) {
  return code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY ||
         code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT;
}

struct Answer {
  CURLcode code;
  long http_status;
  std::string error;
};

Answer request(const std::string& address, const fs::path& part, std::uint64_t from,
               const TransferOptions& options) {
  const Handle handle(curl_easy_init());
  const File file(std::fopen(part.c_str(), from > 0 ? "ab" : "wb"));
  if (!handle) throw std::bad_alloc();
  if (!file)
    throw base::DataError(fmt::format("{} cannot be written: {}.", part.string(), base::errno_text()));
  char error[CURL_ERROR_SIZE] = "";
  Progress progress{&options, from};
  set_limits(handle.get(), options);
  curl_easy_setopt(handle.get(), CURLOPT_URL, address.c_str());
  curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, file.get());
  curl_easy_setopt(handle.get(), CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(from));
  curl_easy_setopt(handle.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle.get(), CURLOPT_XFERINFOFUNCTION, report_progress);
  curl_easy_setopt(handle.get(), CURLOPT_XFERINFODATA, &progress);
  Answer answer{curl_easy_perform(handle.get()), 0, ""};
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &answer.http_status);
  if (std::fflush(file.get()) != 0 && answer.code == CURLE_OK) answer.code = CURLE_WRITE_ERROR;
  if (answer.code == CURLE_WRITE_ERROR) {
    throw base::DataError(
        fmt::format("{} cannot be written: {}. Is the disk full?", part.string(), base::errno_text()));
  }
  answer.error = error[0] != '\0' ? error : curl_easy_strerror(answer.code);
  return answer;
}

}  // namespace

TransferResult fetch(const std::string& address, const fs::path& part, const TransferOptions& options) {
  prepare_library();
  constexpr long kNothingLeft = 416;  // the answer to asking for bytes after the last one
  const std::uint64_t from = size_of(part);
  Answer answer = request(address, part, from, options);
  const bool complete_already = from > 0 && answer.http_status == kNothingLeft;
  if (complete_already) return {true, false, ""};
  if (answer.code == CURLE_RANGE_ERROR) answer = request(address, part, 0, options);
  if (answer.code == CURLE_OK) return {true, false, ""};
  return {false, is_unreachable(answer.code), answer.error};
}

}  // namespace lockstep::data
