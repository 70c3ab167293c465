// Products of a linear layer with few rows (a small batch) and a large weight, in f32 on the CPU. With 8 to
// 32 rows such a product is bound by reading or writing the weight once; a general matrix product first
// copies the weight into another order, which costs longer than the product itself.
//
// Terms: the rows are kept in a *panel*, [in / lanes, rows, lanes] with zeros behind the last input, so that
// they are read in one stream whatever the weight's row length is (rows a power of two apart would share few
// places in the first cache). A *tile* is what is computed in registers.
//
// Every element is summed in an order that depends only on the shapes, so threads may share out the ranges
// without changing a bit. Nothing of the standard library is used (see attention.h).
#pragma once

#include <cstdint>

namespace lockstep::models::kernels {

struct SkinnyShape {
  std::int64_t rows;  // of the batch
  std::int64_t in;
  std::int64_t out;
};

// Up to this many rows these kernels win against a general product (measured, see models/README.md).
constexpr std::int64_t kSkinnyRows = 32;

struct SkinnyKernels {
  std::int64_t lanes;
  // Between rows [rows, in] and their panel.
  void (*pack)(const SkinnyShape& shape, const float* rows, float* panel);
  void (*unpack)(const SkinnyShape& shape, const float* panel, float* rows);
  // y [rows, out] += x * weight [out, in]^T, for the outputs begin to end.
  void (*forward)(const SkinnyShape& shape, const float* panel, const float* weight, float* y,
                  std::int64_t begin, std::int64_t end);
  // The panel of x's gradient = gradient [rows, out] * weight, for the panel's vectors begin to end (of in /
  // lanes, rounded up). The gradient is given turned: [out, rows].
  void (*input_gradient)(const SkinnyShape& shape, const float* turned, const float* weight, float* panel,
                         std::int64_t begin, std::int64_t end);
  // weight_gradient [out, in] = gradient^T * x, or that much more, for the outputs begin to end.
  void (*weight_gradient)(const SkinnyShape& shape, const float* turned, const float* panel,
                          float* weight_gradient, bool accumulate, std::int64_t begin, std::int64_t end);
};

// Vectors of a panel's row.
constexpr std::int64_t skinny_vectors(const SkinnyShape& shape, std::int64_t lanes) {
  return (shape.in + lanes - 1) / lanes;
}

// The best ones for this processor.
const SkinnyKernels& skinny_kernels();

}  // namespace lockstep::models::kernels
