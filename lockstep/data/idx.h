// IDX, the format of MNIST: a magic number (two zero bytes, the element type, the number of dimensions), the
// dimensions as big-endian 32-bit numbers, and the elements. Only unsigned bytes (type 8) are read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "lockstep/data/files.h"

namespace lockstep::data {

struct IdxArray {
  std::vector<std::uint32_t> dimensions;
  Bytes elements;  // as many as the dimensions' product
};

// Throws DataError: wrong magic number or type, another number of dimensions than `rank`, a dimension of
// zero, a length that the dimensions do not give.
IdxArray parse_idx(Bytes bytes, std::size_t rank, const std::string& name);
IdxArray read_idx(const std::filesystem::path& file, std::size_t rank);

}  // namespace lockstep::data
