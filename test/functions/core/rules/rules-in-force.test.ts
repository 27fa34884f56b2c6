import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { liveLimitsContract } from '../../admit/live-limits.ts';

liveLimitsContract((instance, clock) => ({
  store: new MemoryStore({ instance, clock }),
  limits: memoryLimitTable(),
}));
