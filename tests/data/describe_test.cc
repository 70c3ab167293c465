#include "lockstep/data/describe.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/data/support.h"

namespace lockstep::data {
namespace {

using ::testing::HasSubstr;

// Sets an environment variable for one test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

const record::DataEntry& mnist() {
  return record::data_entry("mnist");
}

void write_mnist(const std::filesystem::path& directory, const std::string& ending = "") {
  for (const std::string part : {"train", "t10k"}) {
    write_text(directory / (part + "-images-idx3-ubyte" + ending), "x");
    write_text(directory / (part + "-labels-idx1-ubyte" + ending), "x");
  }
}

TEST(Search, looks_in_the_stated_order_and_takes_the_first_that_has_the_set) {
  const TemporaryDirectory given, variable, xdg;
  const Variable data("LOCKSTEP_DATA", variable.path().string());
  const Variable home("XDG_DATA_HOME", xdg.path().string());
  const auto places = places_of(mnist(), given.path());
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[0].directory, given / "mnist");
  EXPECT_EQ(places[1].directory, variable / "mnist");
  EXPECT_EQ(places[2].directory, xdg / "lockstep/mnist");
  EXPECT_EQ(places[3].source, "Debian's packages");
  write_mnist(xdg / "lockstep/mnist", ".gz");
  EXPECT_EQ(find_set(mnist(), given.path()), xdg / "lockstep/mnist");
  write_text(variable / "mnist/train-images-idx3-ubyte", "x");
  EXPECT_EQ(find_set(mnist(), given.path()), xdg / "lockstep/mnist");  // not all of it is there
  write_mnist(variable / "mnist");
  EXPECT_EQ(find_set(mnist(), given.path()), variable / "mnist");
  EXPECT_EQ(describe(mnist(), given.path()).directory, variable / "mnist");
  EXPECT_EQ(download_directory({}), variable.path());
  EXPECT_EQ(download_directory(given.path()), given.path());
}

TEST(Search, refuses_a_given_directory_that_has_the_set_without_its_files) {
  const TemporaryDirectory given, variable;
  const Variable data("LOCKSTEP_DATA", variable.path().string());
  write_mnist(variable / "mnist");
  write_text(given / "mnist/train-images-idx3-ubyte", "x");
  EXPECT_THAT(data_complaint([&] { find_set(mnist(), given.path()); }),
              HasSubstr((given / "mnist/train-labels-idx1-ubyte").string() + " is missing"));
}

TEST(Search, lists_every_place_and_the_next_step_when_a_set_is_nowhere) {
  const TemporaryDirectory empty;
  const Variable data("LOCKSTEP_DATA", empty.path().string());
  const Variable home("XDG_DATA_HOME", empty.path().string());
  const std::string complaint = data_complaint([&] { find_set(record::data_entry("cifar10"), {}); });
  EXPECT_THAT(complaint, HasSubstr("data set 'cifar10' was not found"));
  EXPECT_THAT(complaint, HasSubstr((empty / "cifar-10-batches-bin").string() + " (LOCKSTEP_DATA)"));
  EXPECT_THAT(complaint, HasSubstr("lockstep data get cifar10"));
}

TEST(Describe, says_of_every_set_what_it_is_and_how_to_get_it) {
  const TemporaryDirectory empty;
  const auto all = describe_all(empty.path());
  EXPECT_EQ(all.size(), record::data_entries().size());
  for (const SetDescription& set : all) {
    const auto json = to_json(set);
    EXPECT_FALSE(json["how_to_get"].get<std::string>().empty()) << set.name;
    EXPECT_EQ(json["shape"].size(), 3u);
  }
}

TEST(Describe, counts_procedural_sets_as_they_are_drawn) {
  for (const char* name : {"digits", "road", "texture"}) {
    const SetDescription set = describe(record::data_entry(name), {});
    EXPECT_TRUE(set.available);
    EXPECT_EQ(load_set({name, Split::validation, {}, {}, 1, {}})->size(), set.val_samples) << name;
  }
}

TEST(DataSet, of_every_name_in_the_catalogue_can_be_loaded_or_says_why_not) {
  const TemporaryDirectory empty;
  const Variable data("LOCKSTEP_DATA", empty.path().string());
  for (const record::DataEntry& entry : record::data_entries()) {
    LoadRequest request;
    request.data = entry.name;
    if (entry.source == record::Source::users_path) request.data += ":" + empty.path().string();
    request.samples = 4;
    try {
      EXPECT_EQ(load_set(request)->size(), 4u) << entry.name;
    } catch (const base::DataError&) {
      EXPECT_NE(entry.source, record::Source::procedural) << entry.name;
    }
  }
}

TEST(DataSet, takes_from_a_spec_what_it_needs) {
  record::RunSpec spec;
  spec.data = "cifar10";
  spec.model = "alexnet";
  spec.workers = 2;
  spec.global_batch = 48;
  spec.seed = 9;
  const TransformOptions train = transform_options(spec, Split::train);
  EXPECT_TRUE(train.crop && train.flip);
  EXPECT_EQ(train.input, (ImageShape{3, 64, 64}));
  const TransformOptions validation = transform_options(spec, Split::validation);
  EXPECT_FALSE(validation.crop || validation.flip);
  const SamplerOptions sampler = sampler_options(spec, Split::train, 100, 1);
  EXPECT_EQ(sampler.global_batch, 48u);
  EXPECT_TRUE(sampler.shuffle);
  EXPECT_FALSE(sampler_options(spec, Split::validation, 100, 1).shuffle);
  spec.augment = "none";
  EXPECT_FALSE(transform_options(spec, Split::train).crop);
  spec.augment = "flip";
  EXPECT_FALSE(transform_options(spec, Split::train).crop);
  EXPECT_TRUE(transform_options(spec, Split::train).flip);
}

}  // namespace
}  // namespace lockstep::data
