import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { liveLimitsContract } from '../../../support/live-limits.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';

liveLimitsContract((instance, clock) => ({
  store: new MemoryStore({ instance, clock }),
  limits: memoryLimitTable(),
}));
