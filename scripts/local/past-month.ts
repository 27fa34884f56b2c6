/**
 * A month of jobs before today, so that pages show a past: decided and charged by the real ledger on a clock of then,
 * over a table in memory, and written to the real one some days at a time. A job is then one write instead of two, and
 * the month takes seconds.
 */
import { randomUUID } from 'node:crypto';
import { decide } from '../../functions/core/admission/index.ts';
import { type LedgerClock, silentLog, systemClock } from '../../functions/core/environment/index.ts';
import type { JobTruth } from '../../functions/core/gitlab/index.ts';
import {
  changesBetween,
  createLedger,
  expiring,
  type JobRecord,
  mergeChanges,
  packs,
} from '../../functions/core/ledger/index.ts';
import type { RulesInForce } from '../../functions/core/rules/index.ts';
import { settleTruths } from '../../functions/core/truth/index.ts';
import { counterName } from '../../policies/claim.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import type { Directory } from '../../policies/place/directory.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import { type CountUsageDeps, countUsage } from './count-usage.ts';
import type { LocalLedger } from './ledger-source.ts';
import { RehearsalStore } from './rehearsal-store.ts';
import { firstJobId, jobsOfDay, type PastJob, pastProjects, scalesOf } from './workload/past-jobs.ts';

export interface PastMonthOptions extends CountUsageDeps {
  readonly ledger: Pick<LocalLedger, 'store' | 'keys' | 'usage'>;
  readonly rulesFor: RulesInForce['rulesFor'];
  readonly directory: Directory;
  /** The month ends before this day (UTC). */
  readonly nowMs: number;
  /** Called before some days are written, with how many of the missing ones are. */
  readonly onDays?: (done: number, total: number) => void;
  /** @default this process's */
  readonly monotonicMs?: () => number;
}

export interface PastMonth {
  /** Written now; 0: the month was there already. */
  readonly jobs: number;
  /** Not written, because it took too long: the next start goes on. */
  readonly daysLeft: number;
}

export const PAST_DAYS = 30;
/** When their jobs ask: few at a time, for a group may have few slots. */
const WAVE_HOURS = [9, 14] as const;
/** Counted together: some hundred jobs, as many as a stream's batch. */
const DAYS_AT_ONCE = 6;
/** It takes two to four seconds. On a machine that is too busy for that people wait for their jobs, not for a past. */
const LOAD_MS_MAX = 8_000;
const DEADLINE_MS = 30_000;
const TIMEOUT_MS = 10_000;

/** Loads what is missing of the 30 days before today, the last ones first. */
export async function loadPastMonth(options: PastMonthOptions): Promise<PastMonth> {
  const { ledger, rulesFor, directory, nowMs, onDays, monotonicMs = systemClock.monotonicMs } = options;
  const days = await missingDays(options);
  if (days.length === 0) return { jobs: 0, daysLeft: 0 };
  const untilMs = monotonicMs() + LOAD_MS_MAX;
  const rules = await rulesFor(
    pastProjects(directory).map(({ id, groupId }) => ({ jobId: 1, projectId: id, namespaceId: groupId })),
  );
  const scales = scalesOf(directory, rules.limits, nowMs);
  const rehearsal = new RehearsalStore(ledger.store);
  let jobs = 0;
  let daysLeft = days.length;
  while (daysLeft > 0 && monotonicMs() < untilMs) {
    onDays?.(days.length - daysLeft, days.length);
    const some = days.slice(Math.max(0, daysLeft - DAYS_AT_ONCE), daysLeft);
    const records: JobRecord[] = [];
    for (const day of some)
      records.push(...(await live(jobsOfDay(day, directory, scales), day, rehearsal, rulesFor)));
    // Before the records: whoever is interrupted finds the days missing, and counts nothing twice.
    await countUsage(records, options);
    await write(records, ledger);
    jobs += records.length;
    daysLeft -= some.length;
  }
  return { jobs, daysLeft };
}

async function missingDays({ ledger, directory, nowMs }: PastMonthOptions): Promise<readonly number[]> {
  if (directory.projectById.size === 0) return [];
  const today = Math.floor(nowMs / DAY_MS);
  const days = Array.from({ length: PAST_DAYS }, (_, index) => today - PAST_DAYS + index);
  const firsts = await ledger.store.readRecords(days.map(firstJobId), { timeoutMs: TIMEOUT_MS });
  return days.filter((_, index) => firsts[index] === undefined);
}

/** Asks about the jobs of a day, in two waves, and charges those that were let in when they end. */
async function live(
  planned: readonly PastJob[],
  day: number,
  store: RehearsalStore,
  currentRules: RulesInForce['rulesFor'],
): Promise<readonly JobRecord[]> {
  for (const [wave, hour] of WAVE_HOURS.entries()) {
    const atMs = day * DAY_MS + hour * 3_600_000;
    const clock: LedgerClock = { ...systemClock, nowMs: () => atMs };
    const ledger = createLedger({ store, clock });
    const running = planned.filter((_, place) => place % WAVE_HOURS.length === wave);
    const asking = running.filter(({ unasked }) => !unasked);
    const decisions = await decide(
      asking.map(({ request }) => request),
      clock.monotonicMs() + DEADLINE_MS,
      { ledger, currentRules, clock, log: silentLog },
    );
    const ran = asking.filter((_, index) => decisions[index]?.outcome === 'admitted');
    await ledger.settle(
      ran.map(({ request: { jobId }, runsSeconds, outcome, retryCount, queuedSeconds }) => ({
        ...{ jobId, outcome, retryCount, queuedSeconds, durationSeconds: runsSeconds },
        endedAtMs: atMs + Math.ceil(runsSeconds * 1_000),
      })),
    );
    const passing = running.filter(({ unasked }) => unasked);
    await settleTruths(
      passing.map((job) => endOf(job, atMs)),
      {
        ledger,
        currentRules: () => currentRules(passing.map(({ request }) => request)),
        clock,
        log: silentLog,
      },
    );
  }
  const ids = planned.map(({ request }) => request.jobId);
  const records = await store.readRecords(ids, { timeoutMs: TIMEOUT_MS });
  return records.filter((record) => record !== undefined);
}

/** What GitLab tells of a job that nobody had asked about. */
const endOf = (
  { request, runsSeconds, outcome, retryCount, queuedSeconds }: PastJob,
  startedAtMs: number,
): JobTruth => ({
  jobId: request.jobId,
  projectId: request.projectId ?? 0,
  ...{ status: outcome, retryCount, queuedSeconds },
  ...withoutAbsent({
    projectPath: request.projectPath,
    jobName: request.jobName,
    pipelineId: request.pipelineId,
    ref: request.ref,
    runnerTags: request.runnerTags,
  }),
  runnerId: request.runnerId,
  startedAtMs,
  finishedAtMs: startedAtMs + Math.ceil(runsSeconds * 1_000),
  durationSeconds: runsSeconds,
});

/** Writes also what they count, as if asked about there. The first of a day, by which it is known, comes last. */
async function write(records: readonly JobRecord[], { store }: PastMonthOptions['ledger']): Promise<void> {
  const all = packs(records.toReversed(), ({ claims }) => ({
    items: 1,
    names: claims.map(({ counter }) => counterName(counter)),
  }));
  for (const pack of all) {
    const there = await writePack(pack, store);
    // An interrupted run had come that far.
    if (there.size > 0)
      await writePack(
        pack.filter((record) => !there.has(record)),
        store,
      );
  }
}

/** @returns those that are there already; with one of them nothing was written. */
async function writePack(
  pack: readonly JobRecord[],
  store: PastMonthOptions['ledger']['store'],
): Promise<ReadonlySet<JobRecord>> {
  const [first] = pack;
  if (first === undefined) return new Set();
  const counters = mergeChanges(
    pack.flatMap(({ claims, unchecked }) => changesBetween([], claims, { final: true, unchecked })),
  );
  const outcome = await store.transact(
    [
      ...pack.map((record) => ({ kind: 'record' as const, record })),
      ...[...counters.values()].map((write) => expiring(write, first.decidedAtMs)),
    ],
    { token: randomUUID(), timeoutMs: TIMEOUT_MS },
  );
  return new Set(
    outcome.outcome === 'refused' ? pack.filter((_, index) => outcome.refusals[index] !== undefined) : [],
  );
}
