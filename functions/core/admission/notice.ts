import type { Notice } from '../../../policies/decision.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { JobFacts } from '../../../policies/request/recorded.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import type { HoldOutcome } from '../ledger/ledger.ts';
import type { DecideDeps } from './decide-deps.ts';

/** A rejected job and what the ledger said of it. */
export interface Rejection {
  readonly request: AdmissionRequest;
  readonly facts: JobFacts;
  readonly outcome: Extract<HoldOutcome, { readonly outcome: 'rejected' }>;
}

/** Retries come within minutes; a pipeline that is retried the next day is worth telling again. */
const NOTICE_TTL_MS = 24 * 3_600_000;
/** One small write takes about 5 ms. The decision stands already, so nobody waits much longer for this. */
const ANNOUNCE_MS_MAX = 150;
/** A write with less time left would be cut off, and the answer has to travel, too. */
const ANNOUNCE_MS_MIN = 40;

/**
 * Whether people have been told of each rejection: GitLab's `retry: 2` asks about one job three times, under new ids.
 * One per rejection, same order. Never fails and never takes longer than is left: then all of them are new.
 *
 * @param deadlineMs on `deps.clock.monotonicMs()`.
 */
export async function noticesOf(
  rejections: readonly Rejection[],
  deadlineMs: number,
  deps: Pick<DecideDeps, 'ledger' | 'clock' | 'log'>,
): Promise<readonly Notice[]> {
  const keys = rejections.map(noticeKey);
  const asked = keys.filter((key) => key !== undefined);
  const first = await firstOf(asked, deadlineMs, deps);
  let next = 0;
  return rejections.map(({ outcome }, index) => {
    if (outcome.repeated) return 'repeat';
    if (keys[index] === undefined) return 'first';
    next += 1;
    return first[next - 1] === false ? 'repeat' : 'first';
  });
}

async function firstOf(
  keys: readonly string[],
  deadlineMs: number,
  { ledger, clock, log }: Pick<DecideDeps, 'ledger' | 'clock' | 'log'>,
): Promise<readonly boolean[]> {
  const timeoutMs = Math.min(ANNOUNCE_MS_MAX, deadlineMs - clock.monotonicMs() - ANNOUNCE_MS_MIN);
  if (keys.length === 0 || timeoutMs < ANNOUNCE_MS_MIN) return [];
  try {
    return await ledger.announceOnce(keys, { ttlMs: NOTICE_TTL_MS, timeoutMs });
  } catch (error) {
    // The jobs are rejected whatever becomes of the notice.
    log.error('notice failed', { error: error instanceof Error ? error.name : 'unknown failure' });
    return [];
  }
}

/** Undefined: nothing says which job of which pipeline it is, or the ledger has told this rejection before. */
function noticeKey({ request, facts, outcome }: Rejection): string | undefined {
  const { pipelineId, jobName } = request;
  if (pipelineId === undefined || jobName === undefined || outcome.repeated) return undefined;
  const { rootId, projectId, projectPath } = facts;
  const place = [rootId ?? null, projectId ?? projectPath ?? null];
  return JSON.stringify([
    'rejection',
    ...place,
    pipelineId,
    jobName,
    ...outcome.violations.map(whyOf).sort(),
  ]);
}

/** Code and limit, without the numbers: those change with every job. */
const whyOf = ({ rule, reason }: Violation): string =>
  'limit' in reason ? `${reason.code} ${reason.subject} ${reason.limit}` : `${reason.code} ${rule}`;
