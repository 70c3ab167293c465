// Archives as torch.save writes them, put together by hand: this machine's libtorch cannot write a
// state_dict.
#include "lockstep/models/torch_archive.h"

#include <caffe2/serialize/inline_container.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/models/weights.h"
#include "tests/models/models_fixture.h"
#include "tests/models/temporary_directory.h"

namespace lockstep::models {
namespace {

// The opcodes that torch.save uses.
class PickleWriter {
 public:
  PickleWriter& raw(const std::string& bytes) { return bytes_ += bytes, *this; }
  PickleWriter& text(const std::string& text) {
    return raw("X").number(static_cast<std::uint32_t>(text.size())).raw(text);
  }
  PickleWriter& integer(std::int64_t value) { return raw("J").number(static_cast<std::int32_t>(value)); }
  PickleWriter& global(const std::string& module, const std::string& name) {
    return raw("c" + module + "\n" + name + "\n");
  }
  PickleWriter& integers(at::IntArrayRef values) {
    raw("(");
    for (const std::int64_t value : values) integer(value);
    return raw("t");
  }
  PickleWriter& ordered_dict() { return global("collections", "OrderedDict").raw(")R"); }

  // _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks)
  PickleWriter& tensor(const std::string& key, const at::Tensor& value, std::int64_t offset = 0) {
    return strided(key, value.numel(), offset, value.sizes(), value.strides());
  }
  PickleWriter& strided(const std::string& key, std::int64_t values, std::int64_t offset,
                        at::IntArrayRef sizes, at::IntArrayRef strides) {
    global("torch._utils", "_rebuild_tensor_v2")
        .raw("((")
        .text("storage")
        .global("torch", "FloatStorage")
        .text(key);
    text("cpu").integer(values).raw("tQ").integer(offset).integers(sizes).integers(strides);
    return raw("\x89").ordered_dict().raw("tR");
  }
  const std::string& bytes() const { return bytes_; }

 private:
  PickleWriter& number(auto value) {
    return raw(std::string(reinterpret_cast<const char*>(&value), sizeof(value)));
  }
  std::string bytes_ = std::string("\x80\x02", 2);
};

void write_archive(const std::string& path, const std::string& pickle,
                   const std::vector<NamedTensor>& tensors) {
  caffe2::serialize::PyTorchStreamWriter writer(path);
  writer.writeRecord("data.pkl", pickle.data(), pickle.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i].tensor;
    writer.writeRecord("data/" + std::to_string(i), tensor.data_ptr(), tensor.nbytes());
  }
  writer.writeEndOfFile();
}

std::string state_pickle(const std::vector<NamedTensor>& tensors) {
  PickleWriter writer;
  writer.ordered_dict().raw("(");
  for (std::size_t i = 0; i < tensors.size(); ++i)
    writer.text(tensors[i].name).tensor(std::to_string(i), tensors[i].tensor);
  return writer.raw("u}").text("_metadata").ordered_dict().raw("sb.").bytes();
}

TEST(TorchArchive, AStateDictIsReadByName) {
  const TemporaryDirectory directory;
  const Model saved = make_model("lenet5", {}, at::kFloat, 1),
              loaded = make_model("lenet5", {}, at::kFloat, 2);
  write_archive(directory.file("w.pth"), state_pickle(saved.state()), saved.state());
  load_weights(loaded, read_weights(directory.file("w.pth")), "w.pth");
  for (std::size_t i = 0; i < saved.state().size(); ++i) {
    EXPECT_TRUE(saved.state()[i].tensor.equal(loaded.state()[i].tensor)) << saved.state()[i].name;
  }
}

TEST(TorchArchive, ATableInsideACheckpointIsFound) {
  const TemporaryDirectory directory;
  const std::vector<NamedTensor> tensors = {{"x", at::arange(4, at::kFloat)}};
  PickleWriter writer;
  writer.raw("}(")
      .text("epoch")
      .integer(3)
      .text("state_dict")
      .raw("}")
      .text("x")
      .tensor("0", tensors[0].tensor)
      .raw("su.");
  write_archive(directory.file("c.pt"), writer.bytes(), tensors);
  const auto read = read_weights(directory.file("c.pt"));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_TRUE(read[0].tensor.equal(tensors[0].tensor));
}

TEST(TorchArchive, ATensorBeyondItsStorageIsRefused) {
  const TemporaryDirectory directory;
  const std::vector<NamedTensor> tensors = {{"x", at::arange(4, at::kFloat)}};
  PickleWriter writer;
  writer.raw("}").text("x").tensor("0", tensors[0].tensor, 1).raw("s.");
  write_archive(directory.file("bad.pt"), writer.bytes(), tensors);
  EXPECT_THROW(read_weights(directory.file("bad.pt")), base::DataError);
}

TEST(TorchArchive, AnythingElseIsRefused) {
  const TemporaryDirectory directory;
  write_archive(directory.file("empty.pt"), PickleWriter().raw("}.").bytes(), {});
  EXPECT_THROW(read_weights(directory.file("empty.pt")), base::DataError);
  write_archive(directory.file("missing.pt"),
                PickleWriter().raw("}").text("x").tensor("7", at::zeros({2})).raw("s.").bytes(), {});
  EXPECT_THROW(read_weights(directory.file("missing.pt")), base::DataError);
  std::ofstream(directory.file("zip.pt")) << "PK\x03\x04 and nothing more";
  EXPECT_THROW(read_weights(directory.file("zip.pt")), base::DataError);
}

// The file's bytes, to change some of them.
std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string complaint_about(const std::string& path) {
  try {
    read_weights(path);
  } catch (const base::DataError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(TorchArchive, ATensorOfMoreValuesThanItsStorageIsRefusedBeforeItTakesMemory) {
  const TemporaryDirectory directory;
  const std::vector<NamedTensor> tensors = {{"x", at::arange(2, at::kFloat)}};
  const std::string path = directory.file("zero_stride.pt");
  for (const auto& [sizes, strides] :
       {std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>{{1 << 30}, {0}},
        {{1 << 15, 1 << 15}, {0, 0}},
        {{0, 1 << 30, 1 << 30, 1 << 30}, {0, 0, 0, 0}}}) {
    write_archive(path,
                  PickleWriter().raw("}").text("x").strided("0", 2, 0, sizes, strides).raw("s.").bytes(),
                  tensors);
    EXPECT_LT(std::filesystem::file_size(path), 1500U);
    EXPECT_THAT(complaint_about(path), testing::AnyOf(testing::HasSubstr("more values than its storage"),
                                                      testing::HasSubstr("shape is impossible")));
  }
}

TEST(TorchArchive, ManyTensorsOfOneStorageShareItsMemory) {
  const TemporaryDirectory directory;
  const std::vector<NamedTensor> tensors = {{"x", at::arange(1000, at::kFloat)}};
  PickleWriter writer;
  writer.raw("}(");
  for (int i = 0; i < 100; ++i) writer.text("x" + std::to_string(i)).tensor("0", tensors[0].tensor);
  write_archive(directory.file("shared.pt"), writer.raw("u.").bytes(), tensors);
  const auto read = read_weights(directory.file("shared.pt"));
  ASSERT_EQ(read.size(), 100U);
  for (const NamedTensor& named : read) {
    EXPECT_EQ(named.tensor.data_ptr(), read[0].tensor.data_ptr());
    EXPECT_TRUE(named.tensor.equal(tensors[0].tensor));
  }
}

TEST(TorchArchive, RecordsThatClaimMoreThanTheFileHasAreRefused) {
  const TemporaryDirectory directory;
  const std::vector<NamedTensor> tensors = {{"x", at::zeros({std::int64_t{1} << 20})}};
  const std::string path = directory.file("packed.pt");
  {
    caffe2::serialize::PyTorchStreamWriter writer(path);
    const std::string pickle = state_pickle(tensors);
    writer.writeRecord("data.pkl", pickle.data(), pickle.size());
    writer.writeRecord("data/0", tensors[0].tensor.data_ptr(), tensors[0].tensor.nbytes(), true);
    writer.writeEndOfFile();
  }
  EXPECT_LT(std::filesystem::file_size(path), 20'000U);
  EXPECT_THAT(complaint_about(path), testing::HasSubstr("'data/0' is compressed"));

  write_archive(path, state_pickle({{"x", at::zeros({4})}}), {{"x", at::zeros({4})}});
  std::string bytes = bytes_of(path);
  const std::size_t entry = bytes.rfind("PK\x01\x02");  // of the last record that the list names
  bytes.replace(entry + 20, 8, std::string("\xf0\xff\xff\x7f\xf0\xff\xff\x7f", 8));
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_THAT(complaint_about(path), testing::HasSubstr("claim more bytes than the file has"));
}

TEST(TorchArchive, ADamagedOrShortenedArchiveIsRefused) {
  const TemporaryDirectory directory;
  const std::vector<NamedTensor> tensors = {{"x", at::arange(8, at::kFloat)}};
  const std::string path = directory.file("whole.pt"), cut = directory.file("cut.pt");
  write_archive(path, state_pickle(tensors), tensors);
  const std::string bytes = bytes_of(path);
  for (std::size_t length = 2; length < bytes.size(); ++length) {
    std::ofstream(cut, std::ios::binary | std::ios::trunc) << bytes.substr(0, length);
    EXPECT_THROW(read_weights(cut), base::DataError) << length;
  }
  const float two = 2.0F;
  const std::size_t value = bytes.find(std::string(reinterpret_cast<const char*>(&two), sizeof(two)));
  ASSERT_NE(value, std::string::npos);
  std::string changed = bytes;
  changed[value + 3] = '\x41';
  std::ofstream(cut, std::ios::binary | std::ios::trunc) << changed;
  EXPECT_THAT(complaint_about(cut), testing::HasSubstr("checksum"));
}

TEST(TorchArchive, APickleThatJoinsNamesOverAndOverIsRefused) {
  const TemporaryDirectory directory;
  std::string pickle = PickleWriter().text("a").raw("q").bytes() + std::string(1, '\0');
  for (int i = 0; i < 60; ++i) pickle += std::string("h\0\x93q\0h\0", 7);
  write_archive(directory.file("names.pt"), pickle + ".", {});
  EXPECT_THAT(complaint_about(directory.file("names.pt")),
              testing::HasSubstr("it names something by no name"));
}

// A byte or four a time, each of which would take a hundred.
TEST(TorchArchive, APickleThatRemembersOrRepeatsWithoutEndIsRefused) {
  const TemporaryDirectory directory;
  write_archive(directory.file("memo.pt"), "\x80\x02N" + std::string(5 << 20, '\x94') + ".", {});
  EXPECT_THAT(complaint_about(directory.file("memo.pt")), testing::HasSubstr("it holds more than"));
  write_archive(directory.file("names.pt"), std::string("\x80\x02}(X\x01\0\0\0aK\x01X\x01\0\0\0aK\x02u.", 22),
                {});
  EXPECT_THAT(complaint_about(directory.file("names.pt")), testing::HasSubstr("the name 'a' twice"));
}

}  // namespace
}  // namespace lockstep::models
