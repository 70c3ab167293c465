# CUDA and NCCL, both or neither: LOCKSTEP_HAVE_CUDA and, where it is off, LOCKSTEP_WHY_NO_CUDA. The headers and the
# shared CUDA runtime suffice for nccl, since NCCL itself is opened at run time. Kernels of ours (p2p) also need nvcc:
# LOCKSTEP_HAVE_CUDA_COMPILER and LOCKSTEP_WHY_NO_CUDA_COMPILER.

# `tools/setup cuda` brings nvcc and CUDA's headers beside pip's PyTorch, of the same version. They are taken unless others are named.
set(lockstep_pip_nvidia "${LOCKSTEP_TORCH_PACKAGE}/../nvidia")
file(GLOB lockstep_pip_nvcc "${lockstep_pip_nvidia}/cu*/bin/nvcc")
if(LOCKSTEP_TORCH_PACKAGE AND lockstep_pip_nvcc AND NOT CUDAToolkit_ROOT AND NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  get_filename_component(CUDAToolkit_ROOT "${lockstep_pip_nvcc}/../.." ABSOLUTE)
endif()

set(LOCKSTEP_HAVE_CUDA OFF)
if(LOCKSTEP_CUDA STREQUAL "OFF")
  set(LOCKSTEP_WHY_NO_CUDA "LOCKSTEP_CUDA was OFF when Lockstep was built")
else()
  find_package(CUDAToolkit QUIET)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV NCCL_HOME "${lockstep_pip_nvidia}/nccl" PATH_SUFFIXES include)
  if(NOT CUDAToolkit_FOUND)
    set(LOCKSTEP_WHY_NO_CUDA "the CUDA toolkit (nvcc) was not found when Lockstep was built")
  elseif(NOT TARGET CUDA::cudart)
    set(LOCKSTEP_WHY_NO_CUDA "the shared CUDA runtime (libcudart.so) was not found when Lockstep was built")
  elseif(NOT NCCL_INCLUDE_DIR)
    set(LOCKSTEP_WHY_NO_CUDA "nccl.h was not found when Lockstep was built")
  else()
    set(LOCKSTEP_HAVE_CUDA ON)
  endif()
endif()
if(LOCKSTEP_HAVE_CUDA)
  list(APPEND LOCKSTEP_FOUND "nccl: CUDA ${CUDAToolkit_VERSION}, ${NCCL_INCLUDE_DIR}/nccl.h")
else()
  if(LOCKSTEP_CUDA STREQUAL "ON")
    message(FATAL_ERROR "LOCKSTEP_CUDA is ON, but ${LOCKSTEP_WHY_NO_CUDA}. With pip's PyTorch `TORCH=pip tools/setup cuda` brings nvcc.")
  endif()
  list(APPEND LOCKSTEP_ABSENT "nccl: ${LOCKSTEP_WHY_NO_CUDA}")
endif()

# Compiled for Hopper, and as an intermediate form from which the driver makes code for others. The runtime is the shared
# one, as everywhere (lockstep/device/cuda).
set(LOCKSTEP_HAVE_CUDA_COMPILER OFF)
if(NOT LOCKSTEP_HAVE_CUDA)
  set(LOCKSTEP_WHY_NO_CUDA_COMPILER "${LOCKSTEP_WHY_NO_CUDA}")
elseif(NOT CUDAToolkit_NVCC_EXECUTABLE)
  set(LOCKSTEP_WHY_NO_CUDA_COMPILER "the CUDA compiler (nvcc) was not found when Lockstep was built")
else()
  if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${CUDAToolkit_NVCC_EXECUTABLE}")
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
  endif()
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  enable_language(CUDA)
  set(LOCKSTEP_HAVE_CUDA_COMPILER ON)
endif()
if(LOCKSTEP_HAVE_CUDA_COMPILER)
  list(APPEND LOCKSTEP_FOUND "p2p: ${CMAKE_CUDA_COMPILER}")
else()
  list(APPEND LOCKSTEP_ABSENT "p2p: ${LOCKSTEP_WHY_NO_CUDA_COMPILER}")
endif()

# pip's PyTorch apart from CUDA is linked by itself: a worker for cores alone starts faster. Its CUDA part is called by nobody, it makes
# itself known when it is loaded.
if(LOCKSTEP_TORCH_PACKAGE AND LOCKSTEP_TORCH_HAS_CUDA AND LOCKSTEP_HAVE_CUDA_COMPILER)
  target_link_libraries(lockstep_torch INTERFACE
    "-Wl,--no-as-needed,${LOCKSTEP_TORCH_PACKAGE}/lib/libtorch_cuda.so,--as-needed" "${LOCKSTEP_TORCH_PACKAGE}/lib/libc10_cuda.so")
endif()
