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

TEST_F(Strangers, what_others_wrote_into_a_record_never_reaches_the_terminal_raw) {
  const std::string evil =
      "\x1b]0;title\x07\x1b[2J\xC2\x9B"
      "31m\x7f\nx";
  nlohmann::json record = foreign_record();
  for (const char* field : {"model", "data", "strategy", "backend"}) record["spec"][field] = evil + field;
  for (const char* field : {"cell", "version", "started_at"}) record[field] = evil;
  record["study"] = "theirs";
  record["repeat"] = 1;
  record["machine"]["host"] = evil;
  record["warnings"] = {evil};
  record["status"] = "failed";
  record["failure"] = {{"rank", 0}, {"kind", evil}, {"message", evil}};
  nlohmann::json other = record;
  other["id"] = "another";
  write("theirs.jsonl", record.dump() + "\n" + other.dump() + "\n");
  ASSERT_EQ(lockstep("runs import theirs.jsonl").exit_code, 0);
  const std::string id = record["id"];
  for (const std::string& line :
       Texts{"runs list", "runs list --json", "runs show " + id, "runs show --json " + id,
             "compare " + id + " another", "compare --json " + id + " another", "runs export",
             "runs export --format csv", "report theirs", "report theirs --explain",
             "report theirs --format html", "report theirs --format md", "report theirs --format csv",
             "report theirs --format latex", "report theirs --format json", "runs list --color always",
             "runs show --color never " + id}) {
    const ProgramRun run = lockstep(line);
    EXPECT_THAT(run.exit_code, AnyOf(0, 3)) << line << run.err;
    EXPECT_NE(run.out + run.err, "") << line;
    std::string shown = run.out + run.err;
    if (line.find("always") != std::string::npos)  // our own colours
      for (const char* tone : {"\x1b[2m", "\x1b[0m", "\x1b[1m", "\x1b[1;31m"})
        for (std::size_t at = 0; (at = shown.find(tone)) != std::string::npos;)
          shown.erase(at, std::string(tone).size());
    EXPECT_FALSE(holds_control_characters(shown)) << line << "\n" << shown;
  }
  EXPECT_THAT(lockstep("runs list").out, HasSubstr("\\x0ax")) << "a row stays a row";
}

TEST_F(Strangers, the_words_of_a_study_never_reach_the_terminal_raw) {
  write("theirs.yaml",
        "name: theirs\ntitle: \"\\e]0;title\\a\"\nquestion: \"Is it \\e[31mso?\"\nnotes: \"\\x9b2J\"\n"
        "base: {data: digits, steps: 2}\naxes: {\"the \\e[2J size\": {\"\\e[5m\": {batch_size: 8}}}\n");
  const ProgramRun run = lockstep("study theirs.yaml --progress lines");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_FALSE(holds_control_characters(run.out + run.err)) << run.out << run.err;
  for (const std::string& line :
       Texts{"study theirs.yaml --dry-run", "report theirs", "report theirs --format html", "runs list"}) {
    const ProgramRun shown = lockstep(line);
    EXPECT_EQ(shown.exit_code, 0) << line << shown.err;
    EXPECT_FALSE(holds_control_characters(shown.out + shown.err)) << line << shown.out << shown.err;
  }
}

TEST_F(Strangers, a_spreadsheet_runs_nothing_of_what_a_record_holds) {
  nlohmann::json record = foreign_record();
  record["spec"]["model"] = "=cmd|' /C calc'!A0";
  record["spec"]["data"] = "@SUM(1+1)";
  record["version"] = "+1+2";
  record["cell"] = "-1+cmd";
  record["study"] = "theirs";
  record["repeat"] = 1;
  record["spec"]["optimizer"] = "-7";  // a number, whoever wrote it
  write("theirs.json", record.dump());
  ASSERT_EQ(lockstep("runs import theirs.json").exit_code, 0);
  const std::string csv = lockstep("runs export --format csv").out;
  EXPECT_THAT(csv, AllOf(HasSubstr(",'=cmd|' /C calc'!A0,"), HasSubstr(",'@SUM(1+1),"), HasSubstr(",'+1+2,"),
                         HasSubstr(",'-1+cmd,"), HasSubstr(",-7,")));
  for (const std::string& text : Texts{csv, lockstep("report theirs --format csv").out})
    for (const char* run : {",=", ",@", ",+", "\n=", "\n@", "\n+", "\"=", "\"@", "\"+"})
      EXPECT_THAT(text, Not(HasSubstr(run)));
}

TEST_F(Strangers, records_are_validated_whole_before_any_is_taken_in) {
  const nlohmann::json good = foreign_record();
  const std::pair<const char*, nlohmann::json> wrong[] = {
      {"/spec", 5},         {"/spec", "x"},
      {"/spec/model", 5},   {"/spec/learning_rate", "nan"},
      {"/spec/steps", "8"}, {"/machine", {1, 2}},
      {"/id", "../../x"},   {"/id", "a/b"},
      {"/id", ".."},        {"/id", ""},
      {"/id", "-rf"},       {"/id", std::string(5000, 'x')},
      {"/id", "a\x1b[2J"},  {"/study", "../x"},
      {"/workers", 1e300},  {"/workers", 99999999999999},
      {"/workers", -2},     {"/repeat", 0},
      {"/schema", 2},       {"/schema", -1},
      {"/ledger", 7},       {"/ledger/0/rank", -5},
      {"/warnings", "w"},   {"/steps/samples", {{1}}},
      {"/epochs", nullptr}, {"/status", {}},
      {"/batch", {1}},      {"/per_rank", {{{"rank", "a"}}}}};
  for (const auto& [place, value] : wrong) {
    nlohmann::json bad = good;
    bad[nlohmann::json::json_pointer(place)] = value;
    write("bad.jsonl", good.dump() + "\n" + bad.dump() + "\n");
    const ProgramRun run = lockstep("runs import bad.jsonl");
    EXPECT_EQ(run.exit_code, 3) << place << value << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr("bad.jsonl:2: "), Not(HasSubstr("unforeseen")))) << place << value;
    EXPECT_THAT(runs(), SizeIs(0)) << "the good one before it was taken in: " << place;
  }
  std::string deep = good.dump();
  deep.insert(1, "\"x\":" + std::string(200000, '[') + std::string(200000, ']') + ",");
  write("bad.jsonl", deep + "\n{\"schema\": 1e999}\n");
  EXPECT_EQ(lockstep("runs import bad.jsonl").exit_code, 3);
  write("good.jsonl", good.dump() + "\n");
  EXPECT_EQ(lockstep("runs import good.jsonl").exit_code, 0);
}

TEST_F(Strangers, a_bad_record_in_a_store_is_named_and_left_out) {
  nlohmann::json good = foreign_record();
  good["study"] = "theirs";
  good["cell"] = "workers=2";
  good["repeat"] = 1;
  write("good.json", good.dump());
  ASSERT_EQ(lockstep("runs import good.json").exit_code, 0);
  // As an earlier version took it in.
  nlohmann::json bad = good;
  bad["id"] = "bad-one";
  bad["spec"] = 5;
  fs::create_directory(store / "runs" / "bad-one");
  write("runs/bad-one/spec.json", "5");
  write("runs/bad-one/record.json", bad.dump());
  EXPECT_THAT(lockstep("runs list").out, AllOf(HasSubstr("finished"), HasSubstr("damaged")));
  for (const std::string& line :
       Texts{"runs export", "runs export --format csv", "runs export theirs", "report theirs",
             "compare theirs " + good["id"].get<std::string>(), "runs reindex"}) {
    const ProgramRun run = lockstep(line);
    EXPECT_EQ(run.exit_code, 0) << line << run.err;
  }
  EXPECT_THAT(lockstep("runs export").err, HasSubstr("warning: run bad-one is left out: spec should be"));
  EXPECT_EQ(lockstep("runs show bad-one").exit_code, 1);
  EXPECT_EQ(lockstep("runs rm --force bad-one").exit_code, 0);
}

TEST_F(Strangers, what_is_written_is_its_users_alone_unless_it_is_shared) {
  write("grid.yaml", "name: grid\ntitle: T\nquestion: Q?\nbase: {data: digits, steps: 2}\n");
  const std::string open = "umask 002; ";
  const std::string own =
      open + setting() + "cd '" + store.string() + "'\nexport LOCKSTEP_STORE=\"$PWD/own\"\n" + program();
  ASSERT_EQ(run_shell(own + " train --data digits --workers 2", 60).exit_code, 0);
  ASSERT_EQ(run_shell(own + " study grid.yaml --progress none").exit_code, 0);
  ASSERT_EQ(run_shell(own + " runs export > all.jsonl").exit_code, 0);
  ASSERT_EQ(run_shell(own + " runs import all.jsonl --store imported").exit_code, 0);
  for (const char* place : {"own", "imported"})
    EXPECT_EQ(run_shell("cd '" + store.string() + "'; find " + place + " -perm /077").out, "") << place;
  const std::string shared = own + " train --data digits --shared --store group > run.txt && cd group";
  EXPECT_EQ(run_shell(shared + " && find . ! -perm -060").out, "")
      << "writable for the group, as the umask says";
  // A store that is open stays so; what is new in it is private.
  ASSERT_EQ(run_shell(own + " train --data digits --store group").exit_code, 0);
  EXPECT_EQ(
      run_shell("cd '" + store.string() + "'; find group group/runs -maxdepth 0 -perm -070 | wc -l").out,
      "2\n");
  EXPECT_EQ(
      run_shell("cd '" + store.string() + "'; find group/runs -mindepth 1 -maxdepth 1 -perm /077 | wc -l")
          .out,
      "1\n");
}

TEST_F(Strangers, modules_in_the_current_directory_are_not_imported) {
  for (const char* module : {"torch", "platform", "importlib_metadata", "sitecustomize", "encodings_x"})
    write(std::string(module) + ".py", "open('" + store.string() + "/ran', 'a').write(__name__ + '\\n')\n");
  for (const char* path : {"", "PYTHONPATH=: ", "PYTHONPATH=/nowhere: "}) {
    const std::string here =
        setting() + "cd '" + store.string() + "'\nexport " + path + "PYTHONDONTWRITEBYTECODE=1\n";
    run_shell(here + program() + " doctor", 120);
    run_shell(here + program() + " train --engine torch --data mnist --dry-run");
    run_shell(here + program() + " train --engine torch --data mnist --steps 1");
    std::ifstream mark(store / "ran");
    EXPECT_FALSE(mark) << path << std::string(std::istreambuf_iterator<char>(mark), {});
  }
}

// The address sanitizer's frames are so wide that they overflow a small stack before the program can look at
// it.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kWideFrames = true;
#else
constexpr bool kWideFrames = false;
#endif
// The undefined-behaviour sanitizer asks through a pipe whether an object may be read, and takes it for
// another kind of object where it gets none.
#ifdef LOCKSTEP_SANITIZER_undefined
constexpr bool kNeedsFiles = true;
#else
constexpr bool kNeedsFiles = false;
#endif

TEST_F(Strangers, limits_of_the_shell_are_named_as_the_cause) {
  const std::pair<const char*, const char*> cases[] = {
      {"-f 0", "ulimit -f"}, {"-f 1", "ulimit -f"},  {"-s 64", "ulimit -s"}, {"-s 128", "ulimit -s"},
      {"-n 5", "ulimit -n"}, {"-n 10", "ulimit -n"}, {"-n 16", "ulimit -n"}};
  for (const auto& [limit, cause] : cases) {
    if (kWideFrames && std::string_view(cause) == "ulimit -s") continue;
    if (kNeedsFiles && std::string_view(cause) == "ulimit -n") continue;
    // Through a pipe: files may be what cannot be written.
    const ProgramRun run =
        run_shell("(" + setting() + "ulimit " + limit + "\n" + program() +
                  " train --data digits --workers 2 --steps 400 2>&1; echo code $?) | cat");
    EXPECT_THAT(run.out, AllOf(HasSubstr("error: "), HasSubstr(cause),
                               AnyOf(HasSubstr("code 1"), HasSubstr("code 3"))))
        << limit;
  }
  const ProgramRun small =
      run_shell(setting() + "ulimit -s 256\n" + program() + " train --data digits --workers 2");
  EXPECT_EQ(small.exit_code, 0) << small.err;
  const ProgramRun soft = run_shell(setting() + "ulimit -S -s 64; ulimit -S -n 16\n" + program() +
                                    " train --data digits --workers 2");
  EXPECT_EQ(soft.exit_code, 0) << "what the user may raise is raised: " << soft.err;
}

}  // namespace
}  // namespace lockstep::testing
