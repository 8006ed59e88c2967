// What most tests include, compiled once for all of them (cmake/units.cmake).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/precompiled.h"
