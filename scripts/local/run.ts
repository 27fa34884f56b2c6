import type { Rules } from '../../functions/core/admission/index.ts';
import { systemClock } from '../../functions/core/environment/index.ts';
import type { RelayEvent, RelayObserver } from '../../relay/events.ts';
import { publishedFact, serveAdmit } from './admit-server.ts';
import { fastClock, SPEED } from './clock/clock.ts';
import { type AnsweredEvent, ExhaustionWatch } from './decision-line.ts';
import type { LocalJob } from './gitlab/jobs.ts';
import { WEBHOOK_FAULTS } from './gitlab/played-gitlab.ts';
import { readLeftOff, writeLedgerClock, writeLeftOff } from './ledger-clock.ts';
import { openLocalLedger } from './ledger-source.ts';
import { openLocalEnds } from './local-ends.ts';
import { choosePipeline, openLocalRouter } from './local-router-source.ts';
import type { StartOptions } from './options.ts';
import { LOCAL_DEADLINE_MS, newRelay, troubleText } from './relay-source.ts';
import { startRunConsole } from './run-console.ts';
import type { Figures, Screen } from './screen.ts';
import { EstimatedEnds, SWEEP_EVERY_MS, settleLeftovers } from './settling.ts';
import { ledgerFolder, olderBooks } from './sqlite/ledger-folder.ts';
import { DecisionTally, limitFigures, type Summary } from './summary.ts';
import { whoseJobs } from './whose-jobs.ts';
import { FIRST_RUN_JOB_ID } from './workload/past-jobs.ts';

/** More job ids than any run uses. */
const IDS_RESERVED = 10_000_000;

interface RunResult {
  readonly summary: Summary;
  /** The jobs of the local GitLab; empty against a real one. */
  readonly jobs: readonly Readonly<LocalJob>[];
}

/** Starts everything, runs until the pipeline ends or `stop` aborts, and stops everything again. */
export async function run(
  options: StartOptions,
  rules: Rules,
  root: string,
  screen: Screen,
  stop: AbortSignal,
): Promise<RunResult> {
  const pipeline = options.router === undefined ? choosePipeline(options.pipeline, root) : undefined;
  const { memory, fresh, seed } = options;
  /** Undefined: nothing is read from or written to the disk. */
  const dataDir = memory ? undefined : ledgerFolder(root);
  const leftOff = fresh || dataDir === undefined ? undefined : readLeftOff(dataDir);
  const firstJobId = (leftOff?.jobId ?? FIRST_RUN_JOB_ID) + 1;
  const fast = fastClock(SPEED, Math.max(Date.now(), leftOff?.atMs ?? 0));
  const clock = pipeline === undefined ? systemClock : fast;
  const onTrouble = (text: string): void => screen.trouble(text);
  const [ledger, desk] = await Promise.all([
    openLocalLedger({ whose: whoseJobs(options), dataDir, fresh, clock }),
    startRunConsole(options, rules, fast, screen),
  ]);
  // Commands in other terminals use the ledger's time.
  const noteClock = (pace: number): void => {
    if (dataDir === undefined) return;
    const { instance } = ledger;
    writeLedgerClock(dataDir, { instance, atMs: clock.nowMs(), realMs: Date.now(), pace, pid: process.pid });
  };
  noteClock(pipeline === undefined ? 1 : SPEED);
  await settleLeftovers(ledger.store, ledger.ledger, clock.nowMs());
  const admit = await serveAdmit(ledger.ledger, rules, ledger.limits, clock, desk?.url);
  const consoleFacts = await desk?.open(ledger, admit.rulesFor, firstJobId);
  const local =
    pipeline !== undefined && rules.directory !== undefined
      ? {
          router: await openLocalRouter(options, pipeline, rules.directory, firstJobId),
          ends: await openLocalEnds({ ledger, rules: admit, clock: fast, seed, onTrouble }),
        }
      : undefined;
  const noteLeftOff = (jobId: number): void => {
    if (dataDir !== undefined) writeLeftOff(dataDir, { atMs: clock.nowMs(), jobId });
  };
  // Reserves ids in case the run is killed before it writes its last one.
  if (local !== undefined) noteLeftOff(firstJobId + IDS_RESERVED);
  const pilot = local === undefined ? new EstimatedEnds(ledger.ledger) : undefined;

  const tally = new DecisionTally();
  const runningOut = new ExhaustionWatch(rules.policy.currency);
  let decided = 0;
  const answered = (event: AnsweredEvent): void => {
    decided += 1;
    tally.add(event);
    screen.answered(event, decided, local?.router.total);
    for (const ranOut of runningOut.newIn(event)) screen.ranOut(ranOut);
    const { request, decision } = event;
    if (request !== undefined && decision?.outcome === 'admitted')
      pilot?.start(request.jobId, decision.terms?.estimateSeconds ?? 0);
  };
  const observe: RelayObserver = (event: RelayEvent) => {
    if (event.type === 'answered') return answered(event);
    const text = troubleText(event);
    if (text !== undefined) screen.trouble(text);
  };
  const relay = newRelay(options, local?.router, admit.url, rules, observe);
  const older = dataDir === undefined ? undefined : olderBooks(root);
  screen.started({
    ledger: ledger.description,
    ...(older !== undefined && { 'old books': older }),
    ...(await publishedFact(ledger.limits)),
    admit: admit.url,
    ...(local === undefined ? pilotFacts(options, ledger.instance) : localFacts(local)),
    ...consoleFacts,
  });

  const limitsNow = async () =>
    limitFigures(await admit.limits(), rules.directory, ledger.ledger, clock.nowMs());
  const limitsBefore = await limitsNow();
  const startedMs = performance.now();
  const figuresNow = async (): Promise<Figures> => ({
    limits: await limitsNow(),
    elapsedMs: performance.now() - startedMs,
    timeMs: clock.nowMs(),
    decided,
    total: local?.router.total,
    running: local?.ends.living() ?? pilot?.running ?? 0,
  });
  let shown = '';
  const figures = repeat(screen.figuresEveryMs, async () => {
    const now = await figuresNow();
    // A pilot may wait for hours, and its log must not grow meanwhile.
    const said = JSON.stringify([now.decided, now.running, now.limits]);
    if (said !== shown) screen.figures(now);
    shown = said;
  });
  relay.start();
  if (local === undefined) await aborted(stop);
  else {
    await local.router.run(() => stop.aborted, local.ends.play);
    if (stop.aborted) screen.trouble('no new jobs; those that run come to their end (Ctrl-C again: at once)');
    await local.ends.finish();
  }
  await figures.stop();
  const summary = tally.summary(await limitsNow(), limitsBefore, local?.ends.summary());
  screen.finished(summary);
  await relay.stop();
  await desk?.counted();
  if (desk !== undefined && options.console && !stop.aborted) {
    fast.slowDown();
    noteClock(1);
    screen.stays(desk.url);
    await aborted(stop);
  } else if (desk !== undefined && !stop.aborted) screen.closed();
  await desk?.stop();
  await local?.router.close();
  await local?.ends.close();
  await pilot?.close();
  await admit.stop();
  ledger.stop();
  noteClock(0);
  if (local !== undefined) noteLeftOff(local.router.lastJobId());
  return { summary, jobs: [...(local?.ends.jobs() ?? [])] };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
  );

const pilotFacts = ({ router = '' }: StartOptions, instance: string): Readonly<Record<string, string>> => ({
  router,
  gitlab: `${instance}; npx tollgate finds these books by itself`,
  jobs: 'are taken to last as estimated; a deployment learns the truth from GitLab',
});

function localFacts({
  router,
  ends,
}: {
  readonly router: Awaited<ReturnType<typeof openLocalRouter>>;
  readonly ends: Awaited<ReturnType<typeof openLocalEnds>>;
}): Readonly<Record<string, string>> {
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const { lose, repeat: again } = WEBHOOK_FAULTS;
  return {
    router: `${router.url} (local)`,
    gitlab: `${ends.gitlabUrl} (local)`,
    webhooks: `to ${ends.settleUrl}; ${percent(lose)} get lost, ${percent(again)} come twice`,
    sweep: `every ${SWEEP_EVERY_MS / 1000} s`,
    time: `${SPEED} times as fast for jobs, limits and holds: a minute is ${60_000 / SPEED} ms`,
    ...router.facts,
    deadline: `${LOCAL_DEADLINE_MS / 1000} s a question, then the fallback`,
  };
}

/** Calls `work` at intervals, never twice at the same time. The next call repeats a failed one. */
function repeat(everyMs: number, work: () => Promise<void>): { stop(): Promise<void> } {
  let busy: Promise<void> | undefined;
  const timer = setInterval(() => {
    busy ??= work()
      .catch(() => {})
      .finally(() => {
        busy = undefined;
      });
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await busy;
    },
  };
}
