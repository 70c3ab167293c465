# libtorch, for the engine: LOCKSTEP_HAVE_TORCH with the target Lockstep::torch, else LOCKSTEP_WHY_NO_TORCH.
# LOCKSTEP_TORCH says which one: pip (the PyTorch that python3 imports), system (Debian's libtorch-dev) or OFF.
set(LOCKSTEP_TORCH "system" CACHE STRING "pip: the PyTorch that python3 imports; system: libtorch-dev; OFF: none")
set_property(CACHE LOCKSTEP_TORCH PROPERTY STRINGS pip system OFF)

# Where an importable PyTorch keeps its CMake package. Importing torch takes seconds, so the answer is kept.
function(lockstep_find_pip_torch)
  if(DEFINED CACHE{LOCKSTEP_PIP_TORCH_PREFIX} AND IS_DIRECTORY "${LOCKSTEP_PIP_TORCH_PREFIX}")
    return()
  endif()
  execute_process(COMMAND python3 -c "import torch; print(torch.utils.cmake_prefix_path)"
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed TIMEOUT 120)
  if(failed)
    set(prefix "")
  endif()
  set(LOCKSTEP_PIP_TORCH_PREFIX "${prefix}" CACHE INTERNAL "the CMake packages of the PyTorch that python3 imports")
endfunction()

# CMake remembers where it found Torch; another choice must look again.
if(NOT "${LOCKSTEP_TORCH}" STREQUAL "${LOCKSTEP_TORCH_BEFORE}")
  unset(Torch_DIR CACHE)
  set(LOCKSTEP_TORCH_BEFORE "${LOCKSTEP_TORCH}" CACHE INTERNAL "the choice of the last configuration")
endif()

set(LOCKSTEP_HAVE_TORCH OFF)
if(LOCKSTEP_TORCH STREQUAL "OFF")
  set(LOCKSTEP_WHY_NO_TORCH "LOCKSTEP_TORCH was OFF when Lockstep was built")
elseif(LOCKSTEP_TORCH STREQUAL "pip")
  lockstep_find_pip_torch()
  if(LOCKSTEP_PIP_TORCH_PREFIX)
    find_package(Torch QUIET PATHS "${LOCKSTEP_PIP_TORCH_PREFIX}" NO_DEFAULT_PATH)
  endif()
  set(LOCKSTEP_WHY_NO_TORCH "python3 cannot import a torch with CMake files (TORCH=pip was asked for)")
else()
  find_package(Torch QUIET)
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
  if(TARGET torch_cuda)
    set(LOCKSTEP_TORCH_HAS_CUDA ON)
  else()
    set(LOCKSTEP_TORCH_HAS_CUDA OFF)
    set(LOCKSTEP_WHY_NO_TORCH_CUDA "the libtorch it was built with computes on the CPU only")
  endif()
  list(APPEND LOCKSTEP_FOUND "torch: ${Torch_VERSION} in ${TORCH_INSTALL_PREFIX}")
else()
  list(APPEND LOCKSTEP_ABSENT "torch: ${LOCKSTEP_WHY_NO_TORCH}")
endif()
