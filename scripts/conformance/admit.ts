import { createLedger } from '../../functions/ledger/create-ledger.ts';
import { MemoryStore } from '../../functions/ledger/memory-store.ts';
import { systemClock } from '../../functions/ledger/system-clock.ts';
import { MemoryLimitTable } from '../../functions/limits/memory-limit-table.ts';
import { type AdmitServer, serveAdmit } from '../local/admit-server.ts';
import { conformanceRules } from './rules.ts';

/** The admit function on loopback with books of its own: job ids begin anew with every phase. */
export function openAdmit(): Promise<AdmitServer> {
  const store = new MemoryStore({ instance: 'conformance.example.com' });
  return serveAdmit(createLedger({ store, clock: systemClock }), conformanceRules(), new MemoryLimitTable());
}
