import { MemoryStore } from '../../../functions/ledger/memory-store.ts';
import { MemoryLimitTable } from '../../../functions/limits/memory-limit-table.ts';
import { liveLimitsContract } from './live-limits.ts';

liveLimitsContract((instance, clock) => ({
  store: new MemoryStore({ instance, clock }),
  limits: new MemoryLimitTable(),
}));
