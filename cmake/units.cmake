# How sources become compiler runs. Most of the time g++ spends on one of our files goes to the headers
# it includes and to templates that its neighbours need as well. So:
#
# - Files of one directory are compiled together, SLUICE_UNIT_FILES at a time, as one unit that includes
#   them. Names in unnamed namespaces are therefore seen by the neighbours: they differ within a directory.
#   Tests, and the directories in SLUICE_ALONE, are compiled file by file: there each file has its own
#   fixtures, List and Show.
# - The headers of the standard library are compiled once for all (src/base/precompiled.h), and once more
#   with GoogleTest for the tests (tests/precompiled.h).
#
# `cmake --preset plain` builds each file alone and without either, which shows a missing include.
option(SLUICE_MERGE_UNITS "Compile the files of a directory together, with precompiled headers" ON)
set(SLUICE_UNIT_FILES 10)
set(SLUICE_ALONE query/functions)

# merge_units(OUT sources...): the units to compile for these sources.
function(merge_units out)
  if(NOT SLUICE_MERGE_UNITS)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(directories "")
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH directory)
    list(APPEND directories ${directory})
    string(MD5 key ${directory})
    list(APPEND files_${key} ${source})
  endforeach()
  list(REMOVE_DUPLICATES directories)
  set(units "")
  foreach(directory ${directories})
    string(MD5 key ${directory})
    cmake_path(RELATIVE_PATH directory BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE part)
    if(part IN_LIST SLUICE_ALONE)
      list(APPEND units ${files_${key}})
      continue()
    endif()
    string(REPLACE "/" "_" part ${part})
    list(SORT files_${key})
    list(LENGTH files_${key} count)
    math(EXPR last "${count} - 1")
    foreach(begin RANGE 0 ${last} ${SLUICE_UNIT_FILES})
      list(SUBLIST files_${key} ${begin} ${SLUICE_UNIT_FILES} together)
      set(text "")
      foreach(source ${together})
        cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE name)
        string(APPEND text "#include \"${name}\"\n")
      endforeach()
      math(EXPR number "${begin} / ${SLUICE_UNIT_FILES} + 1")
      set(unit ${CMAKE_BINARY_DIR}/units/${part}_${number}.cc)
      file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
      list(APPEND units ${unit})
    endforeach()
  endforeach()
  set(${out} ${units} PARENT_SCOPE)
endfunction()

# precompile(TARGET KIND): the target's files see the precompiled headers; KIND is product or tests.
function(precompile target kind)
  if(SLUICE_MERGE_UNITS)
    target_precompile_headers(${target} REUSE_FROM precompiled_${kind})
  endif()
endfunction()

if(SLUICE_MERGE_UNITS)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/units/none.cc CONTENT "" @ONLY)
  add_library(precompiled_product OBJECT ${CMAKE_BINARY_DIR}/units/none.cc)
  target_link_libraries(precompiled_product fmt::fmt)
  target_precompile_headers(precompiled_product PRIVATE ${CMAKE_SOURCE_DIR}/src/base/precompiled.h)
  if(NOT SLUICE_FUZZ)
    add_library(precompiled_tests OBJECT ${CMAKE_BINARY_DIR}/units/none.cc)
    target_link_libraries(precompiled_tests fmt::fmt GTest::gtest GTest::gmock)
    target_include_directories(precompiled_tests PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_precompile_headers(precompiled_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests/precompiled.h)
  endif()
endif()
