/** Which differences give somebody more, limit by limit, and how much more. */
import type { Grant } from '../../../../../policies/limits/grant.ts';
import type { Limit } from '../../../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../../../policies/limits/limits.ts';
import type { Directory } from '../../../../../policies/place/directory.ts';
import type { ChangeRow } from '../../changes/change-row.ts';
import { binds } from '../../changes/effects.ts';
import { defaultsInstead, limitsByPlace } from '../../changes/limit-rows-between.ts';
import { reachOfLimit } from './reach.ts';

/** A limit that an edit lets jobs go further with. Whole units; Infinity: without an end. */
export interface Gain {
  readonly subject: string;
  readonly limit: string;
  /** The differences that give more. */
  readonly rows: readonly ChangeRow[];
  /** The limit as it was, where it had one of its own. */
  readonly own: Limit | undefined;
  /** How far jobs could go before, without grants. */
  readonly before: number;
  /** What an approved grant adds to that. */
  readonly approved: number;
  /** How far they go then, with every grant that is not over. */
  readonly after: number;
}

export interface GainsInput {
  readonly from: LimitSet;
  readonly to: LimitSet;
  readonly directory: Directory | undefined;
  readonly nowMs: number;
}

/** What can be counted; every other difference that loosens a limit counts as going without an end. */
const MEASURED: ReadonlySet<string> = new Set(['amount', 'grace', 'carry']);

/** Limits and their grants. Freezes, break-glasses and rollouts have rights and an end of their own. */
const isAboutLimit = ({ about, limit, effect }: ChangeRow): boolean =>
  effect === 'loosens' &&
  (about === 'limit' || about === 'grant' || (about === 'document' && limit === 'group_defaults'));

export function gainsOf(rows: readonly ChangeRow[], between: GainsInput): readonly Gain[] {
  const byLimit = Map.groupBy(rows.filter(isAboutLimit), limitPlaceText);
  if (byLimit.size === 0) return [];
  const [before, after] = [limitsByPlace(between.from), limitsByPlace(between.to)];
  const find = (places: ReadonlyMap<string, readonly Limit[]>, { subject, limit }: ChangeRow) =>
    places.get(subject)?.find(({ id }) => id === limit);
  return [...byLimit.values()].flatMap((some): readonly Gain[] => {
    const [row] = some;
    if (row === undefined) return [];
    const [own, then] = [find(before, row), find(after, row)];
    const was = own ?? then;
    const gain = { subject: row.subject, limit: row.limit, rows: some, own };
    // The order of the defaults: which limit whose group gets is then another.
    if (was === undefined) return [{ ...gain, before: 0, approved: 0, after: Number.POSITIVE_INFINITY }];
    const counted = some.every(({ about, field }) => about === 'grant' || MEASURED.has(field));
    const grants = (then?.grants ?? []).filter(({ untilMs }) => untilMs > between.nowMs);
    const instead = (set: LimitSet): number | undefined =>
      reachInstead(was, row.subject, set, between.directory);
    const reach = then === undefined ? (instead(between.to) ?? Number.POSITIVE_INFINITY) : reachOfLimit(then);
    return [
      {
        ...gain,
        before: own === undefined ? (instead(between.from) ?? 0) : reachOfLimit(own),
        approved: sumOf((own?.grants ?? []).filter((grant) => isApproved(grant) && isAmong(grant, grants))),
        after: counted ? reach + sumOf(grants) : Number.POSITIVE_INFINITY,
      },
    ];
  });
}

/** Names a limit: `group/101 money-month`. */
export const limitPlaceText = ({ subject, limit }: Pick<ChangeRow, 'subject' | 'limit'>): string =>
  `${subject} ${limit}`;

/** How far jobs go by the defaults that hold where there is no such limit; undefined: they count something else. */
export function reachInstead(
  limit: Limit,
  subject: string,
  set: LimitSet,
  directory: Directory | undefined,
): number | undefined {
  const all = subject.startsWith('groups/')
    ? (set.groupDefaults?.all ?? []).map((each) => each.limit).filter(({ kind }) => kind === limit.kind)
    : defaultsInstead(subject, limit, set, directory);
  const instead = all.filter(binds);
  if (instead.length === 0) return Number.POSITIVE_INFINITY;
  return instead.every(({ id, per }) => id === limit.id && per === limit.per)
    ? Math.min(...instead.map(reachOfLimit))
    : undefined;
}

const isApproved = ({ approvedBy }: Grant): boolean => approvedBy !== undefined;

/** Unchanged: one that was made larger or longer since is to be approved again. */
const isAmong = ({ id, amount, fromMs, untilMs }: Grant, grants: readonly Grant[]): boolean =>
  grants.some(
    (each) => each.id === id && each.amount === amount && each.fromMs === fromMs && each.untilMs === untilMs,
  );

const sumOf = (grants: readonly Grant[]): number => grants.reduce((sum, { amount }) => sum + amount, 0);
