/** Compares counters with their jobs at the start of a run, once a day as a deployment does: pages say that they agree. */
import type { LedgerClock } from '../../functions/core/environment/index.ts';
import { recountOutcome, roundMs } from '../../functions/core/ledger/index.ts';
import type { LocalLedger } from './ledger-source.ts';

interface LocalRecount {
  readonly ledger: Pick<LocalLedger, 'ledger' | 'recounts'>;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  readonly onTrouble: (text: string) => void;
}

export async function recountLocalBooks({
  ledger: { ledger, recounts },
  clock,
  onTrouble,
}: LocalRecount): Promise<void> {
  try {
    const startedAtMs = clock.nowMs();
    const last = await recounts.read();
    if (last !== undefined && startedAtMs - last.recountedAtMs < roundMs(last.records ?? 0)) return;
    await recounts.write(recountOutcome(await ledger.rebuild({ repair: false }), startedAtMs));
  } catch (error) {
    onTrouble(`counters are not compared with their jobs (${String(error)}); the next start tries again`);
  }
}
