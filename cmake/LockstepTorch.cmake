# libtorch, for the engine: LOCKSTEP_HAVE_TORCH with the target Lockstep::torch, else LOCKSTEP_WHY_NO_TORCH.
# LOCKSTEP_TORCH says which one: pip (the PyTorch that python3 imports), system (Debian's libtorch-dev) or OFF.
set(LOCKSTEP_TORCH "system" CACHE STRING "pip: the PyTorch that python3 imports; system: libtorch-dev; OFF: none")
set_property(CACHE LOCKSTEP_TORCH PROPERTY STRINGS pip system OFF)

# The PyTorch that python3 imports: its folder, version, and whether it has today's C++ ABI. Its own CMake package demands
# a CUDA toolkit even where nothing of CUDA is to be built, and takes a libtorch-dev's parts where that is installed as
# well: it is not used. Importing torch takes seconds, so the answer is kept.
function(lockstep_find_pip_torch)
  string(REGEX REPLACE ";.*" "" folder "${LOCKSTEP_PIP_TORCH}")
  if(folder AND IS_DIRECTORY "${folder}")
    return()
  endif()
  execute_process(COMMAND python3 -c "import os, torch; print(os.path.dirname(torch.__file__), torch.__version__, torch.compiled_with_cxx11_abi(), sep=';')"
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/CMakeFiles" OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed TIMEOUT 120)
  if(failed)
    set(found "")
  endif()
  set(LOCKSTEP_PIP_TORCH "${found}" CACHE INTERNAL "folder, version and C++ ABI of the PyTorch that python3 imports")
endfunction()

# Sets what find_package(Torch) would. CUDA's part is linked where kernels of ours can use it: a worker for cores alone
# starts faster without.
macro(lockstep_use_pip_torch)
  list(GET LOCKSTEP_PIP_TORCH 0 TORCH_INSTALL_PREFIX)
  list(GET LOCKSTEP_PIP_TORCH 1 Torch_VERSION)
  set(TORCH_INCLUDE_DIRS "${TORCH_INSTALL_PREFIX}/include" "${TORCH_INSTALL_PREFIX}/include/torch/csrc/api/include")
  set(TORCH_LIBRARIES "${TORCH_INSTALL_PREFIX}/lib/libtorch_cpu.so" "${TORCH_INSTALL_PREFIX}/lib/libc10.so")
  set(TORCH_CXX_FLAGS "")
  set(LOCKSTEP_TORCH_HAS_CUDA OFF)
  if(EXISTS "${TORCH_INSTALL_PREFIX}/lib/libtorch_cuda.so")
    set(LOCKSTEP_TORCH_HAS_CUDA ON)
  endif()
  if(LOCKSTEP_TORCH_HAS_CUDA AND LOCKSTEP_HAVE_CUDA_COMPILER)
    # Nobody calls it by name: it makes itself known when it is loaded.
    list(PREPEND TORCH_LIBRARIES "-Wl,--no-as-needed,${TORCH_INSTALL_PREFIX}/lib/libtorch_cuda.so,--as-needed"
      "${TORCH_INSTALL_PREFIX}/lib/libc10_cuda.so")
  endif()
endmacro()

# CMake remembers where it found Torch; another choice must look again.
if(NOT "${LOCKSTEP_TORCH}" STREQUAL "${LOCKSTEP_TORCH_BEFORE}")
  unset(Torch_DIR CACHE)
  unset(LOCKSTEP_PIP_TORCH CACHE)
  set(LOCKSTEP_TORCH_BEFORE "${LOCKSTEP_TORCH}" CACHE INTERNAL "the choice of the last configuration")
endif()

set(LOCKSTEP_HAVE_TORCH OFF)
if(LOCKSTEP_TORCH STREQUAL "OFF")
  set(LOCKSTEP_WHY_NO_TORCH "LOCKSTEP_TORCH was OFF when Lockstep was built")
elseif(LOCKSTEP_TORCH STREQUAL "pip")
  lockstep_find_pip_torch()
  set(LOCKSTEP_WHY_NO_TORCH "python3 cannot import torch (TORCH=pip was asked for)")
  if(LOCKSTEP_PIP_TORCH MATCHES ";False$")
    set(LOCKSTEP_WHY_NO_TORCH "the PyTorch that python3 imports has the old C++ ABI (wheels before 2.7): install a newer one")
  elseif(LOCKSTEP_PIP_TORCH)
    lockstep_use_pip_torch()
    set(LOCKSTEP_WHY_NO_TORCH "the PyTorch in ${TORCH_INSTALL_PREFIX} has no headers or no libtorch_cpu.so: install pip's")
    if(EXISTS "${TORCH_INSTALL_PREFIX}/include/ATen/ATen.h" AND EXISTS "${TORCH_INSTALL_PREFIX}/lib/libtorch_cpu.so")
      set(Torch_FOUND ON)
    endif()
  endif()
else()
  find_package(Torch QUIET)
  set(LOCKSTEP_TORCH_HAS_CUDA OFF)
  if(TARGET torch_cuda)
    set(LOCKSTEP_TORCH_HAS_CUDA ON)
  endif()
  set(LOCKSTEP_WHY_NO_TORCH "libtorch was not found (package libtorch-dev, or pip install torch and TORCH=pip)")
endif()

if(Torch_FOUND AND NOT LOCKSTEP_TORCH STREQUAL "OFF")
  set(LOCKSTEP_HAVE_TORCH ON)
  add_library(lockstep_torch INTERFACE)
  add_library(Lockstep::torch ALIAS lockstep_torch)
  # libtorch 2 brings an fmt of its own among its headers. Sources that see it take it whole from there; nothing of fmt's
  # crosses between them and the rest. Not where it brings none: compiling fmt anew takes seconds for every such source.
  get_target_property(lockstep_fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  foreach(directory IN LISTS TORCH_INCLUDE_DIRS)
    if(EXISTS "${directory}/fmt/format.h" AND NOT "${directory}" IN_LIST lockstep_fmt_include)
      target_compile_definitions(lockstep_torch INTERFACE FMT_HEADER_ONLY=1)
    endif()
  endforeach()
  target_include_directories(lockstep_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  # pip's libtorch exports an old std::filesystem of its own, whose remove_all() calls a null pointer; who is named first
  # is used.
  target_link_libraries(lockstep_torch INTERFACE stdc++ ${TORCH_LIBRARIES})
  separate_arguments(lockstep_torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  target_compile_options(lockstep_torch INTERFACE ${lockstep_torch_flags})
  if(NOT LOCKSTEP_TORCH_HAS_CUDA)
    set(LOCKSTEP_WHY_NO_TORCH_CUDA "the libtorch it was built with computes on the CPU only")
  endif()
  list(APPEND LOCKSTEP_FOUND "torch: ${Torch_VERSION} in ${TORCH_INSTALL_PREFIX}")
else()
  list(APPEND LOCKSTEP_ABSENT "torch: ${LOCKSTEP_WHY_NO_TORCH}")
endif()
