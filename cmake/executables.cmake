# What is linked from the modules: the server, and the benchmark programs.
get_property(modules GLOBAL PROPERTY SLUICE_MODULES)
list(TRANSFORM modules PREPEND sluice_ OUTPUT_VARIABLE module_libraries)

# Programs that are measured get jemalloc's malloc; sanitizers have their own.
add_library(allocator INTERFACE)
if(NOT SLUICE_SANITIZE)
  target_link_libraries(allocator INTERFACE PkgConfig::jemalloc)
endif()

# `sluice` is src/server/main.cc and every module that the server module uses. The release tree also
# puts it at build/sluice: a hard link, so that it can be replaced while the old one runs.
if(EXISTS ${CMAKE_SOURCE_DIR}/src/server/main.cc AND NOT SLUICE_FUZZ)
  add_executable(sluice src/server/main.cc)
  target_link_libraries(sluice sluice_server allocator)
  if(CMAKE_BINARY_DIR STREQUAL "${CMAKE_SOURCE_DIR}/build/release")
    add_custom_command(OUTPUT ${CMAKE_SOURCE_DIR}/build/sluice
      COMMAND ln -f $<TARGET_FILE:sluice> ${CMAKE_SOURCE_DIR}/build/sluice
      DEPENDS sluice VERBATIM)
    add_custom_target(sluice_binary ALL DEPENDS ${CMAKE_SOURCE_DIR}/build/sluice)
  endif()
endif()

# bench/NAME_bench.cc becomes the program NAME_bench, which may use any module and raw RocksDB as
# a yardstick. Built by the target `bench` only. query_bench also needs SQLite, which only
# `scripts/deps.sh bench` installs.
if(NOT SLUICE_FUZZ)
  add_custom_target(bench)
  file(GLOB benches CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*_bench.cc)
  pkg_check_modules(sqlite3 IMPORTED_TARGET sqlite3)
  if(NOT sqlite3_FOUND)
    list(FILTER benches EXCLUDE REGEX "/query_bench\\.cc$")
  endif()
  foreach(source ${benches})
    get_filename_component(program ${source} NAME_WE)
    add_executable(${program} EXCLUDE_FROM_ALL ${source})
    target_include_directories(${program} PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${program} ${module_libraries} rocksdb allocator)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    add_dependencies(bench ${program})
  endforeach()
  if(TARGET function_bench)
    target_link_libraries(function_bench v8)  # its yardstick is V8 itself
  endif()
  if(TARGET query_bench)
    target_link_libraries(query_bench PkgConfig::sqlite3)
  endif()
endif()
