#include "lockstep/record/spec_validate.h"

#include "lockstep/record/catalogue_data.h"
#include "lockstep/record/catalogue_input.h"
#include "lockstep/record/catalogue_models.h"
#include "lockstep/record/catalogue_parts.h"
#include "tests/record/messages.h"

namespace lockstep::record {
namespace {

using ::testing::HasSubstr;

RunSpec with(std::initializer_list<std::pair<const char*, const char*>> settings) {
  RunSpec spec;
  for (const auto& [name, text] : settings) set_field(spec, name, text, "");
  return spec;
}

std::string complaint(std::initializer_list<std::pair<const char*, const char*>> settings) {
  return complaint_of([&] { require_valid(with(settings), Surroundings{}); });
}

TEST(SpecValidation, accepts_the_default_run) {
  EXPECT_EQ(complaint({}), "(no complaint)");
}

TEST(SpecValidation, accepts_every_model_on_every_data_set_of_its_task_and_refuses_the_others) {
  for (const ModelEntry& model : model_entries()) {
    for (const DataEntry& data : data_entries()) {
      RunSpec spec;
      spec.model = model.name;
      spec.data = std::string(data.name) + (data.source == Source::users_path ? ":/x" : "");
      EXPECT_EQ(problems_of(spec, {}).empty(), model.task == data.task) << spec.model << " on " << spec.data;
    }
  }
}

TEST(SpecValidation, refuses_two_ways_to_say_the_batch) {
  EXPECT_THAT(complaint({{"batch_size", "8"}, {"global_batch", "16"}}), HasSubstr("only one of them may be"));
}

TEST(SpecValidation, refuses_a_batch_that_leaves_a_worker_without_samples) {
  EXPECT_THAT(complaint({{"workers", "4"}, {"global_batch", "3"}}),
              HasSubstr("nearest that works: global_batch 4."));
  EXPECT_THAT(complaint({{"batch_size", "4"}, {"accumulate", "8"}}), HasSubstr("accumulate 4."));
}

TEST(SpecValidation, refuses_targets_that_cannot_be_measured) {
  EXPECT_THAT(complaint({{"target_loss", "1"}, {"target_accuracy", "0.9"}}), HasSubstr("a run has one"));
  EXPECT_THAT(complaint({{"model", "pilotnet"}, {"data", "road"}, {"target_accuracy", "0.9"}}),
              HasSubstr("has no labels"));
  EXPECT_THAT(complaint({{"target_accuracy", "0.9"}, {"validate_every", "0"}}),
              HasSubstr("validate_every 1"));
}

TEST(SpecValidation, refuses_a_loss_that_the_data_cannot_have) {
  EXPECT_THAT(complaint({{"model", "pilotnet"}, {"data", "road"}, {"loss", "cross-entropy"}}),
              HasSubstr("has no labels. The nearest that works: loss mse."));
  EXPECT_THAT(complaint({{"data", "digits"}, {"loss", "mse"}}),
              HasSubstr("has labels, not values to come near. The nearest that works: loss cross-entropy."));
  EXPECT_EQ(complaint({{"data", "digits"}, {"loss", "cross-entropy"}}), "(no complaint)");
  EXPECT_EQ(complaint({{"model", "restorer"}, {"data", "texture"}, {"loss", "mse"}}), "(no complaint)");
}

TEST(SpecValidation, refuses_what_makes_no_sense_with_dp) {
  EXPECT_EQ(complaint({{"strategy", "dp"}, {"workers", "3"}, {"keep_originals", "true"}}), "(no complaint)");
  EXPECT_EQ(complaint({{"strategy", "dp"}, {"workers", "3"}, {"buffers", "sync"}}), "(no complaint)");
  for (const char* buffers : {"local", "average"})
    EXPECT_THAT(complaint({{"strategy", "dp"}, {"buffers", buffers}}), HasSubstr("first replica's buffers"));
  EXPECT_THAT(complaint({{"strategy", "dp"}, {"overlap", "on"}}), HasSubstr("overlap off"));
  EXPECT_THAT(complaint({{"strategy", "ddp"}, {"threaded_scatter", "true"}}),
              HasSubstr("threaded_scatter 'true' is refused: it is a switch of strategy dp"));
}

TEST(SpecValidation, checks_the_models_options_by_name) {
  EXPECT_THAT(complaint({{"model", "vit"}, {"model_options", "widht=8"}}),
              HasSubstr("The nearest that works: width."));
  EXPECT_THAT(complaint({{"model", "lenet5"}, {"model_options", "width=8"}}),
              HasSubstr("model lenet5 has no options"));
  EXPECT_THAT(complaint({{"model", "vit"}, {"model_options", "width=10"}}), HasSubstr("works: width=12."));
  EXPECT_THAT(complaint({{"model", "vit"}, {"model_options", "depth=0"}}), HasSubstr("works: depth=1."));
  EXPECT_THAT(complaint({{"model", "deepwide"}, {"model_options", "width=100000000"}}),
              HasSubstr("at most 1000000. The nearest that works: width=1000000."));
}

TEST(SpecValidation, checks_the_image_size) {
  EXPECT_THAT(complaint({{"model", "alexnet"}, {"image_size", "32"}}),
              HasSubstr("nearest that works: image_size 63."));
  EXPECT_THAT(complaint({{"model", "pilotnet"}, {"data", "road"}, {"image_size", "32"}}),
              HasSubstr("66x200 images only"));
  EXPECT_THAT(complaint({{"model", "vit"}, {"image_size", "30"}}), HasSubstr("image_size 32"));
}

TEST(SpecValidation, refuses_compression_where_nothing_can_be_saved_or_sent) {
  EXPECT_THAT(complaint({{"workers", "2"}, {"compression", "f16"}, {"precision", "f64"}}),
              HasSubstr("exact comparisons"));
  EXPECT_THAT(complaint({{"workers", "2"}, {"compression", "bf16"}, {"precision", "bf16"}}),
              HasSubstr("16 bits already"));
  EXPECT_THAT(complaint({{"workers", "1"}, {"compression", "f16"}}),
              HasSubstr("strategy single does not compress"));
  EXPECT_TRUE(problems_of(with({{"workers", "2"}, {"compression", "f16"}}), {}).empty());
  EXPECT_TRUE(
      problems_of(with({{"strategy", "horovod"}, {"workers", "2"}, {"compression", "bf16"}}), {}).empty());
}

TEST(SpecValidation, refuses_what_pytorch_lacks_before_the_engine_does) {
  using Settings = std::initializer_list<std::pair<const char*, const char*>>;
  const auto by_torch = [](Settings settings, int gpus = 0) {
    RunSpec spec = with({{"engine", "torch"}, {"workers", "2"}});
    for (const auto& [name, text] : settings) set_field(spec, name, text, "");
    return complaint_of([&] { require_valid(spec, Surroundings{1, gpus}); });
  };
  EXPECT_EQ(by_torch({}), "(no complaint)");
  EXPECT_EQ(
      by_torch({{"checkpoint_epochs", "2"}}),
      "checkpoint_epochs '2' is refused: engine torch keeps no checkpoints. The nearest that works: engine "
      "lockstep, or no checkpoint_epochs.");
  EXPECT_THAT(by_torch({{"checkpoint_time", "10m"}}),
              HasSubstr("checkpoint_time '600s' is refused: engine torch"));
  EXPECT_THAT(by_torch({{"resume", "runs/7"}}),
              HasSubstr("resume 'runs/7' is refused: engine torch keeps no"));
  EXPECT_THAT(by_torch({{"trace", "t.json"}}), HasSubstr("engine torch writes no trace"));
  EXPECT_THAT(by_torch({{"overlap", "off"}}), HasSubstr("DistributedDataParallel always overlaps"));
  EXPECT_EQ(by_torch({{"overlap", "off"}, {"workers", "1"}}), "(no complaint)");
  EXPECT_THAT(by_torch({{"device_memory", "512MiB"}}), HasSubstr("PyTorch has no memory cap on the CPU"));
  EXPECT_EQ(by_torch({{"device_memory", "512MiB"}}, 2), "(no complaint)");
  EXPECT_THAT(by_torch({{"export_weights", "w"}, {"strategy", "zero3"}}, 2),
              HasSubstr("weights are divided among"));
  EXPECT_THAT(by_torch({{"model", "resnet18"}, {"buffers", "average"}}, 2),
              HasSubstr("does not average buffers. The nearest that works: buffers broadcast."));
  EXPECT_THAT(by_torch({{"model", "resnet18"}, {"buffers", "sync"}}), HasSubstr("SyncBatchNorm needs GPUs"));
  EXPECT_EQ(by_torch({{"model", "resnet18"}, {"buffers", "sync"}}, 2), "(no complaint)");
  EXPECT_EQ(by_torch({{"buffers", "average"}}), "(no complaint)");  // lenet5 has no statistics
  EXPECT_EQ(by_torch({{"compression", "bf16"}}),
            "compression 'bf16' is refused: PyTorch's gloo does not reduce bf16. The nearest that works: "
            "compression "
            "f16.");
  EXPECT_THAT(by_torch({{"compression", "bf16"}, {"backend", "gloo"}}, 2), HasSubstr("backend nccl"));
  EXPECT_EQ(by_torch({{"compression", "bf16"}}, 2), "(no complaint)");
  EXPECT_EQ(by_torch({{"compression", "f16"}}), "(no complaint)");
  EXPECT_EQ(complaint({{"compression", "bf16"}, {"backend", "gloo"}, {"workers", "2"}}), "(no complaint)");
  EXPECT_EQ(complaint({{"checkpoint_epochs", "2"}, {"overlap", "off"}, {"workers", "2"}}), "(no complaint)");
}

TEST(SpecValidation, refuses_to_recompute_where_nothing_can_be_dropped) {
  for (const char* strategy : {"ddp", "zero1", "zero3"})
    EXPECT_EQ(
        complaint({{"recompute", "true"}, {"strategy", strategy}, {"workers", "2"}}),
        "recompute 'true' is refused: it drops the activations of blocks and chains of layers, and model "
        "lenet5 has none. The nearest that works: accumulate 2.");
  EXPECT_THAT(complaint({{"recompute", "true"}, {"model", "deepwide"}, {"model_options", "depth=2"}}),
              HasSubstr("a chain of 2 is too short"));
  EXPECT_EQ(complaint({{"recompute", "true"}, {"model", "deepwide"}, {"model_options", "depth=3"}}),
            "(no complaint)");
  EXPECT_EQ(complaint({{"recompute", "true"}, {"model", "vit"}}), "(no complaint)");
}

TEST(SpecValidation, refuses_to_train_more_layers_than_there_are) {
  EXPECT_EQ(
      complaint({{"trainable", "last:100"}}),
      "trainable 'last:100' is refused: model lenet5 has 5 layers with parameters. The nearest that works: "
      "trainable last:5.");
  EXPECT_EQ(complaint({{"trainable", "last:5"}}), "(no complaint)");
  EXPECT_THAT(complaint({{"model", "vit"}, {"model_options", "depth=3"}, {"trainable", "last:19"}}),
              HasSubstr("trainable last:18."));
  EXPECT_EQ(complaint({{"model", "own.pt"}, {"trainable", "last:19"}}), "(no complaint)");
  EXPECT_THAT(complaint({{"model", "restorer"}, {"data", "texture"}, {"trainable", "head"}}),
              HasSubstr("has no head to train alone. The nearest that works: trainable last:1."));
}

TEST(ModelParts, are_known_of_every_model) {
  EXPECT_EQ(names_of(model_parts()), names_of(model_entries()));
}

TEST(SpecValidation, reports_every_problem_at_once) {
  const auto problems =
      problems_of(with({{"strategy", "single"}, {"workers", "2"}, {"compression", "f16"}}), {});
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].field, "strategy");
  EXPECT_EQ(problems[1].field, "compression");
}

TEST(InputShape, is_the_datas_own_size_or_the_models_smallest_whichever_is_larger) {
  EXPECT_EQ(input_shape(with({{"model", "lenet5"}, {"data", "mnist"}})), (ImageShape{1, 28, 28}));
  EXPECT_EQ(input_shape(with({{"model", "vgg16"}, {"data", "mnist"}})), (ImageShape{3, 32, 32}));
  EXPECT_EQ(input_shape(with({{"model", "alexnet"}, {"data", "cifar10"}})), (ImageShape{3, 64, 64}));
  EXPECT_EQ(input_shape(with({{"model", "resnet18"}, {"data", "cifar10"}, {"image_size", "48"}})),
            (ImageShape{3, 48, 48}));
  EXPECT_EQ(input_shape(with({{"model", "pilotnet"}, {"data", "driving"}})), (ImageShape{3, 66, 200}));
}

}  // namespace
}  // namespace lockstep::record
