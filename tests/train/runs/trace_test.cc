// `--trace FILE`: every rank's spans and collectives in one file that Perfetto and Kineto's readers
// understand.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

using nlohmann::json;

json trace_of(const TrainStore& store, const std::string& flags) {
  const std::string file = (store.path() / "trace.json").string();
  const TrainRun run = store.train(
      "--model lenet5 --data digits --train-samples 400 --threads 1 --steps 6 --validate-every 0 " + flags +
      " --trace " + file);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const auto& left : std::filesystem::directory_iterator(run.directory))
    EXPECT_FALSE(left.path().filename().string().starts_with("trace-")) << "a fragment is left";
  std::ifstream stream(file);
  return json::parse(stream);
}

// Names of slices by rank and category.
std::map<std::pair<int, std::string>, std::multiset<std::string>> names_in(const json& trace) {
  std::map<std::pair<int, std::string>, std::multiset<std::string>> names;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X")
      names[{event.at("pid"), event.at("cat")}].insert(event.at("name").get<std::string>());
  }
  return names;
}

TEST(Trace, HasTheSpansAndCollectivesOfEveryRank) {
  const TrainStore store;
  for (const std::string backend : {"shm", "gloo"}) {
    const json trace = trace_of(store, "--workers 2 --overlap on --backend " + backend);
    const auto names = names_in(trace);
    for (const int rank : {0, 1}) {
      for (const std::string span : {"data", "input", "forward", "backward", "optimizer"})
        EXPECT_GE(names.at({rank, "span"}).count(span), 6u) << span << " of rank " << rank;
      EXPECT_GE(names.at({rank, "collective"}).count("all_reduce"), 12u);  // a bucket and a loss a step
    }
  }
}

TEST(Trace, HasTheKeysOfKineto) {
  const TrainStore store;
  const json trace = trace_of(store, "--workers 2");
  std::uint64_t gradient_elements = 0;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X" || event.at("cat") != "collective") continue;
    const json& arguments = event.at("args");
    for (const char* key : {"Collective name", "In msg nelems", "Out msg nelems", "dtype", "Group size"})
      EXPECT_TRUE(arguments.contains(key)) << key;
    if (event.at("pid") == 0 && arguments.at("purpose") == "gradient")
      gradient_elements += arguments.at("In msg nelems").get<std::uint64_t>();
  }
  EXPECT_EQ(gradient_elements, 6u * 61706);
}

TEST(Trace, OfOneWorkerHasItsSpans) {
  const TrainStore store;
  const auto names = names_in(trace_of(store, "--workers 1"));
  EXPECT_GE(names.at({0, "span"}).count("forward"), 6u);
}

}  // namespace
}  // namespace lockstep::testing
