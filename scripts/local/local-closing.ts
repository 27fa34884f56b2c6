/** Months that are over close here as in a deployment: by the program that closes them there, once a day at most. */
import { type LedgerClock, silentLog } from '../../functions/core/environment/index.ts';
import { closeMonths } from '../../functions/drift/close-months.ts';
import { CALENDAR_YEAR, type FiscalStart } from '../../policies/limits/period.ts';
import type { Directory } from '../../policies/place/directory.ts';
import type { Policy } from '../../policies/policy.ts';
import type { LocalLedger } from './ledger-source.ts';

interface LocalClosing {
  readonly ledger: Pick<LocalLedger, 'chain' | 'instance' | 'usage' | 'sheets'>;
  readonly policy: Policy;
  readonly limits: { readonly fiscalStart?: FiscalStart };
  readonly directory: Directory;
  /** IANA zone of the days of usage. */
  readonly zone: string;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  readonly onTrouble: (text: string) => void;
}

/** What is left goes on with the next start. */
const CLOSING_MS_MAX = 2_000;

export async function closeLocalMonths({
  ledger: { chain, instance, usage, sheets },
  policy: { currency, prices },
  limits: { fiscalStart = CALENDAR_YEAR },
  directory,
  zone,
  clock,
  onTrouble,
}: LocalClosing): Promise<void> {
  try {
    const { failed } = await closeMonths(clock.monotonicMs() + CLOSING_MS_MAX, {
      ...{ chain, instance, usage, sheets, currency, prices, fiscalStart, directory, zone, clock },
      log: silentLog,
    });
    if (failed > 0) onTrouble(`months of ${failed} groups are not closed; the next start goes on with it`);
  } catch (error) {
    onTrouble(`months are not closed (${String(error)}); the next start goes on with it`);
  }
}
