// The last allocation of this thread that was refused: libtorch may pass the error on as text only.
#pragma once

#include "lockstep/measure/memory_account.h"

namespace lockstep::train {

void remember_refusal(const measure::OutOfMemory& refusal);

template <class Body>
void remembering_refusals(const Body& body) {
  try {
    body();
  } catch (const measure::OutOfMemory& refusal) {
    remember_refusal(refusal);
    throw;
  }
}

}  // namespace lockstep::train
