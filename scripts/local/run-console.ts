/** The console next to a run: its start, its made-up month, and the facts about it for people. */

import type { Rules } from '../../functions/core/admission/judge.ts';
import { type LedgerClock, silentLog } from '../../functions/core/environment/environment.ts';
import { recountOutcome } from '../../functions/core/ledger/checkpoints.ts';
import { roundMs } from '../../functions/core/ledger/recount-round.ts';
import type { RulesInForce } from '../../functions/core/rules.ts';
import { closeMonths } from '../../functions/drift/close-months.ts';
import { packJobs } from '../../functions/drift/pack-jobs.ts';
import type { Directory } from '../../policies/directory.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import { CALENDAR_YEAR } from '../../policies/limits/period.ts';
import { readYaml } from '../policy/yaml-document.ts';
import type { FastClock } from './clock.ts';
import type { LocalLedger } from './ledger-source.ts';
import type { StartOptions } from './options.ts';
import {
  firstJobId,
  loadPastMonth,
  PAST_DAYS,
  type PastMonthOptions,
  startUsageCounter,
} from './past-month.ts';
import type { Screen } from './screen.ts';

export async function startRunConsole(
  options: StartOptions,
  rules: Rules,
  clock: FastClock,
  { trouble: onTrouble, mailed: onMail, note }: Pick<Screen, 'trouble' | 'mailed' | 'note'>,
) {
  if (options.router !== undefined || options.json) return undefined;
  const { startLocalConsole } = await import('./local-console.ts');
  const { policy, limits, directory } = rules;
  const { value } = readYaml(options.limitsFile);
  const zone = zoneOf(limits);
  const limitsDocument = isRecord(value) ? value : {};
  const served = await startLocalConsole({
    policy,
    directory,
    limits,
    limitsDocument,
    zone,
    clock,
    onTrouble,
    onMail,
  });
  let counter: ReturnType<typeof startUsageCounter> | undefined;
  return {
    url: served.url,
    counted: async (): Promise<void> => counter?.idle(),
    async stop(): Promise<void> {
      await served.stop();
      await counter?.stop();
    },
    async open(
      ledger: LocalLedger,
      rulesFor: RulesInForce['rulesFor'],
      firstRunJobId: number,
    ): Promise<Readonly<Record<string, string>>> {
      const deps = { ledger, directory, zone, clock, onTrouble };
      const month = directory && (await pastMonth({ ...deps, directory, rulesFor, note }));
      if (directory !== undefined) await closeLocalMonths({ ...deps, policy, limits, directory });
      const known = [firstRunJobId, firstJobId(Math.floor(clock.nowMs() / DAY_MS))];
      await packLocalJobs({ ...deps, knownJobIds: known });
      await recountLocalLedger(deps);
      counter = startUsageCounter(deps);
      served.open(ledger, known);
      const people = served.people.map(({ username }) => username);
      return {
        ...month,
        console: served.url,
        'sign in': `as ${people.join(', ')}; no password`,
        closes: options.console ? 'with Ctrl-C' : JOBS_THROUGH,
      };
    },
  };
}

const JOBS_THROUGH = 'when the jobs are through; npm start -- --console keeps it up until Ctrl-C';

async function pastMonth({
  note,
  ...options
}: Omit<PastMonthOptions, 'nowMs' | 'onDays'> & Pick<Screen, 'note'>): Promise<{
  readonly month?: string;
}> {
  const days = `of the last ${PAST_DAYS} days`;
  try {
    const onDays = (days: number): void =>
      note(`month     ${days} days of made-up jobs for the console's pages …`);
    const jobs = await loadPastMonth({ ...options, nowMs: options.clock.nowMs(), onDays });
    if (jobs === 0) return { month: `made-up jobs ${days}, there already` };
    return { month: `${jobs} made-up jobs ${days}, for the console's pages; they count in the limits` };
  } catch (error) {
    options.onTrouble(`the made-up month is not whole (${String(error)}); the next start goes on with it`);
    return {};
  }
}

/** The days of usage begin where periods do. */
function zoneOf({ bySubject }: LimitSet): string {
  const limits = [...bySubject.values()].flat();
  return limits.find(({ per, zone }) => per === 'month' && zone !== 'UTC')?.zone ?? 'UTC';
}

interface Nightly {
  readonly ledger: LocalLedger;
  readonly directory: Directory;
  readonly zone: string;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  readonly onTrouble: (text: string) => void;
}

const WORK_MS_MAX = 2_000;
const READ_TIMEOUT_MS = 5_000;

async function attempt(onTrouble: Nightly['onTrouble'], failed: string, work: () => Promise<unknown>) {
  try {
    await work();
  } catch (error) {
    onTrouble(`${failed} (${String(error)}); the next start tries again`);
  }
}

export const closeLocalMonths = (deps: Nightly & Pick<Rules, 'policy' | 'limits'>): Promise<void> =>
  attempt(deps.onTrouble, 'months are not closed', async () => {
    const { chain, instance, usage, sheets } = deps.ledger;
    const { currency, prices } = deps.policy;
    const { directory, zone, clock } = deps;
    const { failed } = await closeMonths(clock.monotonicMs() + WORK_MS_MAX, {
      ...{ chain, instance, usage, sheets, currency, prices, directory, zone, clock, log: silentLog },
      fiscalStart: deps.limits.fiscalStart ?? CALENDAR_YEAR,
    });
    if (failed > 0)
      deps.onTrouble(`months of ${failed} groups are not closed; the next start goes on with it`);
  });

export const packLocalJobs = (
  deps: Omit<Nightly, 'directory'> & { readonly knownJobIds: readonly number[] },
): Promise<void> =>
  attempt(deps.onTrouble, 'jobs are not packed for reports', () => {
    const { ledger, zone, clock, knownJobIds } = deps;
    return packJobs(clock.monotonicMs() + WORK_MS_MAX, {
      ...{ sheets: ledger.sheets, zone, clock, daysBack: PAST_DAYS, recentJobIds: async () => knownJobIds },
      readRecords: (jobIds) => ledger.store.readRecords(jobIds, { timeoutMs: READ_TIMEOUT_MS }),
    });
  });

/** Compares counters with their jobs, at most once per round of a deployment's recount. */
export const recountLocalLedger = ({
  ledger: { ledger, recounts },
  clock,
  onTrouble,
}: Pick<Nightly, 'ledger' | 'onTrouble'> & {
  readonly clock: Pick<LedgerClock, 'nowMs'>;
}): Promise<void> =>
  attempt(onTrouble, 'counters are not compared with their jobs', async () => {
    const startedAtMs = clock.nowMs();
    const last = await recounts.read();
    if (last !== undefined && startedAtMs - last.recountedAtMs < roundMs(last.records ?? 0)) return;
    await recounts.write(recountOutcome(await ledger.rebuild({ repair: false }), startedAtMs));
  });
