#include "lockstep/models/torch_archive.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "lockstep/base/error.h"
#include "lockstep/base/printable.h"
#include "lockstep/models/pickle.h"
#include "lockstep/models/zip.h"

namespace lockstep::models {
namespace {

using Kind = PickleNode::Kind;

[[noreturn]] void refuse_archive(const std::string& source, const std::string& why) {
  throw base::DataError(
      fmt::format("the weights in '{}' cannot be read: {}. Save them with safetensors, or "
                  "torch.save(model.state_dict(), path)",
                  source, why));
}

// A program is never run to get at its weights.
[[noreturn]] void refuse_script(const std::string& source) {
  throw base::DataError(fmt::format(
      "'{}' is a TorchScript archive: a program, and reading it could run its code. Weights are read as "
      "data only: save them with torch.save(module.state_dict(), path) or with safetensors. To train the "
      "program itself, if you trust it, give it as --model.",
      source));
}

// The storage classes' names, as torch.save writes them.
at::ScalarType storage_type(const std::string& global, const std::string& source) {
  static const std::map<std::string, at::ScalarType> kTypes = {
      {"torch FloatStorage", at::kFloat}, {"torch DoubleStorage", at::kDouble},
      {"torch HalfStorage", at::kHalf},   {"torch BFloat16Storage", at::kBFloat16},
      {"torch LongStorage", at::kLong},   {"torch IntStorage", at::kInt},
      {"torch ByteStorage", at::kByte},   {"torch BoolStorage", at::kBool}};
  const auto found = kTypes.find(global);
  if (found == kTypes.end())
    refuse_archive(source, fmt::format("it holds a storage of the type '{}'", global));
  return found->second;
}

std::vector<std::int64_t> integers(const PickleNode& node, const std::string& source) {
  std::vector<std::int64_t> values;
  for (const PickleNode* item : node.items) {
    if (item->kind != Kind::integer || item->integer < 0)
      refuse_archive(source, "a shape is not made of whole numbers");
    values.push_back(item->integer);
  }
  return values;
}

// How many values the sizes describe; refused when no memory could hold them (also beside a size of zero).
std::int64_t values_of(const std::vector<std::int64_t>& sizes, const std::string& source) {
  std::int64_t values = 1;
  bool empty = false;
  for (const std::int64_t size : sizes) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(values, std::max<std::int64_t>(size, 1), &values))
      refuse_archive(source, "a tensor's shape is impossible");
  }
  return empty ? 0 : values;
}

// How many elements of a storage a strided tensor reaches; refused when that overflows.
std::int64_t reach(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
                   std::int64_t offset, const std::string& source) {
  std::int64_t last = offset;
  if (sizes.size() != strides.size()) refuse_archive(source, "a tensor's shape and strides differ in length");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    std::int64_t step = 0;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) ||
        __builtin_add_overflow(last, step, &last)) {
      refuse_archive(source, "a tensor's shape is impossible");
    }
  }
  return last + 1;
}

class ArchiveReader {
 public:
  explicit ArchiveReader(const std::string& path) : path_(path), archive_(path) {}

  std::vector<NamedTensor> read_state() {
    if (archive_.has("constants.pkl")) refuse_script(path_);
    std::vector<std::byte> bytes(archive_.record_bytes("data.pkl"));
    archive_.read("data.pkl", bytes);
    const Pickle pickle(bytes, path_);
    std::vector<NamedTensor> tensors;
    std::set<std::string_view> names;
    for (const auto& [name, value] : state_table(pickle.root()).entries) {
      if (name->kind != Kind::text) refuse_archive(path_, "its table has a key that is not a name");
      if (base::first_unprintable(name->text)) refuse_archive(path_, "its table has a name that is no text");
      if (!names.insert(name->text).second)
        refuse_archive(path_, fmt::format("its table has the name '{}' twice", base::printable(name->text)));
      if (is_tensor(*value)) tensors.push_back({name->text, tensor(*value)});
    }
    if (tensors.empty())
      refuse_archive(path_, "it holds no table of tensors by name (a whole pickled model has code in it)");
    return tensors;
  }

 private:
  // Checkpoints often keep the table under a name beside other things.
  static const PickleNode& state_table(const PickleNode& root) {
    for (const auto& [name, value] : root.entries) {
      if ((name->text == "state_dict" || name->text == "model") && !value->entries.empty()) return *value;
    }
    return root;
  }

  static bool is_call(const PickleNode& node, const char* callable) {
    return node.kind == Kind::call && node.items[0]->text == callable &&
           node.items[1]->kind == Kind::sequence;
  }
  static bool is_tensor(const PickleNode& node) {
    return is_call(node, "torch._utils _rebuild_tensor_v2") ||
           is_call(node, "torch._utils _rebuild_parameter");
  }

  at::Tensor tensor(const PickleNode& node) {
    const auto& arguments = node.items[1]->items;
    if (is_call(node, "torch._utils _rebuild_parameter")) {
      if (arguments.empty() || !is_call(*arguments[0], "torch._utils _rebuild_tensor_v2"))
        refuse_archive(path_, "a parameter holds no tensor");
      return tensor(*arguments[0]);
    }
    if (arguments.size() < 4 || arguments[1]->kind != Kind::integer || arguments[1]->integer < 0) {
      refuse_archive(path_, "a tensor is described by too little");
    }
    return strided(storage(*arguments[0]), arguments[1]->integer, integers(*arguments[2], path_),
                   integers(*arguments[3], path_));
  }

  // A view of the storage: however many there are, they take no more memory than the file has bytes. One with
  // more values than its storage (a stride of zero) would, as soon as it is copied.
  at::Tensor strided(const at::Tensor& values, std::int64_t offset, const std::vector<std::int64_t>& sizes,
                     const std::vector<std::int64_t>& strides) {
    if (reach(sizes, strides, offset, path_) > values.numel())
      refuse_archive(path_, "a tensor reaches beyond its storage");
    if (values_of(sizes, path_) > values.numel())
      refuse_archive(path_, "a tensor has more values than its storage");
    return at::as_strided(values, sizes, strides, offset);
  }

  // ("storage", class, key, place, count): the values lie in the record data/<key>.
  at::Tensor storage(const PickleNode& node) {
    if (node.kind != Kind::persistent || node.items[0]->items.size() < 3)
      refuse_archive(path_, "a tensor has no storage");
    const auto& id = node.items[0]->items;
    const at::ScalarType type = storage_type(id[1]->text, path_);
    const auto found = storages_.find(id[2]->text);
    if (found != storages_.end()) return found->second;
    return storages_[id[2]->text] = record_values("data/" + id[2]->text, type);
  }

  at::Tensor record_values(const std::string& name, at::ScalarType type) {
    const std::uint64_t bytes = archive_.record_bytes(name);
    if (bytes % c10::elementSize(type) != 0) refuse_archive(path_, "a storage ends inside a value");
    const auto count = static_cast<std::int64_t>(bytes / c10::elementSize(type));
    const at::Tensor values = at::empty({count}, at::TensorOptions().dtype(type));
    archive_.read(name, {static_cast<std::byte*>(values.data_ptr()), bytes});
    return values;
  }

  std::string path_;
  ZipArchive archive_;
  std::map<std::string, at::Tensor> storages_;
};

}  // namespace

std::vector<NamedTensor> read_torch_archive(const std::string& path) {
  return ArchiveReader(path).read_state();
}

}  // namespace lockstep::models
