import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore } from '../../../functions/core/ledger/memory-store.ts';
import { systemClock } from '../../../functions/core/ledger/system-clock.ts';
import { DynamoLimitTable } from '../../../functions/core/limits/dynamo-limit-table.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { type AdmitServer, serveAdmit } from '../../local/admit-server.ts';
import { conformanceRules } from './rules.ts';

/** The admit function on loopback with books of its own: job ids begin anew with every phase. */
export function openAdmit(): Promise<AdmitServer> {
  const store = new MemoryStore({ instance: 'conformance.example.com' });
  return serveAdmit(
    createLedger({ store, clock: systemClock }),
    conformanceRules(),
    new DynamoLimitTable({
      table: new MemoryTable(),
      instance: 'gitlab.example.com',
      clock: systemClock,
      random: Math.random,
    }),
  );
}
