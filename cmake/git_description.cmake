# cmake -DGIT=PROGRAM -DSOURCE=DIR -DFILE=HEADER -P git_description.cmake
#   Writes git's description of the tree into a header; empty where there is no git or the tree is not git's. A header
#   that would stay the same is left alone, so that nothing is compiled again.
set(description "")
if(GIT AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND "${GIT}" --no-optional-locks describe --always --dirty --tags
    WORKING_DIRECTORY "${SOURCE}" OUTPUT_VARIABLE description OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(text "#define LOCKSTEP_GIT_DESCRIPTION \"${description}\"\n")
set(before "")
if(EXISTS "${FILE}")
  file(READ "${FILE}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${FILE}" "${text}")
endif()
