/** The programs that a deployment runs at night. Here each runs once, when the console starts. */
import { type LedgerClock, silentLog } from '../../functions/core/environment/index.ts';
import { recountOutcome, roundMs } from '../../functions/core/ledger/index.ts';
import { closeMonths } from '../../functions/drift/close-months.ts';
import { packJobs } from '../../functions/drift/pack-jobs.ts';
import { CALENDAR_YEAR, type FiscalStart } from '../../policies/limits/period.ts';
import type { Directory } from '../../policies/place/directory.ts';
import type { Policy } from '../../policies/policy.ts';
import type { LocalLedger } from './ledger-source.ts';
import { PAST_DAYS } from './past-month.ts';

interface Nightly {
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  readonly onTrouble: (text: string) => void;
}

/** Each program gets this long; the next start continues. */
const WORK_MS_MAX = 2_000;
const READ_TIMEOUT_MS = 5_000;

/** Closes the months that are over. @param zone - IANA zone of the days of usage */
export async function closeLocalMonths({
  ledger: { chain, instance, usage, sheets },
  policy: { currency, prices },
  limits: { fiscalStart = CALENDAR_YEAR },
  directory,
  zone,
  clock,
  onTrouble,
}: Nightly & {
  readonly ledger: Pick<LocalLedger, 'chain' | 'instance' | 'usage' | 'sheets'>;
  readonly policy: Policy;
  readonly limits: { readonly fiscalStart?: FiscalStart };
  readonly directory: Directory;
  readonly zone: string;
}): Promise<void> {
  try {
    const { failed } = await closeMonths(clock.monotonicMs() + WORK_MS_MAX, {
      ...{ chain, instance, usage, sheets, currency, prices, fiscalStart, directory, zone, clock },
      log: silentLog,
    });
    if (failed > 0) onTrouble(`months of ${failed} groups are not closed; the next start goes on with it`);
  } catch (error) {
    onTrouble(`months are not closed (${String(error)}); the next start goes on with it`);
  }
}

/** Packs the jobs' costs by branch and the like for reports. @param knownJobIds - ids of jobs decided lately */
export async function packLocalJobs({
  ledger: { sheets, store },
  zone,
  clock,
  knownJobIds,
  onTrouble,
}: Nightly & {
  readonly ledger: Pick<LocalLedger, 'sheets' | 'store'>;
  readonly zone: string;
  readonly knownJobIds: readonly number[];
}): Promise<void> {
  try {
    await packJobs(clock.monotonicMs() + WORK_MS_MAX, {
      ...{ sheets, zone, clock, daysBack: PAST_DAYS, recentJobIds: async () => knownJobIds },
      readRecords: (jobIds) => store.readRecords(jobIds, { timeoutMs: READ_TIMEOUT_MS }),
    });
  } catch (error) {
    onTrouble(`jobs are not packed for reports (${String(error)}); the next start tries again`);
  }
}

/** Compares counters with their jobs, at most once per round of a deployment's recount. */
export async function recountLocalLedger({
  ledger: { ledger, recounts },
  clock,
  onTrouble,
}: Pick<Nightly, 'onTrouble'> & {
  readonly ledger: Pick<LocalLedger, 'ledger' | 'recounts'>;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
}): Promise<void> {
  try {
    const startedAtMs = clock.nowMs();
    const last = await recounts.read();
    if (last !== undefined && startedAtMs - last.recountedAtMs < roundMs(last.records ?? 0)) return;
    await recounts.write(recountOutcome(await ledger.rebuild({ repair: false }), startedAtMs));
  } catch (error) {
    onTrouble(`counters are not compared with their jobs (${String(error)}); the next start tries again`);
  }
}
