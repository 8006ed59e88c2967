# Where each library comes from. Debian packages, installed by scripts/deps.sh.
find_package(Threads REQUIRED)
find_package(simdjson REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(GTest REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(argon2 REQUIRED IMPORTED_TARGET libargon2)
pkg_check_modules(edit REQUIRED IMPORTED_TARGET libedit)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(curl REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(lua REQUIRED IMPORTED_TARGET lua5.4-c++)
pkg_check_modules(jemalloc REQUIRED IMPORTED_TARGET jemalloc)
find_package(date REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc)
find_package(ZLIB REQUIRED)

# RocksDB: the optimised static one that `make rocksdb` builds, else Debian's.
set(SLUICE_DEPS ${CMAKE_SOURCE_DIR}/build/deps CACHE PATH "Where unpacked and built libraries are")
add_library(rocksdb INTERFACE)
if(EXISTS ${SLUICE_DEPS}/rocksdb/lib/librocksdb.a)
  message(STATUS "RocksDB: optimised static build")
  target_include_directories(rocksdb SYSTEM INTERFACE ${SLUICE_DEPS}/rocksdb/include)
  target_link_libraries(rocksdb INTERFACE ${SLUICE_DEPS}/rocksdb/lib/librocksdb.a
    snappy z bz2 lz4 zstd uring dl Threads::Threads)
else()
  message(STATUS "RocksDB: Debian's (make rocksdb builds a faster one)")
  target_link_libraries(rocksdb INTERFACE -Wl,-Bstatic -lrocksdb -Wl,-Bdynamic
    snappy z bz2 lz4 zstd gflags dl Threads::Threads)
endif()

# V8: Debian's libnode, unpacked by scripts/deps.sh. Its headers come first, because another Node.js
# may have put headers of another V8 into the system's include directory.
add_library(v8 INTERFACE)
target_include_directories(v8 SYSTEM BEFORE INTERFACE ${SLUICE_DEPS}/node/usr/include/node
  ${SLUICE_DEPS}/node/usr/include/nodejs/deps/v8/include)
target_link_libraries(v8 INTERFACE ${SLUICE_DEPS}/node/usr/lib/x86_64-linux-gnu/libnode.so.108)
target_compile_options(v8 INTERFACE -fno-rtti -fno-sanitize=vptr)

# Boost.Asio and Beast are header-only; the Boost of the package libboost1.81-dev.
add_library(asio INTERFACE)
target_compile_definitions(asio INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_ARRAY)
target_link_libraries(asio INTERFACE OpenSSL::SSL Threads::Threads)
if(SLUICE_SANITIZE MATCHES thread)
  # ThreadSanitizer does not understand fences. Asio's are not needed: its queues have mutexes.
  target_compile_definitions(asio INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
