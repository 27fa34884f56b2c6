import type { Rules } from '../../functions/core/admission/judge.ts';
import { systemClock } from '../../functions/core/environment/environment.ts';
import { isLoopback, readRelayConfig } from '../../relay/config.ts';
import type { RelayEvent, RelayObserver } from '../../relay/events.ts';
import * as names from '../../relay/names.ts';
import { createRelay, type Relay } from '../../relay/relay.ts';
import { RelayError } from '../../relay/relay-error.ts';
import { createRouter } from '../../relay/router/router-client.ts';
import { fileToken, literalToken } from '../../relay/token.ts';
import { loadSchema } from '../../relay/wire/schema.ts';
import { initialState } from '../../relay/wire/schema-proof.ts';
import { UsageError } from '../terminal/command.ts';
import { publishedFact, serveAdmit } from './admit.ts';
import { fastClock, SPEED } from './clock.ts';
import type { LocalJob } from './gitlab/state.ts';
import { ledgerFolder, readLedgerNote, writeLedgerNote } from './ledger-note.ts';
import { openLocalLedger } from './ledger-source.ts';
import {
  estimatedEnds,
  openLocalEnds,
  SWEEP_EVERY_MS,
  settleLeftovers,
  WEBHOOK_FAULTS,
} from './local-ends.ts';
import { type StartOptions, whoseJobs } from './options.ts';
import { FIRST_RUN_JOB_ID } from './past-month.ts';
import { choosePipeline, openLocalRouter } from './pipeline-router.ts';
import type { Screen } from './screen.ts';
import { type AnsweredEvent, DecisionTally, limitFigures } from './summary.ts';
import { every } from './timing.ts';

const IDS_RESERVED = 10_000_000;

const FIGURES_EVERY_MS = 2_000;

export async function run(
  options: StartOptions,
  rules: Rules,
  root: string,
  screen: Screen,
  stop: AbortSignal,
) {
  const pipeline = options.router === undefined ? choosePipeline(options.pipeline, root) : undefined;
  const { memory, fresh } = options;
  const dataDir = memory ? undefined : ledgerFolder(root);
  const before = fresh || dataDir === undefined ? undefined : readLedgerNote(dataDir);
  const firstJobId = (before?.jobId ?? FIRST_RUN_JOB_ID) + 1;
  const fast = fastClock(SPEED, Math.max(Date.now(), before?.atMs ?? 0));
  const clock = pipeline === undefined ? systemClock : fast;
  const [ledger, limitEdits] = await Promise.all([
    openLocalLedger({ whose: whoseJobs(options), dataDir, fresh, clock }),
    // Loaded late: a pilot and a program need no pages.
    pipeline === undefined || options.json
      ? undefined
      : import('./run-console.ts').then(({ startRunConsole }) =>
          startRunConsole(options, rules, fast, screen),
        ),
  ]);
  const note = (pace: number, jobId: number): void => {
    if (dataDir === undefined) return;
    const { instance } = ledger;
    const times = { atMs: clock.nowMs(), realMs: Date.now(), pace };
    writeLedgerNote(dataDir, { instance, ...times, pid: process.pid, jobId });
  };
  // Reserves ids in case the run is killed before it writes its last one.
  const lastReserved = pipeline === undefined ? firstJobId - 1 : firstJobId + IDS_RESERVED;
  note(pipeline === undefined ? 1 : SPEED, lastReserved);
  await settleLeftovers(ledger.ledger, clock.nowMs());
  const admit = await serveAdmit(ledger.ledger, rules, ledger.limits, clock, limitEdits?.url);
  const consoleFacts = await limitEdits?.open(ledger, admit.rulesFor, firstJobId);
  const local =
    pipeline !== undefined && rules.directory !== undefined
      ? {
          router: await openLocalRouter(options, pipeline, rules.directory, firstJobId),
          ends: await openLocalEnds(ledger, admit, fast, screen.problem),
        }
      : undefined;
  const pilot = local === undefined ? estimatedEnds(ledger.ledger) : undefined;

  const tally = new DecisionTally();
  let decided = 0;
  const answered = (event: AnsweredEvent): void => {
    decided += 1;
    tally.add(event);
    screen.answered(event, decided, local?.router.total);
    const { request, decision } = event;
    if (request !== undefined && decision?.outcome === 'admitted')
      pilot?.start(request.jobId, decision.terms?.estimateSeconds ?? 0);
  };
  const observe: RelayObserver = (event: RelayEvent) => {
    if (event.type === 'answered') return answered(event);
    const text = problemText(event);
    if (text !== undefined) screen.problem(text);
  };
  const relay = newRelay(options, local?.router, admit.url, rules, observe);
  screen.started({
    ledger: ledger.description,
    ...(await publishedFact(ledger.limits)),
    admit: admit.url,
    ...(local === undefined ? pilotFacts(options, ledger.instance) : localFacts(local)),
    ...consoleFacts,
  });

  const limitsNow = async () =>
    limitFigures(await admit.limits(), rules.directory, ledger.ledger, clock.nowMs());
  const startedMs = performance.now();
  let shown = -1;
  const figures = every(FIGURES_EVERY_MS, async () => {
    if (decided === shown) return;
    shown = decided;
    screen.figures({
      ...{ limits: await limitsNow(), elapsedMs: performance.now() - startedMs, decided },
      running: local?.ends.living() ?? pilot?.running() ?? 0,
    });
  });
  relay.start();
  if (local === undefined) await aborted(stop);
  else {
    await local.router.run(() => stop.aborted, local.ends.play);
    if (stop.aborted)
      screen.problem('no new jobs; those that run come to their end (Ctrl-C again: immediately)');
    await local.ends.finish();
  }
  await figures.stop();
  const summary = tally.summary(await limitsNow(), local?.ends.summary());
  screen.finished(summary);
  await relay.stop();
  await limitEdits?.counted();
  if (limitEdits !== undefined && options.console && !stop.aborted) {
    fast.slowDown();
    note(1, lastReserved);
    screen.note(`\nThe console stays at ${limitEdits.url} until Ctrl-C; time goes at its usual pace again.`);
    await aborted(stop);
  }
  await limitEdits?.stop();
  await local?.router.close();
  await local?.ends.close();
  await pilot?.close();
  await admit.stop();
  ledger.stop();
  note(0, local?.router.lastJobId() ?? lastReserved);
  const jobs: readonly Readonly<LocalJob>[] = [...(local?.ends.jobs() ?? [])];
  return { summary, jobs };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
  );

interface LocalParts {
  readonly router: Awaited<ReturnType<typeof openLocalRouter>>;
  readonly ends: Awaited<ReturnType<typeof openLocalEnds>>;
}

const pilotFacts = ({ router = '' }: StartOptions, instance: string): Readonly<Record<string, string>> => ({
  router,
  gitlab: `${instance}; npx tollgate finds this ledger`,
  jobs: 'last as estimated; a deployment gets the real times from GitLab',
});

function localFacts({ router, ends }: LocalParts): Readonly<Record<string, string>> {
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const { lose, repeat } = WEBHOOK_FAULTS;
  return {
    router: `${router.url} (local)`,
    gitlab: `${ends.gitlabUrl} (local)`,
    webhooks: `to ${ends.settleUrl}; ${percent(lose)} get lost, ${percent(repeat)} come twice`,
    sweep: `every ${SWEEP_EVERY_MS / 1000} s`,
    time: `${SPEED} times as fast for jobs, limits and holds: a minute is ${60_000 / SPEED} ms`,
    ...router.facts,
    deadline: `${LOCAL_DEADLINE_MS / 1000} s per admission request, then the fallback`,
  };
}

const FLAGS: Readonly<Record<string, string>> = {
  [names.ENV_ROUTER_URL]: '--router',
  [names.ENV_ROUTER_TOKEN_FILE]: '--token-file',
  [names.ENV_PROTO_FILE]: '--proto',
  [`${names.ENV_ALLOW_PLAINTEXT_ROUTER}=yes`]: '--allow-plaintext-router',
};

/** No job waits for a decision of the demo, which shows decisions and not fallbacks, also on a slow machine. */
const LOCAL_DEADLINE_MS = 10_000;

function newRelay(
  options: StartOptions,
  router: { readonly url: string; readonly token: string } | undefined,
  admitUrl: string,
  { policy }: Rules,
  observe: RelayObserver,
): Relay {
  return inFlags(() => {
    const { caFile, ...config } = readRelayConfig({
      [names.ENV_ROUTER_URL]: router?.url ?? options.router,
      [names.ENV_ROUTER_TOKEN]: router?.token,
      [names.ENV_ROUTER_TOKEN_FILE]: options.tokenFile,
      [names.ENV_PROTO_FILE]: options.protoFile,
      [names.ENV_CA_FILE]: router === undefined ? process.env[names.ENV_CA_FILE] : undefined,
      [names.ENV_ALLOW_PLAINTEXT_ROUTER]: options.allowPlaintextRouter ? 'yes' : 'no',
      [names.ENV_ADMIT_URL]: admitUrl,
    });
    const schema = loadSchema(config.protoFile);
    const token = 'file' in config.token ? fileToken(config.token.file) : literalToken(config.token.value);
    // A deployed relay waits for its token; here a missing one is an error.
    token.read();
    const tls = caFile === undefined ? {} : { tls: { caFile } };
    return createRelay({
      router: createRouter({ target: config.router, schema, token, userAgent: 'tollgate-local', ...tls }),
      ...{ schema, policy, fetch, observe, admitUrl: config.admitUrl, fallback: config.fallback },
      deadlineMs: router === undefined ? config.deadlineMs : LOCAL_DEADLINE_MS,
      // The local router has the schema of this repository; a real one's is unknown.
      schemaState: router === undefined ? initialState(schema, isLoopback(config.router.host)) : 'proven',
      // The local router has stopped asking by then; a real one may be about to ask.
      ...(router !== undefined && { leaveWaitingMs: 0 }),
    });
  });
}

function inFlags<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    let message = error.message.replace(/^\[\w+\] /, '');
    for (const [setting, flag] of Object.entries(FLAGS)) message = message.replaceAll(setting, flag);
    throw new UsageError(message);
  }
}

function problemText(event: RelayEvent): string | undefined {
  switch (event.type) {
    case 'backing_off':
      return `no stream to the router: ${remedied(event)}; next try in ${Math.round(event.delayMs)} ms`;
    case 'registration_failed':
      return `registration failed: ${remedied(event)}; admission goes on without it`;
    case 'unreadable':
      return `an admission request could not be read: ${event.problem}`;
    case 'schema':
      if (event.state === 'placeholder')
        return 'nothing is ever rejected: these descriptors are the placeholder; give GitLab’s own with --proto';
      return event.state === 'suspect'
        ? 'nothing is rejected: most recent requests contradict the schema'
        : undefined;
    case 'rejection_withheld':
      return `a rejection was withheld: the schema is ${event.state}`;
    case 'own_fault':
      return `a part of the relay failed: ${event.place}, ${event.error}`;
    case 'suspicious':
      return `job ${event.jobId}: variables contradict GitLab in ${event.fields.join(', ')}`;
    case 'admit_failed':
      return `admit function: ${event.details}`;
    default:
      return undefined;
  }
}

const remedied = ({ details, remedy }: { readonly details: string; readonly remedy?: string | undefined }) =>
  remedy === undefined ? details : `${details}; ${remedy}`;
