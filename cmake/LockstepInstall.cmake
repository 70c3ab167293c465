# cmake --install puts the programs into bin, backends into lib/lockstep, the second engine into share/lockstep/engines,
# the documents into share/doc/lockstep and the completion of the program's own flags where bash looks for it.
include(GNUInstallDirs)
set(CMAKE_INSTALL_DOCDIR "${CMAKE_INSTALL_DATAROOTDIR}/doc/lockstep")
install(FILES README.md LICENSE CHANGELOG.md TYPE DOC)
install(DIRECTORY docs/ TYPE DOC)
install(DIRECTORY studies/ DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/lockstep/studies" FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY engines DESTINATION "${CMAKE_INSTALL_DATADIR}/lockstep" FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)

if(TARGET lockstep)  # which lockstep/cli installs
  # The program knows its flags; it is asked when it is installed, so the two cannot disagree.
  set(lockstep_completions "${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions")
  install(CODE "
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${lockstep_completions}\")
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:lockstep>\" completion bash
      OUTPUT_FILE \"\${folder}/lockstep\" RESULT_VARIABLE failed TIMEOUT 30)
    if(failed)
      message(FATAL_ERROR \"lockstep completion bash failed: \${failed}\")
    endif()
    message(STATUS \"Installing: \${folder}/lockstep\")")
endif()
