/** The console next to a run: its start, its made-up month, and the facts about it for people. */

import type { Rules } from '../../functions/core/admission/index.ts';
import type { RulesInForce } from '../../functions/core/rules/index.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import { readYaml } from '../policy/yaml-document.ts';
import type { FastClock } from './clock/clock.ts';
import type { LocalLedger } from './ledger-source.ts';
import { closeLocalMonths, packLocalJobs, recountLocalLedger } from './nightly-programs.ts';
import type { StartOptions } from './options.ts';
import { loadPastMonth, PAST_DAYS, type PastMonth, type PastMonthOptions } from './past-month.ts';
import type { Screen } from './screen.ts';
import { startUsageCounter } from './usage-counter.ts';
import { firstJobId } from './workload/past-jobs.ts';

/** Returns undefined for the pilot and with --json, where the console is not used. */
export async function startRunConsole(
  options: StartOptions,
  rules: Rules,
  clock: FastClock,
  { trouble: onTrouble, mailed: onMail, loading }: Pick<Screen, 'trouble' | 'mailed' | 'loading'>,
) {
  if (options.router !== undefined || options.json) return undefined;
  // A run without the console does not wait for its modules.
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
    /** Resolves when all jobs are counted in the usage that it shows. */
    counted: async (): Promise<void> => counter?.idle(),
    async stop(): Promise<void> {
      await served.stop();
      await counter?.stop();
    },
    /** Loads the month before today into the ledger and shows it. @returns facts for people. */
    async open(
      ledger: LocalLedger,
      rulesFor: RulesInForce['rulesFor'],
      firstRunJobId: number,
    ): Promise<Readonly<Record<string, string>>> {
      const deps = { ledger, directory, zone, clock, onTrouble };
      const month = directory && (await pastMonth({ ...deps, directory, rulesFor, loading }));
      if (directory !== undefined) await closeLocalMonths({ ...deps, policy, limits, directory });
      const known = [firstRunJobId, firstJobId(Math.floor(clock.nowMs() / DAY_MS))];
      await packLocalJobs({ ...deps, knownJobIds: known });
      await recountLocalLedger(deps);
      counter = startUsageCounter(deps);
      served.open(ledger, known);
      const people = served.people.map(({ username }) => username);
      return {
        ...(month !== undefined && { month: monthText(month) }),
        console: served.url,
        'sign in': `as ${people.join(', ')}; no password`,
        closes: options.console || options.forever ? INTERRUPTED : JOBS_THROUGH,
      };
    },
  };
}

const INTERRUPTED = 'with Ctrl-C';
const JOBS_THROUGH = 'when the jobs are through; npm start -- --console keeps it up until Ctrl-C';

async function pastMonth({
  loading,
  ...options
}: Omit<PastMonthOptions, 'nowMs' | 'onDays'> & Pick<Screen, 'loading'>): Promise<PastMonth | undefined> {
  try {
    return await loadPastMonth({ ...options, nowMs: options.clock.nowMs(), onDays: loading });
  } catch (error) {
    // The jobs run without it.
    options.onTrouble(`the made-up month is not whole (${String(error)}); the next start goes on with it`);
    return undefined;
  } finally {
    loading();
  }
}

function monthText({ jobs, daysLeft }: PastMonth): string {
  const days = `of the last ${PAST_DAYS - daysLeft} days`;
  if (jobs === 0 && daysLeft === 0) return `made-up jobs ${days}, there already`;
  const said = `${jobs} made-up jobs ${days}, for the console's pages; they count in the limits`;
  return daysLeft === 0 ? said : `${said} (${daysLeft} more days with the next start)`;
}

/** The days of usage begin where periods do. */
function zoneOf({ bySubject }: LimitSet): string {
  const limits = [...bySubject.values()].flat();
  return limits.find(({ per, zone }) => per === 'month' && zone !== 'UTC')?.zone ?? 'UTC';
}
