import { withoutAbsent } from '../../policies/without-absent.ts';
import { actingUser } from '../answers/reading/context.ts';
import type { RolloutReportedView, RolloutRow } from '../answers/rollout/model.ts';
import { planMoves, type RolloutMove } from '../answers/rollout/rollout-moves.ts';
import { type OwnerMessage, ownerMessage } from '../answers/rollout/shadow.ts';
import type { LimitEdit } from '../core/limits/edit-model.ts';
import type { ApplyOutcome, EditAuthor } from '../core/limits/edit-outcomes.ts';
import type { User } from '../core/signin/model.ts';
import type { ApiDeps } from './api/api-parts.ts';

type RolloutDeps = Pick<ApiDeps, 'limitEdits' | 'read' | 'policy' | 'clock' | 'origin' | 'notifyOwner'>;

/** Each row has four weeks of days; a page is read in one call. */
const ROWS_MAX = 500;
const PAGE_ROWS = 100;
const WHY_CHARACTERS_MAX = 500;
const REPORT_DAYS = 14;
/** Allows for concurrent edits. */
const TRIES_MAX = 3;

export async function moveRollout(
  { limitEdits, read }: Pick<RolloutDeps, 'limitEdits' | 'read'>,
  move: RolloutMove,
  subjects: readonly string[] | 'all',
  user: User,
  { why, base, source }: Pick<EditAuthor, 'why' | 'base' | 'source'>,
) {
  const listed = await listRows(subjects, user, read);
  if (listed.outcome !== 'listed') return listed;
  const { rows } = listed;
  const { edits, moved, held } = planMoves(rows, move);
  const planned = { outcome: 'planned' as const, moved, held };
  if (edits.length === 0) return { ...planned, applied: undefined };
  const unmet = [...new Set(moved.flatMap((each) => each.unmet))];
  const forced = unmet.length === 0 ? '' : ` (forced: ${unmet.join('; ')})`;
  const author = {
    ...actingUser(user),
    why: `${why}${forced}`.slice(0, WHY_CHARACTERS_MAX),
    source,
    base,
    // Moves back, and forced moves, count as confirmed.
    ...((move.direction === 'back' || move.force) && { confirmed: true }),
  };
  return { ...planned, applied: await limitEdits.apply(edits, author) };
}

async function listRows(subjects: readonly string[] | 'all', user: User, read: RolloutDeps['read']) {
  const rows: RolloutRow[] = [];
  const named = subjects === 'all' ? {} : { subjects: [...new Set(subjects)] };
  for (let cursor: string | undefined; ; ) {
    const page = await read.rollout({ ...named, max: PAGE_ROWS, ...withoutAbsent({ cursor }) }, user);
    if (page.total > ROWS_MAX) return { outcome: 'too_many' as const, total: page.total, max: ROWS_MAX };
    rows.push(...page.rows);
    cursor = page.next;
    if (cursor === undefined) break;
  }
  const missing = named.subjects?.find((subject) => !rows.some((row) => row.subject === subject));
  if (missing !== undefined) return { outcome: 'unknown_subject' as const, subject: missing };
  return { outcome: 'listed' as const, rows };
}

interface ReportOptions extends Pick<EditAuthor, 'why' | 'source'> {
  /** True if the caller informed the owner; nothing is sent. */
  readonly informed: boolean;
  readonly days?: number;
}

/** Sends the shadow report of each subject and records the time; does neither without a channel to the owner. @throws like the sender */
export async function reportRollout(
  deps: RolloutDeps,
  subjects: readonly string[],
  user: User,
  { why, source, informed, days = REPORT_DAYS }: ReportOptions,
) {
  const { read, policy, origin, notifyOwner } = deps;
  const messages: OwnerMessage[] = [];
  const { rows } = await read.rollout({ subjects, max: PAGE_ROWS }, user);
  for (const subject of new Set(subjects)) {
    const row = rows.find((each) => each.subject === subject);
    const [kind = '', id] = subject.split('/');
    const only = kind === 'instance' ? {} : { [kind]: Number(id) };
    const shown = await read.shadow({ days, max: 1, ...only }, user);
    const shadow = shown.rows.find((each) => each.subject === subject);
    if (row === undefined || shadow === undefined) return { outcome: 'unknown_subject' as const, subject };
    messages.push(ownerMessage(shadow, row, { days, currency: policy.currency, origin }));
  }
  const reports: RolloutReportedView['reports'][number][] = [];
  let failed: unknown;
  for (const message of messages) {
    try {
      const outcome = informed ? 'informed' : ((await notifyOwner?.(message)) ?? 'no-topic');
      reports.push({ ...message, outcome });
    } catch (error) {
      failed = error;
      break;
    }
  }
  const sent = reports.filter(({ outcome }) => outcome !== 'no-topic');
  const reportedMs = deps.clock.nowMs();
  const edits = sent.map(({ subject }): LimitEdit => ({ kind: 'rollout', subject, reportedMs }));
  const applied =
    edits.length === 0 ? undefined : await record(edits, { ...actingUser(user), why, source }, deps);
  if (failed !== undefined) throw failed;
  const edit = applied?.outcome === 'live' ? { edit: applied.pointer.edit } : {};
  return { outcome: 'reported' as const, view: { reports, ...edit }, applied };
}

async function record(
  edits: readonly LimitEdit[],
  by: Omit<EditAuthor, 'base'>,
  { limitEdits }: RolloutDeps,
): Promise<ApplyOutcome> {
  for (let tries = 1; ; tries += 1) {
    const applied = await limitEdits.apply(edits, { ...by, base: (await limitEdits.live())?.pointer.set });
    if (applied.outcome !== 'stale' || tries === TRIES_MAX) return applied;
  }
}
