# cmake --install puts the program into bin, its backends into lib/lockstep and the documents into share/doc/lockstep.
install(FILES README.md LICENSE CHANGELOG.md TYPE DOC)
install(DIRECTORY docs/ TYPE DOC)
