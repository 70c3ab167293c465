#include "lockstep/data/get/sources.h"

#include <fmt/core.h>

#include "lockstep/base/error.h"
#include "lockstep/record/catalogue_data.h"

namespace lockstep::data {
namespace {

RemoteFile gzip_file(const std::string& name, const std::string& sha256) {
  return {name + ".gz", Packing::gzip, {{name, sha256, ""}}};
}

RemoteSet mnist() {
  return {"mnist",
          "mnist",
          {"https://ossci-datasets.s3.amazonaws.com/mnist/",
           "https://storage.googleapis.com/cvdf-datasets/mnist/", "http://yann.lecun.com/exdb/mnist/"},
          {gzip_file("train-images-idx3-ubyte",
                     "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
           gzip_file("train-labels-idx1-ubyte",
                     "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
           gzip_file("t10k-images-idx3-ubyte",
                     "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
           gzip_file("t10k-labels-idx1-ubyte",
                     "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2")}};
}

RemoteSet fashion_mnist() {
  return {"fashion-mnist",
          "fashion-mnist",
          {"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
           "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/"},
          {gzip_file("train-images-idx3-ubyte",
                     "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"),
           gzip_file("train-labels-idx1-ubyte",
                     "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"),
           gzip_file("t10k-images-idx3-ubyte",
                     "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"),
           gzip_file("t10k-labels-idx1-ubyte",
                     "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34")}};
}

Member cifar_member(const std::string& name, const std::string& sha256) {
  return {name, sha256, "cifar-10-batches-bin/" + name};
}

RemoteSet cifar10() {
  return {
      "cifar10",
      "cifar-10-batches-bin",
      {"https://www.cs.toronto.edu/~kriz/"},
      {{"cifar-10-binary.tar.gz",
        Packing::tar_gzip,
        {cifar_member("data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"),
         cifar_member("data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"),
         cifar_member("data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"),
         cifar_member("data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"),
         cifar_member("data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"),
         cifar_member("test_batch.bin",
                      "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b")}}}};
}

}  // namespace

RemoteSet remote_set(std::string_view name) {
  if (name == "mnist") return mnist();
  if (name == "fashion-mnist") return fashion_mnist();
  if (name == "cifar10") return cifar10();
  const record::DataEntry* entry = record::find_entry(record::data_entries(), name);
  if (entry == nullptr) record::data_entry(name);  // throws, with a suggestion
  throw base::ConfigError(fmt::format("data set '{}' cannot be fetched: {}.", name, entry->how_to_get));
}

}  // namespace lockstep::data
