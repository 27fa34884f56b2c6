/** The console on this machine: the app that Lambda runs, on the ledger of the run, behind a sign-in without passwords. */
import { randomBytes } from 'node:crypto';
import { createConsoleRead } from '../../functions/answers/create-console-read.ts';
import { placesOf } from '../../functions/answers/reading/scope.ts';
import { tellOwnerBy } from '../../functions/console/api/tell-owner.ts';
import { createConsoleApp } from '../../functions/console/app.ts';
import { createAssets } from '../../functions/console/pages/assets.ts';
import { type Log, silentLog, systemClock } from '../../functions/core/environment/environment.ts';
import { createLimitsDesk } from '../../functions/core/limits/create-limits-desk.ts';
import type { LimitsDocument } from '../../functions/core/limits/limit-set.ts';
import { createUploads } from '../../functions/core/limits/limit-table.ts';
import { MemoryNotifier, type Message } from '../../functions/core/notify/message.ts';
import { CALLBACK_PATH } from '../../functions/core/signin/config.ts';
import { createSignIn } from '../../functions/core/signin/create-sign-in.ts';
import { gitlabRoles } from '../../functions/core/signin/gitlab-roles.ts';
import { ownSessions } from '../../functions/core/signin/sessions.ts';
import { type Directory, directoryOf } from '../../policies/directory.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import type { Policy } from '../../policies/policy.ts';
import { createPages, renderNotice } from './console-pages.ts';
import { type LocalSignIn, openLocalSignIn } from './gitlab/sign-in-gitlab.ts';
import type { LocalLedger } from './ledger-source.ts';
import { serveOnLoopback } from './loopback.ts';
import { PAST_RUNNERS } from './past-month.ts';

interface LocalConsoleOptions {
  readonly policy: Policy;
  readonly directory: Directory | undefined;
  readonly limits: LimitSet;
  readonly limitsDocument: LimitsDocument;
  readonly zone: string;
  /** The jobs' clock. Sessions use the machine's. */
  readonly clock: { nowMs(): number };
  readonly onTrouble: (text: string) => void;
  readonly onMail: (message: Message) => void;
}

interface App {
  fetch(request: Request): Response | Promise<Response>;
}

const LIVE_JOBS_MAX = 1_000;

const STARTING: App = { fetch: () => new Response('Tollgate is starting.\n', { status: 503 }) };

/** Listens before there is a ledger, because the sign-in needs the address. */
export async function startLocalConsole(options: LocalConsoleOptions) {
  let app = STARTING;
  const server = await serveOnLoopback({ fetch: (request) => app.fetch(request) });
  const signIn = await openLocalSignIn(`${server.url}${CALLBACK_PATH}`, options.directory);
  return {
    url: server.url,
    people: signIn.people,
    /**
     * Shows the ledger; until then every page says that Tollgate is starting.
     *
     * @param knownJobIds - one id in each range of job ids: the made-up month's and the run's.
     */
    open(ledger: LocalLedger, knownJobIds: readonly number[] = []): void {
      app = consoleOn(ledger, knownJobIds, signIn, server.url, options);
    },
    async stop(): Promise<void> {
      await server.stop();
      await signIn.gitlab.stop();
    },
  };
}

function consoleOn(
  ledger: LocalLedger,
  knownJobIds: readonly number[],
  { gitlab, roles, people }: LocalSignIn,
  url: string,
  { policy, limits, limitsDocument, zone, clock, onTrouble, onMail, ...options }: LocalConsoleOptions,
): App {
  const known = options.directory ?? directoryOf([]);
  const directory = async (): Promise<Directory> => known;
  const newId = (): string => randomBytes(5).toString('hex');
  const log: Log = {
    ...silentLog,
    error: (message, { path } = {}) =>
      onTrouble(`console: ${message}${path === undefined ? '' : ` (${path})`}`),
  };
  const { limits: table, ledger: jobs, usage, sheets, recounts, chain, sessions, store } = ledger;
  const desk = createLimitsDesk({
    ...{ table, policy, packed: limitsDocument, directory, ledger: jobs, clock, newId, zone },
  });
  const { instance, description } = ledger;
  const read = createConsoleRead({
    ...{ desk, limitTable: table, packedLimits: limits, policy, ledger: jobs, usage, sheets, recounts },
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
  const tellOwner = tellOwnerBy({ notify: new MemoryNotifier(onMail), ledger: jobs, origin: url });
  const shared = { desk, read, policy, directory, clock, tellOwner, origin: url, log };
  const pages = createPages({
    ...{ ...shared, zone, uploads: createUploads({ table, clock, newId }) },
    sessions: ownSessions(sessions, systemClock),
  });
  return createConsoleApp({ ...shared, signIn, pages, assets: createAssets() });
}
