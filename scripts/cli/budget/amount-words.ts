import { readWrittenAmount } from '../../../policies/document/written.ts';
import { PERIOD_KINDS, type PeriodKind } from '../../../policies/limits/period.ts';
import { LIMIT_KINDS, type LimitKind, UNIT_OF } from '../../../policies/units/unit.ts';
import { UNIT_TEXTS } from '../../../policies/units/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { UsageError } from '../../terminal/command.ts';

export interface AmountWords {
  /**
   * As in limits.yaml: `500.25`, `unlimited`, `+200`, `256Gi`; a share of the current amount as written,
   * `+20%`.
   */
  readonly amount: string;
  readonly unit?: LimitKind;
  readonly per?: PeriodKind;
}

const UNITS: Readonly<Record<string, LimitKind>> = Object.fromEntries(
  LIMIT_KINDS.flatMap((kind) => UNIT_TEXTS[UNIT_OF[kind]].words.map((word) => [word, kind])),
);

const PERIOD = /^(.*?)\s*\/\s*([a-z]+)$/i;
const UNIT = /^(.*\S)\s+([a-z]+)$/i;

/**
 * Reads `500 EUR/month`, `1000 min/week`, `20 jobs`, `256Gi memory`, `500`.
 *
 * @param example - of the expected form. @throws {UsageError}
 */
export function readAmountWords(
  words: readonly string[],
  currency: string,
  example = `500 ${currency}/month or 20 jobs`,
): AmountWords {
  const text = words.join(' ');
  const [, before = text, perWord] = PERIOD.exec(text) ?? [];
  const [, number = before, unitWord] = UNIT.exec(before) ?? [];
  const named = unitWord === undefined ? undefined : UNITS[unitWord.toLowerCase()];
  // A share needs the limit's current amount.
  const isShare = /^[-+][^%]*%$/.test(number);
  const read = isShare ? undefined : readWrittenAmount(named === undefined ? before : number, { currency });
  if (read?.ok === false) throw new UsageError(read.message);
  if (unitWord !== undefined && named === undefined && (isShare || read?.isMoney !== true))
    throw notUnit(unitWord, currency);
  const amount = read?.text ?? number;
  if (/\s/.test(amount) || amount === '')
    throw new UsageError(`"${text}": expected an amount such as ${example}`);
  const unit = named ?? (read?.isMoney ? 'money' : undefined);
  const per = perWord === undefined ? undefined : PERIOD_KINDS.find((kind) => kind === perWord.toLowerCase());
  if (perWord !== undefined && per === undefined)
    throw new UsageError(`"${perWord}" in "${text}": expected a period: ${PERIOD_KINDS.join(', ')}`);
  return { amount, ...withoutAbsent({ unit, per }) };
}

const notUnit = (word: string, currency: string): UsageError =>
  new UsageError(
    `"${word}": expected ${[currency, ...LIMIT_KINDS.slice(1).map((kind) => UNIT_TEXTS[UNIT_OF[kind]].words[0])].join(', ')} after the amount`,
  );
