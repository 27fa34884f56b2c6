import { counterName, type LimitClaim } from '../../../policies/claim.ts';
import { undefinedIfSilent } from '../store/table-failure.ts';
import { attempt, readOptions } from './attempt.ts';
import { type KnownCounters, knownCounter } from './counter.ts';
import { answerFromRecord, type HoldJob, newJob } from './hold-job.ts';
import type { EndOutcome, JobRecord, ReserveOutcome, ReserveRequest } from './ledger.ts';
import type { MoveDeps } from './move.ts';
import {
  freed,
  handedOver,
  isReserved,
  isRetryOf,
  type ReservingWrites,
  reservable,
  reserving,
} from './reservation.ts';
import { expiring } from './retention.ts';
import type { Write } from './store.ts';
import { weigh } from './weigh.ts';

/** A record changes under us only when two callers are at the same job. */
const PASSES_MAX = 6;
const NAMESAKES_MAX = 25;

export async function reserve(
  { jobId, claims, untilMs }: ReserveRequest,
  deadlineMs: number,
  deps: MoveDeps,
): Promise<ReserveOutcome> {
  const wanted = reservable(claims);
  for (let pass = 1; pass <= PASSES_MAX; pass += 1) {
    const [records, known] = await Promise.all([
      readRecords([jobId], deadlineMs, deps),
      readKnown(wanted, deadlineMs, deps),
    ]);
    if (records === undefined || known === undefined) return 'undecided';
    const [record] = records;
    if (record?.state !== 'REJECTED') return 'unchanged';
    const nowMs = deps.clock.nowMs();
    const plan = planOf(record, wanted, known, untilMs, nowMs);
    if (typeof plan === 'string') return plan;
    const write: Write = { kind: 'record', record: plan.record, replaces: record };
    const counters = plan.counters.map((counter) => expiring(counter, nowMs));
    const result = await attempt([write, ...counters], deadlineMs, deps);
    if (result.outcome === 'committed') return 'reserved';
    if (result.outcome === 'gave_up') return 'undecided';
    if (result.refusals[0] === undefined) return 'full';
  }
  return 'undecided';
}

/** Weighs the claims as an admission does, so that the reservation counts what the retried job will take. */
function planOf(
  record: JobRecord,
  claims: readonly LimitClaim[],
  known: KnownCounters,
  untilMs: number,
  nowMs: number,
): ReservingWrites | 'unchanged' | 'full' {
  if (isReserved(record)) return reserving(record, [], [], untilMs);
  const job = newJob({ jobId: record.jobId, facts: record.facts, violations: [], claims });
  const { weighedJobs, merges } = weigh([job], known);
  if (weighedJobs.some(({ violations }) => violations.length > 0)) return 'full';
  if (merges.size === 0) return 'unchanged';
  const counted = weighedJobs.flatMap((weighed) => weighed.claims);
  return reserving(
    record,
    counted,
    [...merges.values()].map((merge) => merge.write(nowMs)),
    untilMs,
  );
}

/** @returns with the record of the new job, if it has one by now */
export async function handOver(
  jobId: number,
  newJobId: number,
  deadlineMs: number,
  deps: MoveDeps,
): Promise<{ readonly outcome: EndOutcome; readonly record?: JobRecord | undefined }> {
  for (let pass = 1; pass <= PASSES_MAX; pass += 1) {
    const records = await readRecords([jobId, newJobId], deadlineMs, deps);
    if (records === undefined) return { outcome: 'undecided' };
    const [from, to] = records;
    if (from === undefined) return { outcome: 'unknown', record: to };
    if (!isReserved(from) || from.state !== 'REJECTED') return { outcome: 'unchanged', record: to };
    const nowMs = deps.clock.nowMs();
    const { record, changes } = freed(from, nowMs);
    const given = to === undefined ? handedOver(from, newJobId, nowMs) : undefined;
    const counters = given?.counters ?? changes;
    const result = await attempt(
      [
        { kind: 'record', record, replaces: from },
        ...(given === undefined ? [] : [{ kind: 'record' as const, record: given.record }]),
        ...counters.map((counter) => expiring(counter, nowMs)),
      ],
      deadlineMs,
      deps,
    );
    if (result.outcome === 'committed') return { outcome: 'applied', record: to ?? given?.record };
    if (result.outcome === 'gave_up') return { outcome: 'undecided' };
  }
  return { outcome: 'undecided' };
}

/** Finds a reservation by the notes on its counters: a retry's admission request may come before its id is known. */
export async function findReserved(
  jobs: readonly HoldJob[],
  known: KnownCounters,
  deadlineMs: number,
  deps: MoveDeps,
): Promise<void> {
  for (const job of jobs) {
    const noted = job.prior === undefined && !job.sought ? notedFor(job, known) : [];
    if (noted.length === 0) continue;
    job.sought = true;
    const { ask } = job;
    const records = (await readRecords(noted, deadlineMs, deps)) ?? [];
    const from = records.find((record) => isRetryOf(record, ask));
    if (from === undefined) continue;
    const { outcome, record } = await handOver(from.jobId, ask.jobId, deadlineMs, deps);
    if (outcome === 'undecided') job.outcome = { outcome, cause: 'contended' };
    else if (record !== undefined) {
      job.prior = record;
      job.isRecordKnown = true;
      job.outcome = answerFromRecord(record, deps.clock.nowMs());
    }
  }
}

function notedFor({ ask, names }: HoldJob, known: KnownCounters): readonly number[] {
  const { pipelineId } = ask.facts;
  if (pipelineId === undefined) return [];
  const noted = names.flatMap((name) => known.get(name)?.reserved ?? []);
  const ids = noted.flatMap((each) => (each.pipelineId === pipelineId ? [each.jobId] : []));
  return [...new Set(ids)].slice(0, NAMESAKES_MAX);
}

async function readRecords(jobIds: readonly number[], deadlineMs: number, { store, clock }: MoveDeps) {
  const options = readOptions(deadlineMs, clock);
  return options && store.readRecords(jobIds, options).catch(undefinedIfSilent);
}

async function readKnown(
  claims: readonly LimitClaim[],
  deadlineMs: number,
  { store, clock }: MoveDeps,
): Promise<KnownCounters | undefined> {
  const keys = new Map(claims.map(({ counter }) => [counterName(counter), counter]));
  const options = readOptions(deadlineMs, clock);
  const counters =
    options && (await store.readCounters([...keys.values()], options).catch(undefinedIfSilent));
  const nowMs = clock.nowMs();
  return counters && new Map([...keys.keys()].map((name, at) => [name, knownCounter(counters[at], nowMs)]));
}
