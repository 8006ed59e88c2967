# Compiler, flags and build types.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

set(SLUICE_SANITIZE "" CACHE STRING "Value for -fsanitize, empty for none")
option(SLUICE_FUZZ "Build the *_fuzz.cc files as libFuzzer programs (needs clang)" OFF)

find_program(CCACHE ccache)
if(CCACHE)
  # Paths relative to the source: what one clone compiled, another one finds in the cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Designated initialisers leave the other members at their defaults, on purpose.
add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers)
add_compile_options(-fno-omit-frame-pointer -pthread)
# Paths in debug information and in CHECK messages start at the source directory, which is two
# levels above every build tree.
add_compile_options(-ffile-prefix-map=../../=)
add_link_options(-pthread)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
# With sanitizers, clang needs a third of the time at -O0 that it or g++ needs at -O1, which is more than
# the tests lose by it.
set(CMAKE_CXX_FLAGS_SANITIZED "-O0 -g1")

# Seconds after which a test is taken for one that hangs. Nothing else is measured by it.
set(SLUICE_TEST_TIMEOUT 900)
if(SLUICE_SANITIZE)
  set(SLUICE_TEST_TIMEOUT 3600)
  add_compile_options(-fsanitize=${SLUICE_SANITIZE})
  add_link_options(-fsanitize=${SLUICE_SANITIZE})
  if(SLUICE_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize=vptr -fno-sanitize-recover=undefined)
    add_link_options(-fno-sanitize=vptr)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 reports false positives of these under sanitizers.
    add_compile_options(-Wno-maybe-uninitialized)
  elseif(SLUICE_SANITIZE MATCHES address)
    # Locals stay on the stack: V8 and Lua compare their addresses with the stack's limits.
    add_compile_options(-fsanitize-address-use-after-return=never)
  endif()
endif()
if(SLUICE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # The rules of locks (src/base/mutex.h) are checked as the sanitized builds are compiled.
  add_compile_options(-Wthread-safety)
  # The standard library of g++ 12 uses functions that it has marked as deprecated itself.
  add_compile_options(-Wno-deprecated-declarations)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns about code inside its own string and vector headers (GCC bug 105329, 105762).
  add_compile_options(-Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds
    -Wno-dangling-pointer)
  # A class that only one file knows may have members of its unnamed namespace, also when the file is
  # compiled together with others (cmake/units.cmake).
  add_compile_options(-Wno-subobject-linkage)
endif()
