# Most of a file's compile time goes into headers that its neighbours read too.
function(lockstep_join_sources target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${LOCKSTEP_JOINED} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# lockstep_module(NAME SOURCES ... [DEPENDS module ...] [LIBRARIES target ...])
#   One module: a static library lockstep_NAME with the alias Lockstep::NAME. DEPENDS names other modules; LIBRARIES
#   foreign targets. Which module may depend on which is checked by tools/check_layers.py.
function(lockstep_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(lockstep_${name} STATIC ${ARG_SOURCES})
  add_library(Lockstep::${name} ALIAS lockstep_${name})
  lockstep_join_sources(lockstep_${name})
  target_include_directories(lockstep_${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  target_compile_options(lockstep_${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${LOCKSTEP_WARNINGS}>)
  list(TRANSFORM ARG_DEPENDS PREPEND "Lockstep::")
  target_link_libraries(lockstep_${name} PUBLIC ${ARG_DEPENDS} ${ARG_LIBRARIES})
endfunction()

# lockstep_compile_alone(SOURCE ...)
#   Sources that have names of their own in common with others of their target, and so cannot be compiled together with
#   them (LOCKSTEP_JOINED).
function(lockstep_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# lockstep_backend_plugin(NAME SOURCES ... [LIBRARIES target ...])
#   A backend that is opened at run time with local symbols: bin/../lib/lockstep/backend_NAME.so.
function(lockstep_backend_plugin name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(lockstep_backend_${name} MODULE ${ARG_SOURCES})
  set_target_properties(lockstep_backend_${name} PROPERTIES PREFIX "" OUTPUT_NAME backend_${name}
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/lockstep")
  target_compile_options(lockstep_backend_${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${LOCKSTEP_WARNINGS}>)
  target_link_libraries(lockstep_backend_${name} PRIVATE Lockstep::comm ${ARG_LIBRARIES})
  # Not CMAKE_INSTALL_LIBDIR, which may be lib64 or lib/<architecture>: the program looks beside itself.
  install(TARGETS lockstep_backend_${name} LIBRARY DESTINATION lib/lockstep)
endfunction()

# lockstep_test(NAME LABELS label ... SOURCES ... [LIBRARIES target ...] [TIMEOUT seconds])
#   One test program; every case in it is a test of its own in ctest, under the given labels.
function(lockstep_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LABELS;SOURCES;LIBRARIES" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * ${LOCKSTEP_TEST_TIMEOUT_FACTOR}")
  add_executable(${name} ${ARG_SOURCES})
  lockstep_join_sources(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  # A test's own code need not be fast, and there is much of it.
  target_compile_options(${name} PRIVATE ${LOCKSTEP_WARNINGS} $<$<CONFIG:RelWithDebInfo>:-O1>)
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
  if("gpu" IN_LIST ARG_LABELS)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)  # there may be one GPU only, and delays are measured on it
  else()
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "CUDA_VISIBLE_DEVICES=")  # the same on machines with a GPU
  endif()
  if("multiproc" IN_LIST ARG_LABELS)
    set_tests_properties(${name} PROPERTIES PROCESSORS 2)  # it starts ranks of its own
  endif()
endfunction()
