import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore } from '../../../functions/core/ledger/memory-store.ts';
import { systemClock } from '../../../functions/core/ledger/system-clock.ts';
import { MemoryLimitTable } from '../../../functions/core/limits/memory-limit-table.ts';
import { type AdmitServer, serveAdmit } from '../../local/admit-server.ts';
import { conformanceRules } from './rules.ts';

/** The admit function on loopback with books of its own: job ids begin anew with every phase. */
export function openAdmit(): Promise<AdmitServer> {
  const store = new MemoryStore({ instance: 'conformance.example.com' });
  return serveAdmit(createLedger({ store, clock: systemClock }), conformanceRules(), new MemoryLimitTable());
}
