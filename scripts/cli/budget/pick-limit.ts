import type { Limit } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { UsageError } from '../../terminal/command.ts';
import type { AmountWords } from './amount-words.ts';

/** What a command says about which limit it means. */
interface LimitWanted extends Pick<AmountWords, 'unit' | 'per'> {
  /** What whoever asks calls the subject. */
  readonly word: string;
  /** `--limit`. */
  readonly id?: string | undefined;
}

/**
 * The limit of a subject that is meant; undefined: it has none like this yet.
 * @throws {UsageError} where it could be more than one.
 */
export function pickLimit(
  subject: string,
  { word, id, unit, per }: LimitWanted,
  limits: LimitSet,
): Limit | undefined {
  const own = ownLimits(subject, limits);
  if (id !== undefined) return own.find((limit) => limit.id === id);
  const fitting = own.filter(
    (limit) => (unit === undefined || limit.kind === unit) && (per === undefined || limit.per === per),
  );
  if (fitting.length <= 1) return fitting[0];
  throw new UsageError(
    `${word} has several limits like this; expected --limit with one of ${fitting.map((each) => each.id).join(', ')}`,
  );
}

/** The same where there has to be one. @throws {UsageError} */
export function neededLimit(subject: string, wanted: LimitWanted, limits: LimitSet): Limit {
  const found = pickLimit(subject, wanted, limits);
  if (found !== undefined) return found;
  const ids = ownLimits(subject, limits).map(({ id }) => id);
  const has = ids.length === 0 ? 'it has none of its own' : `expected one of ${ids.join(', ')}`;
  throw new UsageError(`${wanted.word} has no ${wanted.id ?? 'limit like this'}; ${has}`);
}

function ownLimits(subject: string, limits: LimitSet): readonly Limit[] {
  if (subject === 'personal') return limits.personalDefault;
  if (!subject.startsWith('groups/')) return limits.bySubject.get(subject) ?? [];
  return (limits.groupDefaults?.all ?? []).flatMap(({ groups, limit }) =>
    `groups/${groups.pattern}` === subject ? [limit] : [],
  );
}
