/**
 * A month of made-up jobs before today, so that pages show a past. The real ledger decides and charges them on a clock of
 * that time, over a table in memory; some days at a time go into the real table. One write per job instead of two
 * makes the month take seconds.
 */
import { randomUUID } from 'node:crypto';
import { decide } from '../../functions/core/admission/index.ts';
import { type LedgerClock, silentLog, systemClock } from '../../functions/core/environment/index.ts';
import type { JobTruth } from '../../functions/core/gitlab/index.ts';
import {
  type Counter,
  changesBetween,
  createLedger,
  expiring,
  type JobRecord,
  type LedgerStore,
  MemoryStore,
  mergeChanges,
  packs,
  type ReadOptions,
  recordItem,
  type TransactOptions,
  type TransactOutcome,
  type Write,
} from '../../functions/core/ledger/index.ts';
import type { RulesInForce } from '../../functions/core/rules/index.ts';
import { settleTruths } from '../../functions/core/truth/index.ts';
import { type CounterKey, counterName } from '../../policies/claim.ts';
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
  /** Called before some days are written, with how many of the missing ones are. */
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
/** Loading takes two to four seconds. On a machine that is too busy for that the run starts without the rest. */
const LOAD_MS_MAX = 8_000;
const DEADLINE_MS = 30_000;
const TIMEOUT_MS = 10_000;

/** Loads the missing days of the 30 before today, the last ones first. */
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
    // Counted before the records: after an interruption the days are still missing, and counting again changes nothing.
    await countUsage(
      records.map((record) => insertOf(record, ledger.keys)),
      options,
    );
    await write(records, ledger);
    jobs += records.length;
    daysLeft -= some.length;
  }
  return { jobs, daysLeft };
}

/** The stream record of a job that is written once. */
const insertOf = (record: JobRecord, keys: LocalLedger['keys']) => ({
  eventName: 'INSERT',
  dynamodb: { SequenceNumber: String(record.jobId), NewImage: recordItem(record, keys) },
});

async function missingDays({ ledger, directory, nowMs }: PastMonthOptions): Promise<readonly number[]> {
  if (directory.projectById.size === 0) return [];
  const today = Math.floor(nowMs / DAY_MS);
  const days = Array.from({ length: PAST_DAYS }, (_, index) => today - PAST_DAYS + index);
  const firsts = await ledger.store.readRecords(days.map(firstJobId), { timeoutMs: TIMEOUT_MS });
  return days.filter((_, index) => firsts[index] === undefined);
}

/** Decides the jobs of a day in two waves, and charges the admitted ones at their end. */
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

/** Writes records with their counters. The first job of a day comes last: it marks the day as loaded. */
async function write(records: readonly JobRecord[], { store }: PastMonthOptions['ledger']): Promise<void> {
  const all = packs(records.toReversed(), ({ claims }) => ({
    items: 1,
    names: claims.map(({ counter }) => counterName(counter)),
  }));
  for (const pack of all) {
    const there = await writePack(pack, store);
    // An earlier run was interrupted here.
    if (there.size > 0)
      await writePack(
        pack.filter((record) => !there.has(record)),
        store,
      );
  }
}

/** @returns records that exist already; if there are any, nothing was written. */
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

/** A table in memory whose counters start from those of another table, which it never writes. */
class RehearsalStore extends MemoryStore {
  readonly #below: Pick<LedgerStore, 'readCounters'>;
  readonly #known = new Set<string>();

  constructor(below: Pick<LedgerStore, 'readCounters'>) {
    super({ instance: 'rehearsal' });
    this.#below = below;
  }

  override async transact(writes: readonly Write[], options: TransactOptions): Promise<TransactOutcome> {
    await this.#learn(writes.flatMap((write) => (write.kind === 'counter' ? [write.key] : [])));
    return super.transact(writes, options);
  }

  override async readCounters(
    keys: readonly CounterKey[],
    options: ReadOptions,
  ): Promise<readonly (Counter | undefined)[]> {
    await this.#learn(keys);
    return super.readCounters(keys, options);
  }

  async #learn(keys: readonly CounterKey[]): Promise<void> {
    const unknown = keys.filter((key) => !this.#known.has(counterName(key)));
    if (unknown.length === 0) return;
    const counters = await this.#below.readCounters(unknown, { timeoutMs: TIMEOUT_MS });
    for (const key of unknown) this.#known.add(counterName(key));
    const writes = counters.flatMap((counter): readonly Write[] =>
      counter === undefined ? [] : [{ kind: 'counter', ...counter }],
    );
    if (writes.length === 0) return;
    await super.transact(writes, { token: `learned ${this.#known.size}`, timeoutMs: TIMEOUT_MS });
  }
}
