// Data that is damaged, absent or not what it says, and models that do not fit it: through the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/program_run.h"
#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(number >> shift & 0xff));
  return bytes;
}

// Files in Fashion-MNIST's format, whole until a test damages one.
class DataErrors : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(set());
    for (const std::string part : {"train", "t10k"}) {
      write(part + "-images-idx3-ubyte", big_endian(0x803) + big_endian(kSamples) + big_endian(28) +
                                             big_endian(28) + std::string(kSamples * 28 * 28, 'x'));
      write(part + "-labels-idx1-ubyte",
            big_endian(0x801) + big_endian(kSamples) + std::string(kSamples, '\x03'));
    }
  }
  fs::path set() const { return store_.path() / "data" / "fashion-mnist"; }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(set() / name, std::ios::binary) << bytes;
  }
  std::string read(const std::string& name) const {
    std::ifstream stream(set() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  TrainRun train(const std::string& flags) const {
    return store_.train("--workers 2 --threads 1 --steps 2 --batch-size 4 --data-dir " +
                        (store_.path() / "data").string() + " " + flags);
  }
  void expect_refused(const std::string& flags, const std::string& words, int exit_code = 3) const {
    const TrainRun run = train(flags);
    EXPECT_EQ(run.exit_code, exit_code) << run.err;
    EXPECT_THAT(run.err, HasSubstr(words));
    std::size_t errors = 0;
    for (std::size_t at = run.err.find("error: "); at != std::string::npos;
         at = run.err.find("error: ", at + 1))
      ++errors;
    EXPECT_EQ(errors, 1u) << run.err;
  }

  static constexpr std::uint32_t kSamples = 64;
  TrainStore store_;
};

TEST_F(DataErrors, WholeFilesAreTaken) {
  const TrainRun run = train("--model lenet5");
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST_F(DataErrors, FilesInADirectoryWhoseNameIsNoTextAreReadAndWritten) {
  const fs::path place = store_.path() / "caf\xe9";
  fs::create_directory(place);
  fs::rename(store_.path() / "data", place / "data");
  const std::string weights = (place / "w.safetensors").string();
  const std::string flags =
      "--model lenet5 --threads 1 --batch-size 4 --data-dir " + (place / "data").string();
  const TrainRun first =
      store_.train(flags + " --workers 2 --epochs 1 --checkpoint-epochs 1 --export-weights " + weights);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const TrainRun second = store_.train(flags + " --epochs 1 --weights " + weights);
  EXPECT_EQ(second.exit_code, 0) << second.err;
  const TrainRun resumed =
      store_.train(flags + " --workers 2 --epochs 2 --resume " + first.directory.string());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

TEST_F(DataErrors, AnErrorThatNamesAPathThatIsNoTextIsRecorded) {
  const fs::path place = store_.path() / "caf\xe9";
  fs::create_directory(place);
  fs::rename(set(), place / "fashion-mnist");
  std::ofstream(place / "fashion-mnist" / "train-labels-idx1-ubyte", std::ios::binary) << "short";
  const TrainRun run = store_.train("--model lenet5 --steps 1 --data-dir " + place.string());
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("caf\\xe9/fashion-mnist/train-labels-idx1-ubyte"),
                             ::testing::Not(HasSubstr("unforeseen"))));
  EXPECT_EQ(run.record["failure"]["kind"], "data") << run.record;
}

TEST_F(DataErrors, ATruncatedFileIsNamed) {
  for (const std::string name :
       {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"}) {
    const std::string whole = read(name);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{7}, whole.size() - 1}) {
      write(name, whole.substr(0, bytes));
      expect_refused("--model lenet5", name);
    }
    write(name, whole);
  }
}

TEST_F(DataErrors, ACorruptedHeaderIsNamed) {
  std::string images = read("train-images-idx3-ubyte");
  images[2] = 0x0d;  // another element type
  write("train-images-idx3-ubyte", images);
  expect_refused("--model lenet5", "train-images-idx3-ubyte");
}

TEST_F(DataErrors, ACorruptedArchiveIsNamed) {
  fs::remove(set() / "train-images-idx3-ubyte");
  ASSERT_EQ(run_shell("head -c 50000 /dev/zero | gzip -c | head -c 60 > '" +
                      (set() / "train-images-idx3-ubyte.gz").string() + "'")
                .exit_code,
            0);
  expect_refused("--model lenet5", "train-images-idx3-ubyte.gz");
}

TEST_F(DataErrors, AMissingFileIsNamed) {
  fs::remove(set() / "t10k-labels-idx1-ubyte");
  expect_refused("--model lenet5", "t10k-labels-idx1-ubyte");
}

TEST_F(DataErrors, ALabelWithoutClassIsNamed) {
  std::string labels = read("train-labels-idx1-ubyte");
  labels.back() = 10;
  write("train-labels-idx1-ubyte", labels);
  expect_refused("--model lenet5", "sample 63 has label 10, and there are 10 classes");
}

TEST_F(DataErrors, LabelsOfAnotherSetAreNoticed) {
  write("train-labels-idx1-ubyte", big_endian(0x801) + big_endian(10) + std::string(10, '\x03'));
  expect_refused("--model lenet5", "They are not from the same set");
}

TEST_F(DataErrors, ABatchOfCifar10WithABadLengthIsNamed) {
  const fs::path cifar = store_.path() / "data" / "cifar-10-batches-bin";
  fs::create_directories(cifar);
  for (const std::string name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                 "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"})
    std::ofstream(cifar / name, std::ios::binary)
        << std::string(3073 * 4 - (name == "data_batch_4.bin"), '\x01');
  std::ofstream(cifar / "records.txt") << "4 4\n";
  expect_refused("--model resnet18-cifar --data cifar10",
                 "data_batch_4.bin: its 12291 bytes are not a whole number of records");
}

TEST_F(DataErrors, AFrameThatADrivingLogNamesAndNobodyHasIsNamed) {
  const fs::path driving = store_.path() / "data" / "driving";
  fs::create_directories(driving / "IMG");
  std::ofstream log(driving / "driving_log.csv");
  for (int frame = 0; frame < 30; ++frame) log << "IMG/frame" << frame << ".jpg,l.jpg,r.jpg,0.1,0,0,0\n";
  log.close();
  expect_refused("--model pilotnet --data driving", "driving_log.csv:1: the frame");
}

TEST_F(DataErrors, ADataSetThatIsNowhereSaysWhereItWasLookedFor) {
  const TrainRun run = train("--model resnet18-cifar --data cifar10");
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("cifar-10-batches-bin"), HasSubstr("lockstep data get cifar10")));
}

TEST_F(DataErrors, AModelThatDoesNotFitTheDataIsRefusedByName) {
  expect_refused("--model pilotnet --data digits", "pilotnet");
  expect_refused("--model restorer --data digits", "restorer");
  expect_refused("--model lenet5 --data road", "lenet5");
  expect_refused("--model alexnet --data digits --image-size 32", "alexnet");
}

}  // namespace
}  // namespace lockstep::testing
