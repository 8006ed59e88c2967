# Tests that are not beside a module: style, and black-box tests of the built server.
if(NOT SLUICE_FUZZ)
  add_test(NAME tidy COMMAND python3 tools/tidy WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(tidy PROPERTIES LABELS style)
endif()
