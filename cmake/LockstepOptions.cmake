# What a builder may choose, and the flags every target of ours is compiled with.
option(LOCKSTEP_BUILD_TESTS "Build the tests" ON)
option(LOCKSTEP_BUILD_BENCH "Build the benchmarks" ON)
option(LOCKSTEP_ASSERTIONS "Keep assertions in optimised builds" OFF)
option(LOCKSTEP_JOINED "Compile sources of a target eight at a time: a whole build takes half the time, one change longer" OFF)
set(LOCKSTEP_TEST_TIMEOUT_FACTOR "1" CACHE STRING "Multiplies the time limit of every test (sanitizers, whole matrices)")
set(LOCKSTEP_SANITIZER "" CACHE STRING "address, undefined or thread")
set(LOCKSTEP_CUDA "AUTO" CACHE STRING "ON: CUDA and NCCL are required; AUTO: used where found; OFF: never")
set_property(CACHE LOCKSTEP_CUDA PROPERTY STRINGS AUTO ON OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
# What is built is linked as it will be installed. CMake would else pad the search path of libraries for a later edit, and the loader takes
# the empty entries of the padding for the current directory. The path names the directories of libraries outside the system's, or is not there.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C CXX)

if(LOCKSTEP_ASSERTIONS)
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
endif()
# Lines and functions, for stack traces; what a debugger would know beside them takes a fifth of the build's time (CMAKE_BUILD_TYPE=Debug has it).
string(REPLACE " -g " " -g1 " CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
if(LOCKSTEP_SANITIZER)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${LOCKSTEP_SANITIZER}>
    $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer> $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=all>)
  add_link_options(-fsanitize=${LOCKSTEP_SANITIZER})
  add_compile_definitions(LOCKSTEP_SANITIZER_${LOCKSTEP_SANITIZER}=1)
endif()

# tests/tools/loading_test.py reads what these flags have made of every file. Fortified functions need optimisation, hide from sanitizers what
# they look for, and are defined by some compilers of their own accord, at another level.
add_link_options(LINKER:-z,relro LINKER:-z,now)
add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fstack-protector-strong> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fstack-protector-strong>)
if(NOT LOCKSTEP_SANITIZER AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-U_FORTIFY_SOURCE> $<$<COMPILE_LANGUAGE:C,CXX>:-D_FORTIFY_SOURCE=2>)
endif()

set(LOCKSTEP_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
    -Woverloaded-virtual -Werror)
# What this sanitizer puts between lines makes g++ 12 see bounds that are passed; the other builds are warned of real ones.
if(LOCKSTEP_SANITIZER STREQUAL "undefined")
  list(APPEND LOCKSTEP_WARNINGS -Wno-array-bounds)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND LOCKSTEP_WARNINGS -Wno-restrict)  # g++ 12 sees an overlap in "text" + std::string where there is none
endif()
if(LOCKSTEP_SANITIZER)
  list(APPEND LOCKSTEP_WARNINGS -Wno-maybe-uninitialized)  # g++ does not follow values through the checks that it adds
endif()
# What g++ only guesses from its own inlining differs between its versions and levels: a guess is shown, and stops nobody's build.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND (CMAKE_BUILD_TYPE STREQUAL "Release" OR CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13))
  list(APPEND LOCKSTEP_WARNINGS -Wno-error=maybe-uninitialized -Wno-error=array-bounds -Wno-error=stringop-overflow
       -Wno-error=stringop-overread -Wno-error=restrict -Wno-error=null-dereference -Wno-error=free-nonheap-object)
endif()
# The program, its plugins and their libraries share one C++ runtime. A compiler that has only the static one beside it would give
# each its own.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libstdc++.so OUTPUT_VARIABLE lockstep_cxx_runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${lockstep_cxx_runtime}")
    link_libraries(-l:libstdc++.so.6)
  endif()
endif()
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()
