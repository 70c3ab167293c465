// Checkpoints in a directory that goes with the test.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "lockstep/train/checkpoint.h"

namespace lockstep::train {

namespace fs = std::filesystem;

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-train-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~CheckpointTest() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  static CheckpointPart part(int rank, std::int64_t step) {
    return {{{"rank", rank}, {"step", step}},
            {{"weight", at::arange(6).to(at::kFloat).reshape({2, 3}).add(static_cast<double>(step))},
             {"momentum", at::full({3}, 0.1, at::kDouble)},
             {"half", at::full({5}, 1.5, at::kBFloat16)},
             {"steps", at::scalar_tensor(step, at::TensorOptions().dtype(at::kLong))},
             {"nothing", at::empty({0})}}};
  }

  // A whole one; its path.
  fs::path write(std::uint64_t step, int ranks = 2, int keep = 2) {
    std::vector<CheckpointFile> files;
    for (int rank = 0; rank < ranks; ++rank) {
      files.push_back(write_part(root_, step, rank, part(rank, static_cast<std::int64_t>(step))));
    }
    write_manifest(root_, step, files, keep);
    return path_of(step);
  }
  fs::path path_of(std::uint64_t step) const {
    std::string digits = std::to_string(step);
    return root_ / ("step-" + std::string(8 - digits.size(), '0') + digits);
  }
  static fs::path file_of_rank(const fs::path& checkpoint, int rank) {
    for (const auto& entry : fs::directory_iterator(checkpoint)) {
      if (entry.path().filename().string().starts_with("rank-0000" + std::to_string(rank)))
        return entry.path();
    }
    return {};
  }

  fs::path root_;
};

inline std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

inline std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace lockstep::train
