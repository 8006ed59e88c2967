# Tests that are not beside a module: style, tool chain, and black-box tests of the built server.
if(SLUICE_FUZZ)
  return()
endif()

function(script_test name label)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 300)
endfunction()

script_test(tidy style tools/tidy)
script_test(tidy_test style tools/tidy_test.py)

# V8 from its prefix compiles, links and runs without environment variables.
add_executable(v8_link_test tests/v8_link_test.cc)
target_link_libraries(v8_link_test v8)
add_test(NAME v8_link_test COMMAND v8_link_test)
set_tests_properties(v8_link_test PROPERTIES LABELS toolchain)
