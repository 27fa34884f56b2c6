/** The console beside a run: when it starts, what it is loaded with, and what people are told of it. */

import type { Rules } from '../../functions/core/admission/index.ts';
import type { RulesInForce } from '../../functions/core/rules/index.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import { readYaml } from '../policy/yaml-document.ts';
import type { FastClock } from './clock/clock.ts';
import type { LocalLedger } from './ledger-source.ts';
import { closeLocalMonths } from './local-closing.ts';
import { packLocalJobs } from './local-jobs.ts';
import { recountLocalBooks } from './local-recount.ts';
import type { StartOptions } from './options.ts';
import { loadPastMonth, PAST_DAYS, type PastMonth, type PastMonthOptions } from './past-month.ts';
import type { Screen } from './screen.ts';
import { startUsageCounter } from './usage-counter.ts';
import { firstJobId } from './workload/past-jobs.ts';

interface RunConsole {
  /** Puts it on the ledger, which gets a month before today first. Gives what to tell people. */
  open(
    ledger: LocalLedger,
    rulesFor: RulesInForce['rulesFor'],
    firstRunJobId: number,
  ): Promise<Readonly<Record<string, string>>>;
  readonly url: string;
  /** Waits until all jobs are counted in what it shows of the past. */
  counted(): Promise<void>;
  stop(): Promise<void>;
}

/** Undefined: nobody is there to look at it. */
export async function startRunConsole(
  options: StartOptions,
  rules: Rules,
  clock: FastClock,
  { trouble: onTrouble, mailed: onMail, loading }: Pick<Screen, 'trouble' | 'mailed' | 'loading'>,
): Promise<RunConsole | undefined> {
  if (options.router !== undefined || options.json) return undefined;
  // Whoever runs without it does not wait for its parts to load.
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
  let counted = async (): Promise<void> => {};
  return {
    url: served.url,
    counted: () => counted(),
    stop: served.stop,
    async open(ledger, rulesFor, firstRunJobId) {
      const deps = { ledger, directory, zone, clock, onTrouble };
      const month = directory && (await pastMonth({ ...deps, directory, rulesFor, loading }));
      if (directory !== undefined) await closeLocalMonths({ ...deps, policy, limits, directory });
      const known = [firstRunJobId, firstJobId(Math.floor(clock.nowMs() / DAY_MS))];
      await packLocalJobs({ ...deps, knownJobIds: known });
      await recountLocalBooks(deps);
      counted = startUsageCounter(deps).idle;
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
    // Nobody came for it: the jobs run without.
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
