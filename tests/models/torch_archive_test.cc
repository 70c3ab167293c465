// Archives as torch.save writes them, put together by hand: this machine's libtorch cannot write a
// state_dict.
#include "lockstep/models/torch_archive.h"

#include <caffe2/serialize/inline_container.h>
#include <gtest/gtest.h>

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
    global("torch._utils", "_rebuild_tensor_v2")
        .raw("((")
        .text("storage")
        .global("torch", "FloatStorage")
        .text(key);
    text("cpu")
        .integer(value.numel())
        .raw("tQ")
        .integer(offset)
        .integers(value.sizes())
        .integers(value.strides());
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

}  // namespace
}  // namespace lockstep::models
