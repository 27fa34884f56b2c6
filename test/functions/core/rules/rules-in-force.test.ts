import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { MemoryLimitTable } from '../../../../functions/core/limits/memory-limit-table.ts';
import { liveLimitsContract } from '../../../support/live-limits.ts';

liveLimitsContract((instance, clock) => ({
  store: new MemoryStore({ instance, clock }),
  limits: new MemoryLimitTable(),
}));
