import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { Hono } from 'hono/tiny';
import { parsedJson } from '../../policies/document/reading.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import { errorName, type LedgerClock, type Log } from '../core/environment/environment.ts';
import { isTerminal } from '../core/gitlab/gitlab.ts';
import { JOB_HOOK_EVENT, parseJobHook } from '../core/gitlab/job-reader.ts';
import { hintText } from '../core/job-ends/webhook-hints.ts';
import type { InboxItem, InboxStore } from '../core/ledger/store.ts';
import { doubling, LedgerError, retried } from '../core/store/table-failure.ts';
import { isSigned, isToken } from './webhook-signature.ts';

export interface SettleAppDeps {
  readonly inbox: InboxStore;
  /** From which each group's signing token is derived; several while one is being replaced. Asked for with every delivery. */
  readonly secrets: () => Promise<readonly string[]>;
  /** For deliveries without a signature, as all are before GitLab 19.0. Any reader of one can make up others of its group. */
  readonly legacyTokens?: () => Promise<readonly string[]>;
  readonly clock: LedgerClock;
  readonly random: () => number;
  readonly log: Log;
}

/** GitLab waits 10 s by default and never asks again; a start of the function and the way back are in them, too. */
const RECEIVE_MS_MAX = 7_000;
const ATTEMPT_TIMEOUT_MS = 2_000;
const ATTEMPTS_MAX = 6;
/** Longer than people can resend a delivery from GitLab's list of recent events, which keeps two days. */
const REMEMBERED_MS = 3 * DAY_MS;

/** Useless deliveries get 200 too: GitLab disables a webhook after a few refusals. After 503 the sweep finds the job. */
export function createSettleApp(deps: SettleAppDeps): Hono {
  const app = new Hono();
  const arrived = new Set<DeliveryProof>();

  app.onError((error, c) => {
    // The message could quote what was sent.
    deps.log.error('job event failed', { error: error.name });
    return respond(c, 'failed', error instanceof LedgerError && error.retryable ? 503 : 500);
  });

  app.use(bodyLimit({ maxSize: HOOK_BODY_BYTES_MAX, onError: (c) => respond(c, 'too_large', 413) }));

  app.post(`${JOBS_PATH}/:groupId{[1-9][0-9]{0,14}}`, async (c) => {
    const groupId = Number(c.req.param('groupId'));
    const body = await c.req.text();
    const proof = await findProof(groupId, body, c.req.header(), deps);
    if (proof === 'unknown') return respond(c, 'refused', 401);
    if (proof === 'unchecked') return respond(c, 'failed', 503);
    if (!arrived.has(proof)) deps.log.info('job events arrive', { proof });
    arrived.add(proof);
    c.header(PROOF_HEADER, proof);

    if (c.req.header('x-gitlab-event') !== JOB_HOOK_EVENT) return respond(c, 'dropped', 200);
    const gitlabJob = parseJobHook(parsedJson(body));
    if ('problems' in gitlabJob) {
      deps.log.warn('job event unreadable, dropped', { problems: gitlabJob.problems });
      return respond(c, 'dropped', 200);
    }
    // Not `running` either: see endOfJob.
    if (!isTerminal(gitlabJob.status)) return respond(c, 'dropped', 200);

    const receivedAtMs = deps.clock.nowMs();
    const first = await receivedOnce(
      {
        id: deliveryId(c, body),
        body: hintText({ groupId, gitlabJob }),
        receivedAtMs,
        untilMs: receivedAtMs + REMEMBERED_MS,
      },
      deps,
    );
    return respond(c, first ? 'received' : 'repeated', 200);
  });

  return app;
}

/** GitLab does not repeat a delivery. A write with a lost response is found by its id. @returns true if it is the first */
async function receivedOnce(
  item: InboxItem,
  { inbox, clock, random }: Pick<SettleAppDeps, 'inbox' | 'clock' | 'random'>,
): Promise<boolean> {
  const untilMs = clock.monotonicMs() + RECEIVE_MS_MAX;
  const attempt = (): Promise<boolean | LedgerError> =>
    inbox.receive(item, { timeoutMs: ATTEMPT_TIMEOUT_MS }).catch((error: unknown) => {
      if (error instanceof LedgerError && error.retryable) return error;
      throw error;
    });
  const answer = await retried(attempt, (each) => each instanceof LedgerError, {
    ...{ clock, random, triesMax: ATTEMPTS_MAX },
    pauseMsMax: doubling(50, 1_000),
    isTimeFor: (pauseMs) => clock.monotonicMs() + pauseMs + ATTEMPT_TIMEOUT_MS <= untilMs,
  });
  if (answer instanceof LedgerError) throw answer;
  return answer;
}

/** `dropped`: another event, a running job, or an unreadable one. `refused`: neither a signature nor a token of ours. */
type JobsOutcome = 'received' | 'repeated' | 'dropped' | 'refused' | 'too_large' | 'failed';

const respond = (c: Context, outcome: JobsOutcome, status: 200 | 401 | 413 | 500 | 503): Response =>
  c.json({ outcome }, status);

/** A signature must verify, even next to a valid token; without one, the token is compared. */
async function findProof(
  groupId: number,
  body: string,
  headers: Readonly<Record<string, string>>,
  { secrets, legacyTokens, log }: SettleAppDeps,
): Promise<DeliveryProof | 'unknown' | 'unchecked'> {
  try {
    if (headers['webhook-signature'] !== undefined)
      return isSigned(body, headers, await secrets(), groupId, log) ? 'signature' : 'unknown';
    const token = headers['x-gitlab-token'];
    if (legacyTokens === undefined || token === undefined) return 'unknown';
    return isToken(token, await legacyTokens(), groupId, log) ? 'token' : 'unknown';
  } catch (error) {
    log.error('webhook secrets unreadable', { error: errorName(error) });
    return 'unchecked';
  }
}

/** The same for every repetition. The signature covers `webhook-id`; a GitLab older than either header repeats the body. */
const deliveryId = (c: Context, body: string): string =>
  c.req.header('webhook-id') ??
  c.req.header('idempotency-key') ??
  `body ${createHash('sha256').update(body).digest('base64url')}`;

export const JOBS_PATH = '/v1/gitlab/jobs';

/** A job event is some 5 KB; GitLab's own bound of 25 MB is for pushes. */
export const HOOK_BODY_BYTES_MAX = 1024 * 1024;

/** Proof of a delivery: a signature (GitLab 19.0 and newer), or the plain `X-Gitlab-Token`. */
type DeliveryProof = 'signature' | 'token';

export const PROOF_HEADER = 'x-tollgate-proof';
