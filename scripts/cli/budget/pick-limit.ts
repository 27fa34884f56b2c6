import type { OwnLimit } from '../../../functions/answers/limits/budgets-model.ts';
import { UsageError } from '../../terminal/command.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import type { BudgetContext } from '../api/open-api.ts';
import type { AmountWords } from './amount-words.ts';

/** Selects a limit on the command line. */
interface LimitWanted extends Pick<AmountWords, 'unit' | 'per'> {
  /** The caller's word for the subject. */
  readonly word: string;
  /** `--limit`. */
  readonly id?: string | undefined;
}

/**
 * The limit of a subject that is meant; undefined: it has none like this yet.
 * @throws {UsageError} where it could be more than one.
 */
export async function pickLimit(
  subject: string,
  wanted: LimitWanted,
  budget: Pick<BudgetContext, 'api'>,
): Promise<OwnLimit | undefined> {
  return picked(await ownLimits(subject, budget), wanted);
}

/** The same where there has to be one. @throws {UsageError} */
export async function neededLimit(
  subject: string,
  wanted: LimitWanted,
  budget: Pick<BudgetContext, 'api'>,
): Promise<OwnLimit> {
  const own = await ownLimits(subject, budget);
  const found = picked(own, wanted);
  if (found !== undefined) return found;
  const has =
    own.length === 0 ? 'it has none of its own' : `expected one of ${own.map(({ id }) => id).join(', ')}`;
  throw new UsageError(`${wanted.word} has no ${wanted.id ?? 'limit like this'}; ${has}`);
}

function picked(own: readonly OwnLimit[], { word, id, unit, per }: LimitWanted): OwnLimit | undefined {
  if (id !== undefined) return own.find((limit) => limit.id === id);
  const fitting = own.filter(
    (limit) => (unit === undefined || limit.kind === unit) && (per === undefined || limit.per === per),
  );
  // One year's limit ends as the next one begins: the one in force now is meant.
  const now = fitting.filter(({ inForce }) => inForce);
  if (fitting.length <= 1 || now.length === 1) return now[0] ?? fitting[0];
  throw new UsageError(
    `${word} has several limits like this; expected --limit with one of ${fitting.map((each) => each.id).join(', ')}`,
  );
}

/** Those written on the subject itself. */
export const ownLimits = (
  subject: string,
  { api }: Pick<BudgetContext, 'api'>,
): Promise<readonly OwnLimit[]> => answeredInProcess(api.limits.own.$get({ query: { subject } }));
