// What comes from somebody else: bytes that are no text in paths, records with control characters or values
// of the wrong kind, modules in the current directory, the limits of a shell; and who may read what we write.
#include <fstream>

#include "tests/cli/train_harness.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

bool holds_control_characters(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool latin = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if ((byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7F || latin) return true;
  }
  return false;
}

class Strangers : public TrainTest {
 protected:
  ProgramRun lockstep(const std::string& arguments) const {
    return run_shell(setting() + "cd '" + store.string() + "'\n" + program() + " " + arguments);
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(store / name, std::ios::binary) << text;
  }
  // The record of a run as another one's, changed by the caller; the run itself is taken away.
  nlohmann::json foreign_record() const {
    EXPECT_EQ(train("--workers 2").exit_code, 0);
    nlohmann::json record = kept_record();
    fs::remove_all(runs().at(0));
    return record;
  }
};

TEST_F(Strangers, a_store_and_data_in_directories_whose_names_are_no_text_work) {
  const std::string place = store.string() + "/caf\xe9";
  fs::create_directory(place);
  const std::string kept = " --store '" + place + "/store'";
  const ProgramRun run =
      lockstep("train --data digits --data-dir '" + place + "' --log-dir '" + place + "/logs' --json" + kept);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out)["status"], "finished");
  EXPECT_EQ(nlohmann::json::parse(run.out)["spec"]["data_dir"], store.string() + "/caf\xEE\xBF\xA9");
  const auto listed = nlohmann::json::parse(lockstep("runs list --json" + kept).out);
  ASSERT_THAT(listed, SizeIs(1));
  const std::string id = listed[0]["id"];
  EXPECT_THAT(lockstep("runs show " + id + kept).out, HasSubstr("/caf\\xe9/store/runs/" + id));
  for (const std::string& line :
       Texts{"runs export", "runs export --format csv", "report " + id, "runs reindex"})
    EXPECT_EQ(lockstep(line + kept).exit_code, 0) << line;
  // The spec that is shown, as YAML and as JSON, is the same run's.
  for (const std::string& form : Texts{"again.yaml", "again.json"}) {
    const std::string json = form == "again.json" ? " --json" : "";
    ASSERT_EQ(lockstep("runs show --spec " + id + json + kept + " > " + form).exit_code, 0);
    EXPECT_THAT(lockstep("train --dry-run " + form).out, HasSubstr("data_dir: \"" + store.string() + "/caf"));
    const auto again = nlohmann::json::parse(lockstep("train --dry-run --json " + form).out);
    EXPECT_EQ(again["spec"], nlohmann::json::parse(run.out)["spec"]) << form;
  }
}

TEST_F(Strangers, a_path_that_is_no_text_is_named_in_errors) {
  const std::string place = store.string() + "/caf\xe9";
  for (const std::string& line :
       Texts{"train --data digits --weights '" + place + "/none.safetensors'",
             "train --data mnist --data-dir '" + place + "'", "train --data 'folder:" + place + "'",
             "train '" + place + ".yaml'", "report '" + place + "'", "runs import '" + place + ".jsonl'",
             "compare '" + place + "' b", "study '" + place + ".yaml'"}) {
    const ProgramRun run = lockstep(line);
    EXPECT_EQ(run.exit_code, 3) << line << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr("caf\\xe9"), Not(HasSubstr("unforeseen")))) << line;
  }
}

}  // namespace
}  // namespace lockstep::testing
