import type { LimitKind } from '../../../policies/limits/limit.ts';
import { PERIOD_KINDS, type PeriodKind } from '../../../policies/limits/period.ts';
import { UsageError } from '../command.ts';

export interface AmountWritten {
  /** As written: `500.25`, `unlimited`, `+200`, `256Gi`. */
  readonly amount: string;
  readonly unit?: LimitKind;
  readonly per?: PeriodKind;
}

const UNITS: Readonly<Record<string, LimitKind>> = {
  money: 'money',
  min: 'minutes',
  minutes: 'minutes',
  job: 'jobs',
  jobs: 'jobs',
  cpu: 'cpu',
  cpus: 'cpu',
  memory: 'memory',
  start: 'starts',
  starts: 'starts',
};

const WRITTEN = /^(\S+?)(?:\s+([a-z]+))?(?:\s*\/\s*([a-z]+))?$/i;

/**
 * Reads `500 EUR/month`, `1000 min/week`, `20 jobs`, `256Gi memory`, `500`.
 *
 * @param example - of what is expected here. @throws {UsageError}
 */
export function readAmountWords(
  words: readonly string[],
  currency: string,
  example = `500 ${currency}/month or 20 jobs`,
): AmountWritten {
  const text = words.join(' ');
  const [, amount, unitWord, perWord] = WRITTEN.exec(text) ?? [];
  if (amount === undefined) throw new UsageError(`"${text}": expected an amount such as ${example}`);
  const unit = unitWord === undefined ? undefined : unitOf(unitWord, currency);
  const per = perWord === undefined ? undefined : PERIOD_KINDS.find((kind) => kind === perWord.toLowerCase());
  if (perWord !== undefined && per === undefined)
    throw new UsageError(`"${perWord}" in "${text}": expected a period: ${PERIOD_KINDS.join(', ')}`);
  return { amount, ...(unit !== undefined && { unit }), ...(per !== undefined && { per }) };
}

function unitOf(word: string, currency: string): LimitKind {
  const unit = word.toUpperCase() === currency.toUpperCase() ? 'money' : UNITS[word.toLowerCase()];
  if (unit !== undefined) return unit;
  throw new UsageError(`"${word}": expected ${currency}, min, jobs, starts, cpu or memory after the amount`);
}
