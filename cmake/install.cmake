# What `make install` and `make deb` put where. The binary finds V8 beside itself, in lib/sluice: Debian's libnode
# can't be installed beside another Node.js, and a copy of our own keeps out of its way.
include(GNUInstallDirs)
if(NOT TARGET sluice OR SLUICE_SANITIZE)
  return()
endif()

set_target_properties(sluice PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/sluice")
install(TARGETS sluice RUNTIME DESTINATION bin)
install(PROGRAMS ${SLUICE_DEPS}/node/usr/lib/x86_64-linux-gnu/libnode.so.108 DESTINATION lib/sluice)
install(FILES ${SLUICE_DEPS}/node/usr/share/doc/libnode108/copyright
  DESTINATION share/doc/sluice RENAME copyright.libnode)
install(FILES README.md LICENSE SECURITY.md DESTINATION share/doc/sluice)
install(DIRECTORY docs/ DESTINATION share/doc/sluice/docs)
install(DIRECTORY examples/ DESTINATION share/doc/sluice/examples
  PATTERN .sluice EXCLUDE)
install(FILES packaging/sluice.yaml DESTINATION share/doc/sluice)

# The unit names the binary, wherever it was installed to.
install(CODE "
  set(SLUICE_BINARY \"\${CMAKE_INSTALL_PREFIX}/bin/sluice\")
  set(SLUICE_DOC \"\${CMAKE_INSTALL_PREFIX}/share/doc/sluice\")
  configure_file(${CMAKE_SOURCE_DIR}/packaging/sluice.service.in
    ${CMAKE_BINARY_DIR}/packaging/sluice.service @ONLY)
  file(INSTALL ${CMAKE_BINARY_DIR}/packaging/sluice.service
    DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\")
  # Settings that are there stay.
  if(NOT EXISTS \"\$ENV{DESTDIR}/etc/sluice.yaml\")
    file(INSTALL ${CMAKE_SOURCE_DIR}/packaging/sluice.yaml DESTINATION /etc
      PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ)
  endif()")

# The Debian package, by cpack.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sluice)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Sluice maintainers <maintainers@sluice.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "document database that runs your code when data changes")
set(CPACK_PACKAGE_DESCRIPTION "JSON documents and tables, SQL++, and user code in JavaScript, Lua and YAML
that reacts to every change exactly once.")
set(CPACK_SET_DESTDIR ON)  # /etc is outside of the prefix
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${SLUICE_DEPS}/node/usr/lib/x86_64-linux-gnu)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, tzdata")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${CMAKE_SOURCE_DIR}/packaging/debian/postinst ${CMAKE_SOURCE_DIR}/packaging/debian/prerm
  ${CMAKE_SOURCE_DIR}/packaging/debian/postrm ${CMAKE_SOURCE_DIR}/packaging/debian/conffiles)
include(CPack)
