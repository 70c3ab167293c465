// `lockstep train` from the command line to the record, with a stand-in worker.
#include <fstream>

#include "tests/cli/train_harness.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using TrainRun = TrainTest;

TEST_F(TrainRun, prints_what_ran_and_where_time_bytes_and_memory_went) {
  const ProgramRun run = train("--workers 2 --steps 6");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* part : {"finished", "lenet5, input 1x28x28", "digits", "ddp over shm, 2 workers on cpu",
                           "32 per worker, 64 global", "train loss", "87.50 %", "90.00 %",
                           "6, of them 2 warm-up", "median 10.0 ms", "samples/s", "exposed communication",
                           "busy 3.00 ms, exposed 1.00 ms, peer wait 500 µs", "246,824 B", "2,000 B",
                           "peak of the worst rank: 3.00 MiB", "this worker trains nothing"})
    EXPECT_THAT(run.out, HasSubstr(part));
  EXPECT_THAT(run.out, HasSubstr("Stored in " + runs().at(0).string()));
  EXPECT_THAT(run.err, HasSubstr("lenet5 on digits (1x28x28): ddp over shm"));
}

TEST_F(TrainRun, json_is_the_record_that_is_kept) {
  const ProgramRun run = train("--workers 2 --steps 6 --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto record = nlohmann::json::parse(run.out);
  EXPECT_EQ(record, kept_record());
  EXPECT_EQ(record["status"], "finished");
  EXPECT_EQ(record["workers"], 2);
  EXPECT_EQ(record["batch"]["global"], 64);
  EXPECT_EQ(record["steps"]["count"], 6);
  EXPECT_EQ(record["id"], runs().at(0).filename().string());
  EXPECT_GT(record["wall_seconds"]["total"].get<double>(), 0);
  EXPECT_TRUE(record["machine"].contains("cpu"));
}

TEST_F(TrainRun, the_kept_spec_has_every_auto_resolved) {
  train("--workers 2");
  const auto spec = kept_record()["spec"];
  EXPECT_EQ(spec["strategy"], "ddp");
  EXPECT_EQ(spec["backend"], "shm");
  EXPECT_EQ(spec["device"], "cpu");
  EXPECT_EQ(spec["loss"], "cross-entropy");
  EXPECT_EQ(spec["augment"], "none");
  EXPECT_EQ(spec["epochs"], 1);
  EXPECT_EQ(spec["image_size"], 28);
}

TEST_F(TrainRun, what_ranks_say_is_tagged_and_kept_in_the_run) {
  const ProgramRun run = train("--workers 2", "chatty");
  EXPECT_THAT(run.err, AllOf(HasSubstr("[rank0] a word for people"), HasSubstr("[rank1] a word for people")));
  EXPECT_TRUE(std::filesystem::exists(runs().at(0) / "logs" / "rank1.log"));
}

TEST_F(TrainRun, a_rank_that_fails_gives_the_run_its_exit_code_and_is_named) {
  const ProgramRun run = train("--workers 2", "fail");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("error: the images are upside down"));
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("failed"), HasSubstr("rank 1, DataError"), Not(HasSubstr("upside down"))));
  EXPECT_EQ(kept_record()["failure"]["rank"], 1);
  const std::string id = runs().at(0).filename().string();
  EXPECT_THAT(run_shell(setting() + program() + " runs show " + id).out, HasSubstr("upside down"));
}

TEST_F(TrainRun, workers_that_share_cores_are_said_to) {
  const auto cores = std::stoi(run_shell("nproc").out);
  const ProgramRun crowd = train("--steps 2 --workers " + std::to_string(cores + 1));
  EXPECT_THAT(crowd.out, HasSubstr("shared by " + std::to_string(cores + 1) + " workers: they take turns"));
  EXPECT_THAT(train("--steps 2").out, Not(HasSubstr("take turns")));
}

TEST_F(TrainRun, a_killed_rank_is_told_by_the_launcher) {
  const ProgramRun run = train("--workers 2", "crash");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("rank 1 was killed by signal 9"), HasSubstr("rank 1 wrote nothing")));
  EXPECT_EQ(kept_record()["status"], "failed");
  EXPECT_EQ(kept_record()["failure"]["kind"], "killed");
}

TEST_F(TrainRun, ranks_that_end_without_having_finished_are_an_error) {
  const ProgramRun run = train("", "silent");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("not every one said that it had finished"));
  EXPECT_EQ(kept_record()["status"], "interrupted");
}

TEST_F(TrainRun, a_store_that_cannot_be_written_is_said_before_anything_starts) {
  const ProgramRun run = train("--store /proc/nowhere");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("/proc/nowhere"), HasSubstr("--store DIR")));
}

TEST_F(TrainRun, logs_that_cannot_be_kept_are_said_before_anything_starts) {
  const ProgramRun run = train("--log-dir /dev/null/x");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("logs cannot be kept in /dev/null/x"), HasSubstr("Nothing was started")));
  EXPECT_TRUE(runs().empty());
}

TEST_F(TrainRun, results_that_nobody_reads_are_kept_and_end_as_a_closed_pipe_does) {
  const ProgramRun run = run_shell(setting() + "(sleep 0.2; " + program() +
                                   " train --data digits 2>/dev/null; echo $? >&2) | true");
  EXPECT_EQ(run.err, "141\n");
  EXPECT_EQ(kept_record()["status"], "finished");
}

TEST_F(TrainRun, the_store_may_be_given_by_flag) {
  const std::filesystem::path other = store / "another";
  EXPECT_EQ(train("--store '" + other.string() + "'").exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(other / "runs"));
  EXPECT_THAT(runs(), IsEmpty());
}

TEST_F(TrainRun, a_worker_that_is_not_there_is_exit_4) {
  const ProgramRun run =
      run_shell(setting() + "export LOCKSTEP_WORKER=/nowhere\n" + program() + " train --data digits");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.err, AllOf(HasSubstr("LOCKSTEP_WORKER"), HasSubstr("/nowhere")));
  EXPECT_THAT(runs(), IsEmpty());
}

TEST_F(TrainRun, data_that_is_not_here_is_exit_3_with_the_places_and_the_way_to_get_it) {
  const ProgramRun run = run_shell(setting() + "export XDG_DATA_HOME=/nowhere HOME=/nowhere\n" + program() +
                                   " train --data cifar10 --model resnet18-cifar");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("lockstep data get cifar10"));
  EXPECT_THAT(runs(), IsEmpty());
}

TEST_F(TrainRun, files_that_cannot_be_read_are_refused_before_anything_starts) {
  std::filesystem::create_directories(store / "empty" / "checkpoints" / "step-00000003");
  const std::string empty = "'" + (store / "empty").string() + "'";
  const std::pair<std::string, const char*> refused[] = {
      {"--resume /nowhere", "resume '/nowhere' does not exist"},
      {"--resume /etc/passwd", "is not a directory"},
      {"--resume " + empty, "holds no checkpoint that was finished"},
      {"--weights /nowhere", "weights '/nowhere' does not exist"},
      {"--weights /etc/passwd", "is neither a safetensors file nor one that torch.save wrote"},
      {"--model /nowhere.pt", "model '/nowhere.pt' does not exist"},
      {"--data-dir /nowhere", "data_dir '/nowhere' does not exist"},
      {"--data-dir /etc/passwd", "data_dir '/etc/passwd' is not a directory"},
  };
  for (const auto& [line, expected] : refused) {
    const ProgramRun run = train(line);
    EXPECT_EQ(run.exit_code, 3) << line << "\n" << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr(expected), HasSubstr("Nothing was started."))) << line;
    EXPECT_THAT(runs(), IsEmpty()) << line;
  }
}

TEST_F(TrainRun, files_that_begin_well_are_left_to_the_worker) {
  std::filesystem::create_directories(store / "good" / "checkpoints" / "step-00000003");
  std::ofstream(store / "good" / "checkpoints" / "step-00000003" / "manifest.json") << "{}";
  std::ofstream(store / "w.safetensors", std::ios::binary) << std::string("\2\0\0\0\0\0\0\0{}", 10);
  std::ofstream(store / "w.pt") << "PK\3\4 and more";
  const std::string place = "'" + store.string();
  for (const std::string& line :
       {"--resume " + place + "/good'", "--resume " + place + "/good/checkpoints/step-00000003/'",
        "--weights " + place + "/w.safetensors'", "--weights " + place + "/w.pt'",
        "--data-dir " + place + "'"})
    EXPECT_EQ(train(line).exit_code, 0) << line;
}

TEST_F(TrainRun, a_file_that_cannot_be_written_is_said_before_anything_starts) {
  for (const char* line : {"--trace /nowhere/t.json", "--export-weights /nowhere/w.safetensors"}) {
    const ProgramRun run = train(line);
    EXPECT_EQ(run.exit_code, 1) << line;
    EXPECT_THAT(run.err,
                AllOf(HasSubstr("there is no directory /nowhere"), HasSubstr("Nothing was started.")));
  }
  EXPECT_THAT(runs(), IsEmpty());
}

TEST_F(TrainRun, a_file_is_not_written_over_another_one_of_the_run) {
  const std::string place = store.string();
  std::ofstream(store / "run.yaml") << "model: lenet5\ndata: digits\nsteps: 2\n";
  for (const std::string& line : {"--trace '" + place + "/same' --export-weights '" + place + "/./same'",
                                  "'" + place + "/run.yaml' --trace '" + place + "/run.yaml'",
                                  "'" + place + "/run.yaml' --export-weights '" + place + "/run.yaml'"}) {
    const ProgramRun run = train(line);
    EXPECT_EQ(run.exit_code, 3) << line;
    EXPECT_THAT(run.err, AllOf(HasSubstr("would be written over"), HasSubstr("Nothing was started.")))
        << line;
  }
  EXPECT_THAT(runs(), IsEmpty());
}

TEST_F(TrainRun, engine_torch_without_pytorch_is_exit_4_with_the_reason) {
  const ProgramRun run =
      run_shell(setting() + "LOCKSTEP_PYTHON=/bin/false " + program() + " train --engine torch");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.err, AllOf(HasSubstr("engine torch cannot be used here"), HasSubstr("/bin/false")));
}

TEST_F(TrainRun, data_that_engine_torch_does_not_read_is_refused_before_anything_starts) {
  const ProgramRun run = train("--engine torch --workers 2");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("data 'digits' is refused"), HasSubstr("mnist, fashion-mnist")));
  EXPECT_THAT(runs(), IsEmpty());
}

TEST_F(TrainRun, lines_of_progress_come_with_every_epoch) {
  const ProgramRun run = run_shell(setting() + "export STAND_IN_PAUSE=0.1\n" + program() +
                                   " train --data digits --steps 8 --progress lines");
  EXPECT_THAT(run.err, AllOf(HasSubstr("step 8/8"), HasSubstr("loss 0.25"), HasSubstr("/s  "),
                             HasSubstr("exposed 10 %"), HasSubstr("val 90.0 %")));
}

TEST_F(TrainRun, a_bar_is_drawn_on_a_terminal_and_taken_away) {
  const std::string command =
      "STAND_IN_PAUSE=0.1 script -qec \"" + program() + " train --data digits\" /dev/null";
  const ProgramRun run = run_shell(setting("chatty") + command);
  EXPECT_THAT(run.out, AllOf(HasSubstr("\r\033[Kepoch 1/1  step"), HasSubstr("\r\033[K[rank0] a word"),
                             HasSubstr("finished")));
  EXPECT_THAT(train("").err, Not(HasSubstr("step 1")));
}

}  // namespace
}  // namespace lockstep::testing
