# Tests that are not beside a module: style, tool chain, and black-box tests of the built server.
if(SLUICE_FUZZ)
  return()
endif()

function(script_test name label)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${SLUICE_TEST_TIMEOUT})
endfunction()

# A test of the server, with data directories of one shard and once more with those of four.
function(server_test name)
  script_test(${name} blackbox ${ARGN})
  script_test(shards4/${name} blackbox ${ARGN})
  set_tests_properties(shards4/${name} PROPERTIES ENVIRONMENT SLUICE_STORAGE_SHARDS=4)
endfunction()

script_test(tidy style tools/tidy)

# The test tools themselves.
script_test(tidy_test style tools/tidy_test.py)
script_test(bench_run_test style bench/run_test.py)
script_test(run_http_test style tests/http/run_http_test.py)
script_test(run_docs_test style tests/docs/run_docs_test.py)
script_test(run_crash_test style tests/crash/run_crash_test.py)

# V8 from its prefix compiles, links and runs without environment variables.
add_executable(v8_link_test tests/v8_link_test.cc)
target_link_libraries(v8_link_test v8)
add_test(NAME v8_link_test COMMAND v8_link_test)
set_tests_properties(v8_link_test PROPERTIES LABELS toolchain)

# Handlers while V8 collects garbage all the time. Debian's build passes over most of its flags for that;
# the first of these is the one that counts.
foreach(name function server)
  set(filter "*FunctionCase*")
  if(name STREQUAL "function")
    set(filter "*Hostile*:SubdocTest.*")
  endif()
  script_test(${name}_gc_test stress $<TARGET_FILE:${name}_test> --gtest_filter=${filter})
  set_tests_properties(${name}_gc_test PROPERTIES
    ENVIRONMENT "SLUICE_TEST_V8_FLAGS=--stress-scavenge=1 --stress-incremental-marking --stress-compaction"
    FAIL_REGULAR_EXPRESSION "unrecognized flag")
endforeach()

# A program of ours that follows and is killed: it checks each cursor without user code in between.
add_executable(cursor_worker tests/crash/cursor_worker.cc)
target_link_libraries(cursor_worker sluice_db)
script_test(cursor_crash_test blackbox
  tests/crash/run_cursor_crash.py --worker $<TARGET_FILE:cursor_worker> --rounds 20)

# An owner that is killed, and a standby in another process that it feeds.
add_executable(standby_worker tests/crash/standby_worker.cc)
target_link_libraries(standby_worker sluice_db)
script_test(standby_crash_test blackbox
  tests/crash/run_standby_crash.py --worker $<TARGET_FILE:standby_worker> --rounds 10)

# Black box: the built server, driven as a user drives it.
if(TARGET sluice)
  file(GLOB http_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/http/*.test)
  foreach(file ${http_tests})
    get_filename_component(name ${file} NAME_WE)
    server_test(http/${name}
      tests/http/run_http.py --sluice $<TARGET_FILE:sluice> ${file})
  endforeach()
  file(GLOB cli_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/cli/*.test)
  foreach(file ${cli_tests})
    get_filename_component(name ${file} NAME_WE)
    server_test(cli/${name} tests/cli/run_cli.py --sluice $<TARGET_FILE:sluice> ${file})
  endforeach()
  file(GLOB trigger_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/triggers/*/case.test)
  foreach(file ${trigger_tests})
    get_filename_component(directory ${file} DIRECTORY)
    get_filename_component(name ${directory} NAME)
    server_test(triggers/${name}
      tests/cli/run_cli.py --sluice $<TARGET_FILE:sluice> ${file})
  endforeach()
  script_test(cli/terminal blackbox tests/cli/run_terminal.py --sluice $<TARGET_FILE:sluice>)
  server_test(docs_test tests/docs/run_docs.py --sluice $<TARGET_FILE:sluice>)
  server_test(function_crash_test
    tests/crash/run_function_crash.py --sluice $<TARGET_FILE:sluice> --rounds 20)
  server_test(function_hold_test
    tests/crash/run_function_hold.py --sluice $<TARGET_FILE:sluice>)
  # Needs npm and, once, a network; says so and is skipped without.
  script_test(datasets_test blackbox
    tests/datasets/run_datasets.py --sluice $<TARGET_FILE:sluice>)
  set_tests_properties(datasets_test PROPERTIES SKIP_RETURN_CODE 77)
  server_test(stream_test tests/stream/run_stream.py --sluice $<TARGET_FILE:sluice>)
  server_test(trigger_crash_test
    tests/crash/run_trigger_crash.py --sluice $<TARGET_FILE:sluice> --rounds 20)
  script_test(shard_crash_test blackbox
    tests/crash/run_shard_crash.py --sluice $<TARGET_FILE:sluice> --rounds 10)
  server_test(type_crash_test
    tests/crash/run_type_crash.py --sluice $<TARGET_FILE:sluice> --rounds 10)
  server_test(flow_streams_test
    tests/http/run_flow_streams.py --sluice $<TARGET_FILE:sluice>)
  server_test(couchbase_cli_test
    tests/http/run_couchbase_cli.py --sluice $<TARGET_FILE:sluice>)
  server_test(access_test tests/http/run_access.py --sluice $<TARGET_FILE:sluice>)
  script_test(bodies_test blackbox tests/http/run_bodies.py --sluice $<TARGET_FILE:sluice>)
  script_test(flow_slow_test blackbox tests/http/run_flow_slow.py --sluice $<TARGET_FILE:sluice>)
  script_test(flow_gone_test blackbox tests/http/run_flow_gone.py --sluice $<TARGET_FILE:sluice>)
  server_test(flow_crash_test
    tests/crash/run_flow_crash.py --sluice $<TARGET_FILE:sluice> --rounds 15)
  server_test(flow_start_crash_test
    tests/crash/run_flow_start_crash.py --sluice $<TARGET_FILE:sluice> --rounds 10)
  find_program(NODE node)
  if(NODE)
    script_test(javascript_client_test blackbox ${NODE} --test clients/javascript/test/)
    set_tests_properties(javascript_client_test PROPERTIES
      ENVIRONMENT "SLUICE=$<TARGET_FILE:sluice>")
  endif()
  server_test(openapi_test tests/openapi/run_openapi.py --sluice $<TARGET_FILE:sluice>)
  script_test(couchbase_sdk_test blackbox
    tests/couchbase_sdk/run_sdk.py --sluice $<TARGET_FILE:sluice>)
  # The packages of npm that they need may be out of reach.
  set_tests_properties(openapi_test shards4/openapi_test couchbase_sdk_test
    PROPERTIES SKIP_RETURN_CODE 77)
  # The package in a clean Debian 12.
  if(NOT SLUICE_SANITIZE)
    script_test(deb_test blackbox tests/packaging/run_deb.sh ${CMAKE_BINARY_DIR})
    set_tests_properties(deb_test PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  server_test(debugger_test
    tests/debugger/run_debugger.py --sluice $<TARGET_FILE:sluice>)
  server_test(crash_test
    tests/crash/run_crash.py --sluice $<TARGET_FILE:sluice> --rounds 20)
endif()

# What the tests above start, without the unit tests.
add_custom_target(blackbox_tests DEPENDS cursor_worker standby_worker v8_link_test)
foreach(server sluice sluice_binary)
  if(TARGET ${server})
    add_dependencies(blackbox_tests ${server})
  endif()
endforeach()
