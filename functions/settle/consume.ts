/** A batch of the table's stream → what GitLab said, in the inbox items among it → the ledger. */
import { isRecord } from '../../policies/document/reading.ts';
import type { UnmeteredResult } from '../core/contract/index.ts';
import type { JobTruth } from '../core/gitlab/index.ts';
import { inboxBody, journalBody } from '../core/ledger/index.ts';
import type { Metrics } from '../core/metrics/index.ts';
import { type Item, isNewer, type LedgerKeys, type YetFailedStore } from '../core/store/index.ts';
import {
  noteAdmittedYetFailed,
  parseTruthText,
  type SettleDeps,
  settleTruths,
  type TruthOutcome,
} from '../core/truth/index.ts';
import { METRIC_ADMITTED_YET_FAILED, METRIC_JOB_EVENTS, METRIC_SETTLEMENT_LAG_SECONDS } from '../names.ts';

/**
 * What Lambda hands over of a DynamoDB stream with new images.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */
export interface TableStreamEvent {
  readonly Records: readonly TableStreamRecord[];
}

export interface TableStreamRecord {
  readonly eventName?: string | undefined;
  readonly dynamodb?:
    | { readonly SequenceNumber?: string | undefined; readonly NewImage?: Item | undefined }
    | undefined;
}

/** Lambda reads the stream again from the first of these on; what comes twice is applied once. */
export interface TableStreamResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

export interface ConsumeDeps extends SettleDeps {
  readonly keys: LedgerKeys;
  /** Charges answers that relays wrote into their journal; one result each. @default nobody writes one */
  readonly recordJournal?: (answers: readonly unknown[]) => Promise<readonly UnmeteredResult[]>;
  /** Written once a batch. @default none are kept */
  readonly metrics?: Metrics;
  /** Where the watchdog looks for jobs that failed although admitted. @default none are noted */
  readonly yetFailed?: Pick<YetFailedStore, 'write'>;
}

/** Items that are not ours, or that nobody can read, are passed over: only what may succeed later is reported as failed. */
export async function consume(event: TableStreamEvent, deps: ConsumeDeps): Promise<TableStreamResponse> {
  const arrived: { readonly sequence: string; readonly truth: JobTruth }[] = [];
  const written: { readonly sequence: string; readonly body: string }[] = [];
  for (const { eventName, dynamodb } of event.Records) {
    if (eventName !== 'INSERT' || dynamodb?.NewImage === undefined) continue;
    const journal = journalBody(dynamodb.NewImage, deps.keys);
    const body = journal ?? inboxBody(dynamodb.NewImage, deps.keys);
    if (body === undefined) continue;
    const sequence = dynamodb.SequenceNumber ?? '';
    if (isNewer(dynamodb.NewImage)) {
      // The job's hold is found by the sweep.
      deps.log.error('inbox item of a newer program, passed over', { sequence });
      continue;
    }
    if (journal !== undefined) {
      written.push({ sequence, body });
      continue;
    }
    const truth = parseTruthText(body);
    if (truth === undefined) deps.log.error('inbox item unreadable, passed over', { sequence });
    else arrived.push({ sequence, truth });
  }
  // Before the ends, which may be those of the same jobs.
  const unbooked = await bookJournal(written, deps);
  if (arrived.length === 0) return { batchItemFailures: unbooked };

  const truths = arrived.map(({ truth }) => truth);
  const outcomes = await settleTruths(truths, deps);
  deps.log.info('job ends settled', countsOf(outcomes));
  const { metrics, yetFailed, clock, log } = deps;
  const failed = yetFailedIn(truths, outcomes);
  if (yetFailed !== undefined) await noteAdmittedYetFailed(failed, { yetFailed, clock, log });
  if (metrics !== undefined) measure(truths, outcomes, failed.length, clock.nowMs(), metrics);
  return {
    batchItemFailures: [
      ...unbooked,
      ...arrived.flatMap(({ sequence }, index) =>
        outcomes[index] === 'undecided' ? [{ itemIdentifier: sequence }] : [],
      ),
    ],
  };
}

/** Item after item: each is a whole batch. @returns those of which something is not booked yet. */
async function bookJournal(
  written: readonly { readonly sequence: string; readonly body: string }[],
  { recordJournal, log }: ConsumeDeps,
): Promise<TableStreamResponse['batchItemFailures']> {
  const unbooked: { readonly itemIdentifier: string }[] = [];
  for (const { sequence, body } of written) {
    const answers = answersIn(body);
    if (answers === undefined || recordJournal === undefined) {
      log.error('journal item unreadable, passed over', { sequence });
      continue;
    }
    const results = await recordJournal(answers);
    const count = (wanted: UnmeteredResult['outcome']): number =>
      results.filter(({ outcome }) => outcome === wanted).length;
    const undecided = count('undecided');
    log.info('journal booked', { recorded: count('recorded'), undecided, invalid: count('invalid') });
    if (undecided > 0) unbooked.push({ itemIdentifier: sequence });
  }
  return unbooked;
}

function answersIn(body: string): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    return isRecord(parsed) && Array.isArray(parsed.answers) ? parsed.answers : undefined;
  } catch {
    return undefined;
  }
}

function measure(
  truths: readonly JobTruth[],
  outcomes: readonly TruthOutcome[],
  yetFailed: number,
  nowMs: number,
  metrics: Metrics,
): void {
  if (yetFailed > 0) metrics.add(METRIC_ADMITTED_YET_FAILED, yetFailed);
  truths.forEach(({ finishedAtMs }, index) => {
    const outcome = outcomes[index];
    // It will come again.
    if (outcome !== 'undecided') metrics.add(METRIC_JOB_EVENTS, 1);
    if (finishedAtMs === undefined || outcome === undefined || !ENDED.includes(outcome)) return;
    // GitLab's clock may be ahead of ours.
    metrics.add(METRIC_SETTLEMENT_LAG_SECONDS, Math.max(0, nowMs - finishedAtMs) / 1000);
  });
  metrics.flush();
}

/** Now, and not before: how late that is can be said. */
const ENDED: readonly TruthOutcome[] = ['applied', 'bypass', 'admitted_yet_failed'];

/** Several words about one job have one outcome. */
const yetFailedIn = (truths: readonly JobTruth[], outcomes: readonly TruthOutcome[]): readonly number[] => [
  ...new Set(
    truths.flatMap(({ jobId }, index) => (outcomes[index] === 'admitted_yet_failed' ? [jobId] : [])),
  ),
];

function countsOf(outcomes: readonly TruthOutcome[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
