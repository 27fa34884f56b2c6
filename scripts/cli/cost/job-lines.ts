/** Cost of one admission, with its settlement and follow-up. */
import { mendedMs, roundMs } from '../../../functions/core/ledger/index.ts';
import * as always from './always-lines.ts';
import * as assumed from './assumptions.ts';
import type { CostQuestion } from './costing.ts';
import type { JobUnits } from './job-units.ts';
import type { CostLine, CostPart } from './line.ts';
import type { PriceName } from './prices.ts';
import { DAYS_PER_MONTH, type DeploymentShape, roundsPerMonth } from './shape.ts';

const GIGA = 1_000_000_000;

/** @param records - read by the rollup: one for a rejected job, two for an admitted one. */
export function jobLines(
  job: JobUnits & { readonly records: number; readonly moves: number },
  question: CostQuestion,
): readonly CostLine[] {
  const { batch, settleBatch, rollupBatch, shape: deployed } = question;
  // An item of the log has each counter once that a batch changed.
  const changed = Math.min(rollupBatch * question.counters, assumed.BUSY_SUBJECTS);
  const logItems = changed === 0 ? 0 : job.moves / rollupBatch;
  const logBytes = assumed.COUNTER_LOG_BYTES + changed * assumed.LOGGED_COUNTER_BYTES;
  const { writeUnits: writes, readUnits: reads } = job;
  const calls = {
    admit: 1 / batch,
    settle: assumed.WEBHOOKS_PER_JOB,
    'settle-stream': 1 / settleBatch,
    rollup: job.records / rollupBatch,
  } as const;
  const lambda = (part: CostPart, label: string, name: keyof typeof calls): readonly CostLine[] => [
    line(part, `${label}, requests`, calls[name], 'lambdaRequest'),
    line(part, `${label}, duration`, calls[name] * always.gbSeconds(name), 'lambdaDuration'),
  ];
  const decisionGb = always.logged(job.decisionLineBytes) / GIGA;
  const { rollup, ...ofAdmission } = calls;
  const admissionGb = functionLogBytes(ofAdmission, deployed) / GIGA;
  const rollupGb = functionLogBytes({ rollup }, deployed) / GIGA;
  const keptGb =
    job.kept.reduce(
      (total, { bytes, days }) => total + (bytes + always.ITEM_OVERHEAD_BYTES) * (days / DAYS_PER_MONTH),
      0,
    ) / GIGA;
  const recordsKept = question.jobsPerMonth * ((job.kept[0]?.days ?? 0) / DAYS_PER_MONTH);
  const rounds = roundsPerMonth(recordsKept);
  return [
    line('admission', 'Hold, writes', writes.hold, 'writeUnit'),
    line('admission', 'Settlement, writes', writes.settle, 'writeUnit'),
    line('admission', 'Due index, in and out, writes', writes.dueIndex, 'writeUnit'),
    line('admission', 'Webhook inbox, writes', writes.inbox, 'writeUnit'),
    line('admission', 'Told once, writes', writes.announced, 'writeUnit'),
    line('admission', 'Ledger, reads', reads.ledger, 'readUnit'),
    line(
      'admission',
      'Estimates and pointers, reads',
      admitReads(reads.estimates, job.moves === 0, question),
      'readUnit',
    ),
    ...lambda('admission', 'Lambda admit', 'admit'),
    ...lambda('admission', 'Lambda settle', 'settle'),
    ...lambda('admission', 'Lambda settle-stream', 'settle-stream'),
    line('admission', 'Decision log taken in', decisionGb, 'logIngestion'),
    line('admission', 'Logs of these functions taken in', admissionGb, 'logIngestion'),
    line('admission', 'Data out to GitLab', dataOutGb(), 'dataOut'),
    ...networkLines(decisionGb, deployed),
    ...(deployed.traces === true
      ? [line('admission', 'Traces, at most', calls.admit + calls.settle + calls['settle-stream'], 'trace')]
      : []),
    line('usage', 'Usage per day, writes', writes.rollup, 'writeUnit'),
    line('usage', 'Run histories, writes', writes.estimates, 'writeUnit'),
    line('usage', 'Top lists, writes', writes.top, 'writeUnit'),
    line('usage', 'Rollup, reads', reads.rollup, 'readUnit'),
    line('usage', 'Log of counters, writes', logItems * Math.ceil(logBytes / 1024), 'writeUnit'),
    line('usage', 'Log of counters, reads', (logItems * logBytes) / 4096, 'readUnit'),
    ...lambda('usage', 'Lambda rollup', 'rollup'),
    line('usage', 'Stream, read by Lambda', calls['settle-stream'] + calls.rollup, 'streamRead'),
    line('usage', 'Decisions outside the table, writes', calls.rollup, 'objectWrite'),
    line('usage', 'Sweep of live jobs, reads', sweepReads(), 'readUnit'),
    line('usage', 'Logs of the rollup taken in', rollupGb, 'logIngestion'),
    ...(deployed.traces === true
      ? [line('usage', 'Traces of the rollup, at most', calls.rollup, 'trace')]
      : []),
    ...always.stored('Records', keptGb),
    line('kept', 'Decisions outside the table, kept', exportedGb(job.records), 'objectStorage'),
    line('kept', 'Recount, reads', always.scanReads(keptGb) * rounds, 'readUnit'),
    line(
      'kept',
      'Recount, duration',
      always.gbSeconds('drift', always.scanMs(keptGb)) * rounds,
      'lambdaDuration',
    ),
    // Each round compares the usage of each job that ended lately: an eventual read.
    line(
      'kept',
      'Usage compared again, reads',
      (0.5 * mendedMs(recordsKept)) / roundMs(recordsKept),
      'readUnit',
    ),
    // The record is read, written with a pseudonym, and the rollup looks once whether that is news.
    line('kept', 'Names taken after 90 days, writes', 1, 'writeUnit'),
    line('kept', 'Names taken after 90 days, reads', 1.5, 'readUnit'),
    line('kept', 'Logs kept', always.logsKept(decisionGb + admissionGb + rollupGb, deployed), 'logStorage'),
  ];
}

const line = (part: CostPart, label: string, quantity: number, price: PriceName): CostLine => ({
  part,
  label,
  quantity,
  price,
});

/** Questions, answers and the decision log, on their way through what stands between relays and the internet. */
function networkLines(
  decisionGb: number,
  { natGateways = 0, endpoints = 0 }: DeploymentShape,
): readonly CostLine[] {
  const answersGb = (assumed.ROUTER_QUESTION_BYTES + assumed.ROUTER_ANSWER_BYTES) / GIGA;
  return [
    ...(natGateways > 0
      ? [line('admission', 'NAT, data', answersGb + (endpoints > 0 ? 0 : decisionGb), 'natData')]
      : []),
    ...(endpoints > 0 ? [line('admission', 'Endpoints, data', decisionGb, 'endpointData')] : []),
  ];
}

/** The pointer is read again before a rejection by a limit. */
function admitReads(
  estimates: number,
  isRejected: boolean,
  { jobsPerMonth, batch, shape: { relays } }: CostQuestion,
): number {
  const batchesPerSecond = jobsPerMonth / batch / (assumed.BUSY_HOURS_PER_MONTH * 3_600);
  const perProcess = batchesPerSecond / (relays * assumed.ADMIT_PROCESSES_PER_RELAY);
  const looks = assumed.POINTER_SECONDS.reduce((sum, seconds) => sum + 1 / (1 + seconds * perProcess), 0);
  return estimates + (looks + (isRejected ? 1 : 0)) / batch;
}

/** A query of an index is not consistent: half a unit per 4 KB, once a minute. */
const sweepReads = (): number => ((assumed.DUE_ENTRY_BYTES / 4096) * assumed.JOB_MINUTES) / 2;

/** The webhooks' function counts nothing by line: there are four times as many as jobs. */
function functionLogBytes(calls: Readonly<Record<string, number>>, deployed: DeploymentShape): number {
  return Object.entries(calls).reduce((total, [name, count]) => {
    const own = name === 'settle' ? 0 : always.logged(assumed.METRIC_LINE_BYTES);
    return total + count * (always.systemBytes(deployed) + own);
  }, 0);
}

/** GB-months of a job's images, each kept for so many days. */
const exportedGb = (records: number): number =>
  (records * assumed.EXPORTED_BYTES * (assumed.EXPORT_DAYS / DAYS_PER_MONTH)) / GIGA;

const dataOutGb = (): number =>
  (assumed.ROUTER_ANSWER_BYTES + assumed.WEBHOOKS_PER_JOB * assumed.WEBHOOK_ANSWER_BYTES) / GIGA;
