// The last allocation of this thread that was refused: libtorch may pass the error on as text only.
#pragma once

#include "lockstep/measure/memory_account.h"

namespace lockstep::measure {

void remember_refusal(const OutOfMemory& refusal);

template <class Body>
void remembering_refusals(const Body& body) {
  try {
    body();
  } catch (const OutOfMemory& refusal) {
    remember_refusal(refusal);
    throw;
  }
}

}  // namespace lockstep::measure
