/** The console next to a run: its start, its made-up month, and the facts about it for people. */
import { randomBytes } from 'node:crypto';
import { createConsoleRead } from '../../functions/answers/create-console-read.ts';
import { placesOf } from '../../functions/answers/reading/scope.ts';
import { createOwnerNotifier } from '../../functions/console/api/notify-owner.ts';
import { createConsoleApp } from '../../functions/console/app.ts';
import { createAssets } from '../../functions/console/pages/assets.ts';
import type { Rules } from '../../functions/core/admission/judge.ts';
import {
  type LedgerClock,
  type Log,
  silentLog,
  systemClock,
} from '../../functions/core/environment/environment.ts';
import { recountOutcome } from '../../functions/core/ledger/checkpoints.ts';
import { roundMs } from '../../functions/core/ledger/recount-round.ts';
import { createLimitEdits } from '../../functions/core/limits/create-limit-edits.ts';
import type { LimitsDocument } from '../../functions/core/limits/limit-set.ts';
import { createUploads } from '../../functions/core/limits/limit-table.ts';
import { MemoryNotifier } from '../../functions/core/notify/message.ts';
import type { RulesInForce } from '../../functions/core/rules.ts';
import { CALLBACK_PATH } from '../../functions/core/signin/config.ts';
import { createSignIn } from '../../functions/core/signin/create-sign-in.ts';
import { gitlabRoles } from '../../functions/core/signin/gitlab-roles.ts';
import { ownSessions } from '../../functions/core/signin/sessions.ts';
import { closeMonths } from '../../functions/drift/close-months.ts';
import { packJobs } from '../../functions/drift/pack-jobs.ts';
import { type Directory, indexDirectory } from '../../policies/directory.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import { CALENDAR_YEAR } from '../../policies/limits/period.ts';
import { readYaml } from '../policy/yaml-document.ts';
import type { FastClock } from './clock.ts';
import { createPages, renderNotice } from './console-pages.ts';
import { type LocalSignIn, openLocalSignIn } from './gitlab/sign-in-gitlab.ts';
import type { LocalLedger } from './ledger-source.ts';
import { serveOnLoopback } from './loopback.ts';
import type { StartOptions } from './options.ts';
import {
  firstJobId,
  loadPastMonth,
  PAST_DAYS,
  PAST_RUNNERS,
  type PastMonthOptions,
  startUsageCounter,
} from './past-month.ts';
import type { Screen } from './screen.ts';

const LIVE_JOBS_MAX = 1_000;

type App = Parameters<typeof serveOnLoopback>[0];

interface ConsoleParts {
  readonly rules: Rules;
  readonly packed: LimitsDocument;
  readonly zone: string;
  /** The jobs' clock. Sessions use the machine's. */
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  readonly screen: Pick<Screen, 'problem' | 'mailed'>;
}

/** Listens before there is a ledger, because the sign-in needs the address; until then every page says that it starts. */
export async function startLocalConsole(parts: ConsoleParts) {
  let app: App = { fetch: () => new Response('Tollgate is starting.\n', { status: 503 }) };
  const server = await serveOnLoopback({ fetch: (request) => app.fetch(request) });
  const signIn = await openLocalSignIn(`${server.url}${CALLBACK_PATH}`, parts.rules.directory);
  return {
    url: server.url,
    people: signIn.people,
    /** @param knownJobIds - one id in each range of job ids: the made-up month's and the run's. */
    open(ledger: LocalLedger, knownJobIds: readonly number[] = []): void {
      app = consoleOn(ledger, knownJobIds, signIn, server.url, parts);
    },
    async stop(): Promise<void> {
      await server.stop();
      await signIn.gitlab.stop();
    },
  };
}

export async function startRunConsole(
  { limitsFile, console: isKept }: StartOptions,
  rules: Rules,
  clock: FastClock,
  screen: Pick<Screen, 'problem' | 'mailed' | 'note'>,
) {
  const { directory, limits, policy } = rules;
  const { problem: onProblem } = screen;
  const { value } = readYaml(limitsFile);
  const packed = isRecord(value) ? value : {};
  const zone = zoneOf(limits);
  const served = await startLocalConsole({ rules, packed, zone, clock, screen });
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
      const deps = { ledger, directory, zone, clock, onProblem };
      const month = directory && (await pastMonth({ ...deps, directory, rulesFor, note: screen.note }));
      if (directory !== undefined) await closeLocalMonths({ ...deps, policy, limits, directory });
      const known = [firstRunJobId, firstJobId(Math.floor(clock.nowMs() / DAY_MS))];
      await packLocalJobs({ ...deps, knownJobIds: known });
      await recountLocalLedger(deps);
      counter = startUsageCounter(deps);
      served.open(ledger, known);
      return {
        ...month,
        console: served.url,
        'sign in': `as ${served.people.map(({ username }) => username).join(', ')}; no password`,
        closes: isKept ? 'with Ctrl-C' : JOBS_THROUGH,
      };
    },
  };
}

/** The console that Lambda runs, on the ledger of the run, behind a sign-in without passwords. */
function consoleOn(
  ledger: LocalLedger,
  knownJobIds: readonly number[],
  { gitlab, roles, people }: LocalSignIn,
  url: string,
  { rules, packed, zone, clock, screen }: ConsoleParts,
): App {
  const { policy, limits } = rules;
  const known = rules.directory ?? indexDirectory([]);
  const directory = async (): Promise<Directory> => known;
  const newId = (): string => randomBytes(5).toString('hex');
  const log: Log = {
    ...silentLog,
    error: (message, { path } = {}) =>
      screen.problem(`console: ${message}${path === undefined ? '' : ` (${path})`}`),
  };
  const { limits: table, ledger: jobs, usage, sheets, recounts, chain, sessions, store } = ledger;
  const { instance, description } = ledger;
  const limitEdits = createLimitEdits({ table, policy, packed, directory, ledger: jobs, clock, newId, zone });
  const read = createConsoleRead({
    ...{ limitEdits, limitTable: table, packedLimits: limits, policy, ledger: jobs, usage, sheets, recounts },
    ...{ books: { instance, description, jobs: store, chain }, zone, clock, consoleUrl: url },
    recentJobIds: async () => {
      const live = await jobs.dueJobs(Number.MAX_SAFE_INTEGER, LIVE_JOBS_MAX);
      return [...live.map(({ jobId }) => jobId), ...knownJobIds];
    },
    runnerDetails: async () => PAST_RUNNERS,
    userNames: async () => new Map(people.map(({ id, username }) => [id, username])),
    // The file stands for GitLab's list, and is always current.
    places: async () => placesOf(known, clock.nowMs()),
  });
  const rest = { baseUrl: gitlab.url, token: async () => gitlab.token, fetch, clock: systemClock };
  const { clientId, deviceClientId } = gitlab;
  const signIn = createSignIn({
    ...{ issuer: gitlab.url, clientId, deviceClientId, clientSecret: async () => gitlab.clientSecret },
    ...{ redirectUrl: `${url}${CALLBACK_PATH}`, fetch, sessions, roles: gitlabRoles(roles, rest) },
    ...{ clock: systemClock, random: randomBytes, addressOf: () => 'this machine', log },
    render: renderNotice,
  });
  const notify = new MemoryNotifier((message) => screen.mailed(message));
  const notifyOwner = createOwnerNotifier({ notify, ledger: jobs, origin: url });
  const shared = { limitEdits, read, policy, directory, clock, notifyOwner, origin: url, log };
  const pages = createPages({
    ...{ ...shared, zone, uploads: createUploads({ table, clock, newId }) },
    sessions: ownSessions(sessions, systemClock),
  });
  return createConsoleApp({ ...shared, signIn, pages, assets: createAssets() });
}

const JOBS_THROUGH = 'when the jobs are through; npm start -- --console keeps it up until Ctrl-C';

async function pastMonth({
  note,
  ...options
}: Omit<PastMonthOptions, 'nowMs' | 'onDays'> & Pick<Screen, 'note'>): Promise<{ readonly month?: string }> {
  const days = `of the last ${PAST_DAYS} days`;
  try {
    const onDays = (days: number): void =>
      note(`month     ${days} days of made-up jobs for the console's pages …`);
    const jobs = await loadPastMonth({ ...options, nowMs: options.clock.nowMs(), onDays });
    if (jobs === 0) return { month: `made-up jobs ${days}, there already` };
    return { month: `${jobs} made-up jobs ${days}, for the console's pages; they count in the limits` };
  } catch (error) {
    options.onProblem(`the made-up month is not whole (${String(error)}); the next start goes on with it`);
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
  readonly onProblem: (text: string) => void;
}

const WORK_MS_MAX = 2_000;
const READ_TIMEOUT_MS = 5_000;

async function attempt(onProblem: Nightly['onProblem'], failed: string, work: () => Promise<unknown>) {
  try {
    await work();
  } catch (error) {
    onProblem(`${failed} (${String(error)}); the next start tries again`);
  }
}

export const closeLocalMonths = (deps: Nightly & Pick<Rules, 'policy' | 'limits'>): Promise<void> =>
  attempt(deps.onProblem, 'months are not closed', async () => {
    const { chain, instance, usage, sheets } = deps.ledger;
    const { currency, prices } = deps.policy;
    const { directory, zone, clock } = deps;
    const { failed } = await closeMonths(clock.monotonicMs() + WORK_MS_MAX, {
      ...{ chain, instance, usage, sheets, currency, prices, directory, zone, clock, log: silentLog },
      fiscalStart: deps.limits.fiscalStart ?? CALENDAR_YEAR,
    });
    if (failed > 0)
      deps.onProblem(`months of ${failed} groups are not closed; the next start goes on with it`);
  });

export const packLocalJobs = (
  deps: Omit<Nightly, 'directory'> & { readonly knownJobIds: readonly number[] },
): Promise<void> =>
  attempt(deps.onProblem, 'jobs are not packed for reports', () => {
    const { ledger, zone, clock, knownJobIds } = deps;
    return packJobs(clock.monotonicMs() + WORK_MS_MAX, {
      ...{ sheets: ledger.sheets, zone, clock, daysBack: PAST_DAYS, recentJobIds: async () => knownJobIds },
      readRecords: (jobIds) => ledger.store.readRecords(jobIds, { timeoutMs: READ_TIMEOUT_MS }),
    });
  });

export const recountLocalLedger = ({
  ledger: { ledger, recounts },
  clock,
  onProblem,
}: Pick<Nightly, 'ledger' | 'onProblem'> & Pick<ConsoleParts, 'clock'>): Promise<void> =>
  attempt(onProblem, 'counters are not compared with their jobs', async () => {
    const startedAtMs = clock.nowMs();
    const last = await recounts.read();
    if (last !== undefined && startedAtMs - last.recountedAtMs < roundMs(last.records ?? 0)) return;
    await recounts.write(recountOutcome(await ledger.rebuild({ repair: false }), startedAtMs));
  });
