import { systemClock as ledgerClock, silentLog } from '../../../functions/core/environment/index.ts';
import { createLedger, MemoryStore } from '../../../functions/core/ledger/index.ts';
import { createRelay, type Relay } from '../../../relay/relay.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { INLINE_URL, inlineFetch } from '../../local/inline.ts';
import { benchRouter } from './bench-router.ts';
import { benchRules } from './bench-rules.ts';

/** Ids of the questions `router-process.ts` asks; any limits will do, the ledger's work is the same. */
const ROOTS = 1;

/** Takes every write and keeps none: what a table costs is measured elsewhere. */
class InstantStore extends MemoryStore {
  override async transact() {
    return { outcome: 'committed' } as const;
  }
}

/** A whole relay with the admit function inside and a ledger that answers at once: all CPU is ours. */
export function benchRelay(url: string, token: string, streams: number): Relay {
  const schema = loadSchema();
  const rules = benchRules(ROOTS);
  const relay = createRelay({
    router: benchRouter(url, schema, token),
    schema,
    admitUrl: INLINE_URL,
    fetch: inlineFetch({
      ledger: createLedger({ store: new InstantStore({ instance: 'bench.example.com' }) }),
      currentRules: async () => rules,
      clock: ledgerClock,
      log: silentLog,
    }),
    policy: rules.policy,
    deadlineMs: 10_000,
    fallback: 'reject',
    schemaTrust: 'given',
    observe: () => {},
    poolSizes: { start: streams, max: streams * 2, openMax: 1024 },
  });
  relay.start();
  return relay;
}
