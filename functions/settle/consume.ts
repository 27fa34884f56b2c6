import { isRecord, parsedJson } from '../../policies/document/reading.ts';
import type { UnmeteredResult } from '../core/contract/admissions.ts';
import {
  applyHints,
  type HintDeps,
  type HintOutcome,
  parseHintText,
  type WebhookHint,
} from '../core/job-ends/webhook-hints.ts';
import { inboxBody, journalBody } from '../core/ledger/items.ts';
import type { Metrics } from '../core/metrics.ts';
import type { LedgerKeys } from '../core/store/keys.ts';
import {
  isNewer,
  type TableStreamEvent,
  type TableStreamRecord,
  type TableStreamResponse,
} from '../core/store/operation.ts';
import { FUNCTION_METRIC } from '../names.ts';

export type { TableStreamEvent, TableStreamRecord, TableStreamResponse };

export interface ConsumeDeps extends HintDeps {
  readonly keys: LedgerKeys;
  readonly recordJournal?: (answers: readonly unknown[]) => Promise<readonly UnmeteredResult[]>;
  readonly metrics?: Metrics;
}

/** Skips foreign and unreadable items: only temporary failures are reported. */
export async function consume(event: TableStreamEvent, deps: ConsumeDeps): Promise<TableStreamResponse> {
  const arrived: { readonly sequence: string; readonly hint: WebhookHint }[] = [];
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
    const hint = parseHintText(body);
    if (hint === undefined) deps.log.error('inbox item unreadable, passed over', { sequence });
    else arrived.push({ sequence, hint });
  }
  // Before the ends, which may be those of the same jobs.
  const unstored = await storeJournal(written, deps);
  if (arrived.length === 0) return { batchItemFailures: unstored };

  const hints = arrived.map(({ hint }) => hint);
  const outcomes = await applyHints(hints, deps);
  const { metrics, clock, log } = deps;
  log.info('reported ends applied', countOutcomes(outcomes));
  const refused = hints.filter((_, index) => outcomes[index] === 'refused');
  if (refused.length > 0)
    log.warn('webhooks reported what cannot be', {
      groups: [...new Set(refused.map(({ groupId }) => String(groupId)))],
      jobs: refused.map(({ gitlabJob }) => String(gitlabJob.jobId)),
    });
  if (metrics !== undefined) measure(hints, outcomes, clock.nowMs(), metrics);
  return {
    batchItemFailures: [
      ...unstored,
      ...arrived.flatMap(({ sequence }, index) =>
        outcomes[index] === 'undecided' ? [{ itemIdentifier: sequence }] : [],
      ),
    ],
  };
}

/** Processes items in sequence: each is a batch. @returns those not completely stored. */
async function storeJournal(
  written: readonly { readonly sequence: string; readonly body: string }[],
  { recordJournal, log }: ConsumeDeps,
): Promise<TableStreamResponse['batchItemFailures']> {
  const unstored: { readonly itemIdentifier: string }[] = [];
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
    if (undecided > 0) unstored.push({ itemIdentifier: sequence });
  }
  return unstored;
}

function answersIn(body: string): readonly unknown[] | undefined {
  const parsed = parsedJson(body);
  return isRecord(parsed) && Array.isArray(parsed.answers) ? parsed.answers : undefined;
}

function measure(
  hints: readonly WebhookHint[],
  outcomes: readonly HintOutcome[],
  nowMs: number,
  metrics: Metrics,
): void {
  hints.forEach(({ gitlabJob: { finishedAtMs } }, index) => {
    const outcome = outcomes[index];
    if (outcome === 'refused') metrics.add(FUNCTION_METRIC.impossibleEnds, 1);
    // Made-up jobs are no sign that webhooks arrive.
    if (outcome === 'applied' || outcome === 'unchanged') metrics.add(FUNCTION_METRIC.jobEvents, 1);
    if (finishedAtMs === undefined || outcome !== 'applied') return;
    // GitLab's clock may be ahead of ours.
    metrics.add(FUNCTION_METRIC.settlementLagSeconds, Math.max(0, nowMs - finishedAtMs) / 1000);
  });
  metrics.flush();
}

const countOutcomes = (outcomes: readonly HintOutcome[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...Map.groupBy(outcomes, (each) => each)].map(([name, { length }]) => [name, length]));
