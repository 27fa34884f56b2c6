/**
 * Closes the months of groups: each top-level group, each group with limits of its own, and the instance. A month closes some
 * days after its end; what comes later is an adjustment on the next one.
 */
import { DAY_MS } from '../../policies/limits/calendar.ts';
import { type LimitSet, limitsOn } from '../../policies/limits/limits.ts';
import { monthLimitsOf, monthRuleOf, type PastLimits } from '../answers/statement/month.ts';
import { type DraftTerms, monthDraft, monthsToClose } from '../answers/statement/month-draft.ts';
import { atOnce, type LedgerClock } from '../core/environment/index.ts';
import { type StatementChain, sealed } from '../core/statements/index.ts';

interface CloseMonthsDeps extends Omit<DraftTerms, 'nowMs'> {
  readonly chain: StatementChain;
  readonly limits: LimitSet;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
}

interface ClosedMonths {
  readonly closed: number;
  /** Groups that are left for the next run. */
  readonly left: number;
}

/** By then the ends of a month's jobs have come, but of those that still run; GitLab's webhooks and the sweep take hours. */
const SETTLED_DAYS = 5;
const AT_ONCE = 16;
const TRIES_MAX = 5;

/** Whether any group may have a month to close: each of them is looked at once a day. */
export const areMonthsDue = (lookedAtMs: number, nowMs: number): boolean =>
  Math.floor(lookedAtMs / DAY_MS) < Math.floor(nowMs / DAY_MS);

/**
 * @param deadlineMs - on the monotonic clock; what is not begun by then is left to the next run.
 * @throws {LedgerError}
 */
export async function closeMonths(deadlineMs: number, deps: CloseMonthsDeps): Promise<ClosedMonths> {
  const { chain, clock, limits, directory } = deps;
  const nowMs = clock.nowMs();
  const register = await chain.register();
  if (!areMonthsDue(register.lookedAtMs, nowMs)) return { closed: 0, left: 0 };
  const past: PastLimits = { limits, directory, nowMs, zone: deps.usageZone };
  const due: string[] = [];
  await atOnce(billedSubjects(deps), AT_ONCE, async (subject) => {
    const last = await chain.last(subject);
    const months = monthsToClose(
      monthRuleOf(groupIdOf(subject), past),
      last?.statement,
      nowMs - SETTLED_DAYS * DAY_MS,
    );
    if (months.length > 0) due.push(subject);
  });
  let closed = 0;
  let left = 0;
  // One by one, in an order that does not depend on answers: numbers are given in a row.
  for (const subject of due.sort()) {
    if (clock.monotonicMs() >= deadlineMs) left += 1;
    else closed += await closeGroup(subject, past, deps);
  }
  if (left === 0) await chain.noteLooked(await chain.register(), nowMs);
  return { closed, left };
}

/** In the order of the directory. */
function billedSubjects({ directory, limits }: CloseMonthsDeps): readonly string[] {
  const groups = [...directory.groupById.values()].filter(
    ({ id, parentId, personal }) =>
      !personal && (parentId === undefined || limitsOn(limits, `group/${id}`).length > 0),
  );
  return ['instance', ...groups.map(({ id }) => `group/${id}`)];
}

const groupIdOf = (subject: string): number | undefined =>
  subject === 'instance' ? undefined : Number(subject.slice('group/'.length));

async function closeGroup(subject: string, past: PastLimits, deps: CloseMonthsDeps): Promise<number> {
  const { chain, directory } = deps;
  const { nowMs } = past;
  const id = groupIdOf(subject);
  const rule = monthRuleOf(id, past);
  const limits = monthLimitsOf(subject, rule, past);
  const group = id === undefined ? 'all groups' : (directory.groupById.get(id)?.path ?? String(id));
  let closed = 0;
  for (let tries = 0; tries < TRIES_MAX; ) {
    const before = await chain.of(subject);
    const last = before.at(-1);
    const [month] = monthsToClose(rule, last?.statement, nowMs - SETTLED_DAYS * DAY_MS);
    if (month === undefined) return closed;
    const ask = { subject, group, month, zone: rule.zone, limits };
    const draft = await monthDraft(
      { ...ask, before: before.map(({ statement }) => statement) },
      { ...deps, nowMs },
    );
    // A chain begins with the first month that has something on it.
    if (last === undefined && draft.lines.length === 0 && draft.credits.length === 0) return closed;
    const { last: number } = await chain.register();
    const statement = { number: number + 1, ...draft, previousSha256: last?.sha256 ?? '' };
    if ((await chain.append(sealed(statement))) === 'written') closed += 1;
    else tries += 1;
  }
  return closed;
}
