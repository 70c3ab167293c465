// Carries the ranks' output to where it belongs: rank 0's standard output untouched to ours, every other line
// to our standard error with its rank's tag, and all of it into the ranks' logs.
#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <string_view>

#include "lockstep/base/unique_fd.h"
#include "lockstep/launch/line_splitter.h"
#include "lockstep/launch/poll_set.h"
#include "lockstep/launch/rank_log.h"
#include "lockstep/launch/sink.h"

namespace lockstep::launch {

enum class Channel { output, error };

struct OutputPumpOptions {
  int workers = 1;
  std::filesystem::path log_directory;
  bool private_logs = false;
  int output_fd = 1;
  int error_fd = 2;
  bool quiet = false;          // only into the logs
  std::string line_lead = {};  // before every line on standard error
};

class OutputPump {
 public:
  // When hundreds of ranks meet the same trouble, a few of them say so; the logs have them all.
  static constexpr int kMostErrorsShown = 8;

  explicit OutputPump(OutputPumpOptions options);

  // Takes the reading end of a pipe and makes it non-blocking.
  void add_stream(int rank, Channel channel, base::UniqueFd fd);
  // A line of the launcher's own, to standard error.
  void say(std::string_view line);

  void watch(PollSet& polls);
  bool streams_open() const;
  // Reads what there still is and completes partial lines: for when nobody can write any more, or time is up.
  // Says how many errors were not shown.
  void close_streams();
  // Whether all that was read has been written.
  bool drained() const { return output_.empty() && error_.empty(); }
  // Why the run's results cannot be delivered; 0 while they can.
  int output_error() const { return output_.error_number(); }

  const RankLog& log(int rank) const { return logs_.at(static_cast<std::size_t>(rank)); }
  const std::filesystem::path& log_directory() const { return options_.log_directory; }

 private:
  struct Stream {
    int rank;
    bool is_result;  // rank 0's standard output
    base::UniqueFd fd;
    LineSplitter lines;
  };

  // Whether there may be more; closes the stream at its end. A named pipe nobody has opened yet has no end.
  bool read_from(Stream& stream, bool writers_gone);
  void deliver(Stream& stream, std::string_view bytes);
  void deliver_line(const Stream& stream, std::string_view line);
  void end_stream(Stream& stream);
  bool is_one_error_too_many(std::string_view line);
  void warn_once(const std::string& what);

  OutputPumpOptions options_;
  Sink output_;
  Sink error_;
  std::deque<RankLog> logs_;
  std::deque<Stream> streams_;  // a deque: watches refer to its elements
  bool warned_ = false;
  int errors_ = 0;  // lines of ranks that tell of one
};

}  // namespace lockstep::launch
