// What a rank has moved and used in the whole run, as events.
#pragma once

#include "lockstep/measure/ledger.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/record/event.h"

namespace lockstep::train {

record::LedgerEvent ledger_event(const measure::Ledger& ledger, int rank, int world);
record::MemoryEvent memory_event(const measure::MemoryAccount& memory);

}  // namespace lockstep::train
