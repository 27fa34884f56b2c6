/**
 * Tells owners what happened since the last time, one message each. Nothing happened: four reads, no message, no write.
 *
 * At least once: the cursor is written after the messages were taken. A crash between the two tells the same notices again,
 * under the same ids. A topic that stops taking messages in between is no crash: what was taken is marked. Merge requests are told
 * after that, of requests for more.
 */

import { approvalPath } from '../core/approval/index.ts';
import { readRequests } from '../core/limits/index.ts';
import { REQUESTS_PAGE } from '../core/notify/console-links.ts';
import { NotifyError } from '../core/notify/message.ts';
import { recipientKey } from '../core/notify/recipient.ts';
import { noticeDigest } from './digest.ts';
import { type Cursor, markOf, partlyTold, START } from './gather/cursor.ts';
import { gather } from './gather/gather.ts';
import { knownIn } from './gather/known.ts';
import type { Notice } from './gather/notice.ts';
import type { NoticesDeps } from './gather/notices-deps.ts';
import type { DecisionHref } from './gather/requests.ts';
import { keepRequestNotes } from './keep-request-notes.ts';
import { noteAlerts } from './note-alerts.ts';
import type { ChatNotifier } from './tell-chat.ts';

export interface NoticesReport {
  readonly notices: number;
  readonly messages: number;
  /** Owners whose message waits for the next run. */
  readonly waiting: number;
}

/** At 30 ms each some ten seconds; an import that meets a thousand owners takes five runs. */
export const MESSAGES_MAX = 200;

/**
 * @throws {NotifyError} the topic did not take a message: what was taken before is marked, and the next run goes on.
 * @throws {LimitsError | LedgerError | DirectoryError} something could not be read: nothing was told.
 */
export async function sendNotices(deps: NoticesDeps): Promise<NoticesReport> {
  const { cursors, limitTable, clock, log } = deps;
  const nowMs = clock.nowMs();
  const [stored, pointer, requests] = await Promise.all([
    cursors.read(),
    limitTable.getPointer({ timeoutMs: TIMEOUT_MS }),
    readRequests(limitTable, nowMs),
  ]);
  const cursor = stored?.cursor ?? { ...START, edit: pointer?.edit ?? 0 };
  const known = knownIn(pointer, deps);
  const gathered = await gather({
    cursor,
    first: stored === undefined,
    pointer,
    requests,
    known,
    telling: { currency: deps.policy.currency, zone: deps.zone, nowMs },
    decisionPage: await signedPages(deps, nowMs),
    deps,
  });
  const marks = new Set(cursor.told);
  const notices = gathered.notices.filter((each) => !marks.has(markOf(each)));
  const { taken, told, waiting, failure } = await tell(notices, deps);
  const whole = waiting === 0 && failure === undefined;
  const next = whole ? { ...gathered.next, told: [] } : partlyTold(cursor, taken);
  let rev = stored?.rev ?? 0;
  const mark = async (now: Cursor): Promise<void> => {
    rev += 1;
    // Then its messages may be repeats of ours, with the same ids.
    if (!(await cursors.write({ rev, cursor: now }))) log.warn('notices told by two runs at once', { rev });
  };
  if (stored === undefined || !isSame(cursor, next)) await mark(next);
  const messages = told.length;
  const report = { notices: taken.length, messages, waiting };
  if (messages > 0 || waiting > 0) log.info('notices told', report);
  const chats = (await deps.tellChat?.(told)) ?? [];
  const isTaken = new Set(taken);
  const refused = failure === undefined ? [] : notices.filter((each) => !isTaken.has(each));
  await noteAlerts({ told, chats, refused }, deps);
  // Last, and marked by itself: GitLab may take its time, and owners are told by then.
  const before = next.notes ?? {};
  const notes = await keepRequestNotes({ told: before, requests, edit: pointer?.edit ?? 0, known, deps });
  if (notes !== before) await mark({ ...next, notes });
  if (failure !== undefined) throw failure;
  return report;
}

/** Where keys are, links are signed for whom they are sent to; people are told all the same where keys cannot be read. */
async function signedPages({ approvals, log }: NoticesDeps, nowMs: number): Promise<DecisionHref> {
  if (approvals === undefined) return () => REQUESTS_PAGE;
  let keys: readonly string[] = [];
  try {
    keys = await approvals.keys();
  } catch (error) {
    log.warn('approval key not read', { error: error instanceof Error ? error.name : '' });
  }
  const { instance } = approvals;
  return (request, { root }) =>
    approvalPath({ instance, request, role: root === undefined ? 'finance' : 'owner' }, keys, nowMs) ??
    REQUESTS_PAGE;
}

const TIMEOUT_MS = 5_000;

const isSame = (one: Cursor, other: Cursor): boolean => JSON.stringify(one) === JSON.stringify(other);

type Told = Parameters<ChatNotifier>[0][number];

interface Taken {
  readonly taken: readonly Notice[];
  /** By owner, in the order of the messages. */
  readonly told: readonly Told[];
  readonly waiting: number;
  readonly failure?: NotifyError;
}

/** One message per owner, those who were first told of first; ends with the first that is not taken. */
async function tell(notices: readonly Notice[], { notify, consoleUrl }: NoticesDeps): Promise<Taken> {
  const owners = [...Map.groupBy(notices, ({ to }) => recipientKey(to)).values()];
  const taken: Notice[] = [];
  const told: Told[] = [];
  for (const mine of owners.slice(0, MESSAGES_MAX)) {
    const [first] = mine;
    if (first === undefined) continue;
    // Where one of them says how to reach the owner, the message says it.
    const to = mine.find(({ to: { contact } }) => contact !== undefined)?.to ?? first.to;
    try {
      await notify.send(noticeDigest(to, mine, { consoleUrl }));
    } catch (error) {
      if (!(error instanceof NotifyError)) throw error;
      return { taken, told, waiting: owners.length - told.length, failure: error };
    }
    told.push({ to, notices: mine });
    taken.push(...mine);
  }
  return { taken, told, waiting: owners.length - told.length };
}
