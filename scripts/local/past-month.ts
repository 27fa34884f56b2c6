/** A month of made-up jobs before today, so that pages show a past: decided and charged on a clock of that time. */
import { decide } from '../../functions/core/admission/index.ts';
import { type LedgerClock, silentLog, systemClock } from '../../functions/core/environment/index.ts';
import type { JobTruth } from '../../functions/core/gitlab/index.ts';
import { createLedger, type JobRecord, recordItem } from '../../functions/core/ledger/index.ts';
import type { RulesInForce } from '../../functions/core/rules/index.ts';
import { settleTruths } from '../../functions/core/truth/index.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import type { Directory } from '../../policies/place/directory.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import type { LocalLedger } from './ledger-source.ts';
import { type CountUsageDeps, countUsage } from './usage-counter.ts';
import { firstJobId, jobsOfDay, type PastJob, pastProjects, scalesOf } from './workload/past-jobs.ts';

export interface PastMonthOptions extends CountUsageDeps {
  readonly ledger: Pick<LocalLedger, 'store' | 'keys' | 'usage'>;
  readonly rulesFor: RulesInForce['rulesFor'];
  readonly directory: Directory;
  /** The month ends before this day (UTC). */
  readonly nowMs: number;
  /** Called before some days are written, with the number of missing days that are written. */
  readonly onDays?: (done: number, total: number) => void;
  /** @default this process's */
  readonly monotonicMs?: () => number;
}

export interface PastMonth {
  /** Jobs written now; 0: the month was there already. */
  readonly jobs: number;
  /** Days not written in time; the next start continues. */
  readonly daysLeft: number;
}

export const PAST_DAYS = 30;
/** Hours at which jobs ask: few jobs together, because a group may have few slots. */
const WAVE_HOURS = [9, 14] as const;
/** Days counted together: about a hundred jobs, as many as a stream's batch. */
const DAYS_AT_ONCE = 6;
/** On a machine that is too busy for the whole month the run starts without the rest. */
const LOAD_MS_MAX = 8_000;
const DEADLINE_MS = 30_000;
const TIMEOUT_MS = 10_000;

/** Loads the missing days of the 30 before today, the last ones first. */
export async function loadPastMonth(options: PastMonthOptions): Promise<PastMonth> {
  const { rulesFor, directory, nowMs, onDays, monotonicMs = systemClock.monotonicMs } = options;
  const days = await missingDays(options);
  if (days.length === 0) return { jobs: 0, daysLeft: 0 };
  const untilMs = monotonicMs() + LOAD_MS_MAX;
  const rules = await rulesFor(
    pastProjects(directory).map(({ id, groupId }) => ({ jobId: 1, projectId: id, namespaceId: groupId })),
  );
  const scales = scalesOf(directory, rules.limits, nowMs);
  let jobs = 0;
  let daysLeft = days.length;
  while (daysLeft > 0 && monotonicMs() < untilMs) {
    onDays?.(days.length - daysLeft, days.length);
    const some = days.slice(Math.max(0, daysLeft - DAYS_AT_ONCE), daysLeft);
    const planned = some.map((day) => ({ day, jobs: jobsOfDay(day, directory, scales) }));
    // The first job of a day marks it as loaded, so it comes last. Repeating a job changes nothing.
    jobs += await live(
      planned.map((each) => ({ ...each, jobs: each.jobs.slice(1) })),
      options,
    );
    jobs += await live(
      planned.map((each) => ({ ...each, jobs: each.jobs.slice(0, 1) })),
      options,
    );
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

/** Decides, charges and counts jobs. @returns the number of their records. */
async function live(
  days: readonly { readonly day: number; readonly jobs: readonly PastJob[] }[],
  options: PastMonthOptions,
): Promise<number> {
  const { ledger } = options;
  for (const { day, jobs } of days)
    for (const [wave, hour] of WAVE_HOURS.entries()) {
      const planned = jobs.filter(({ request }) => request.jobId % WAVE_HOURS.length === wave);
      await liveWave(planned, day * DAY_MS + hour * 3_600_000, options);
    }
  const ids = days.flatMap(({ jobs }) => jobs.map(({ request }) => request.jobId));
  const records = (await ledger.store.readRecords(ids, { timeoutMs: TIMEOUT_MS })).filter(
    (record) => record !== undefined,
  );
  await countUsage(
    records.map((record) => insertOf(record, ledger.keys)),
    options,
  );
  return records.length;
}

async function liveWave(
  planned: readonly PastJob[],
  atMs: number,
  { ledger: { store }, rulesFor }: PastMonthOptions,
): Promise<void> {
  const clock: LedgerClock = { ...systemClock, nowMs: () => atMs };
  const ledger = createLedger({ store, clock });
  const asking = planned.filter(({ unasked }) => !unasked);
  const requests = asking.map(({ request }) => request);
  const deps = { ledger, currentRules: rulesFor, clock, log: silentLog };
  const decisions = await decide(requests, clock.monotonicMs() + DEADLINE_MS, deps);
  const ran = asking.filter((_, index) => decisions[index]?.outcome === 'admitted');
  await ledger.settle(
    ran.map(({ request: { jobId }, runsSeconds, outcome, retryCount, queuedSeconds }) => ({
      ...{ jobId, outcome, retryCount, queuedSeconds, durationSeconds: runsSeconds },
      endedAtMs: atMs + Math.ceil(runsSeconds * 1_000),
    })),
  );
  const bypassing = planned.filter(({ unasked }) => unasked);
  const currentRules = () => rulesFor(bypassing.map(({ request }) => request));
  await settleTruths(
    bypassing.map((job) => endOf(job, atMs)),
    { ...deps, currentRules },
  );
}

/** The stream record of a job that is written once. */
const insertOf = (record: JobRecord, keys: LocalLedger['keys']) => ({
  eventName: 'INSERT',
  dynamodb: { SequenceNumber: String(record.jobId), NewImage: recordItem(record, keys) },
});

/** GitLab's report of a job that ran without a decision. */
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
