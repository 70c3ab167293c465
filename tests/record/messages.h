// What an action complained about, for tests that read messages.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lockstep/base/error.h"

namespace lockstep::record {

template <class Action>
std::string complaint_of(Action action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "(no complaint)";
}

}  // namespace lockstep::record
