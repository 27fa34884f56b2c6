/** A closed statement as rows that add up to what is due, and as CSV. */
import type { ClosedMonths } from './closed-model.ts';
import { csv, csvField, decimal } from './csv-text.ts';

type ClosedStatement = ClosedMonths['statements'][number];

interface ClosedRow {
  readonly kind: 'usage' | 'credit' | 'adjustment';
  /** A day, or the month that it is about. */
  readonly when: string;
  readonly jobs: number;
  readonly seconds: number;
  readonly micros: number;
  readonly about: string;
  /** Somebody gave it or took it by hand. */
  readonly byHand: boolean;
}

export function closedRows({ month, lines, credits, adjustments }: ClosedStatement): readonly ClosedRow[] {
  const byHand = { jobs: 0, seconds: 0, byHand: true };
  return [
    ...lines.map(
      ({ day, ...line }): ClosedRow => ({ kind: 'usage', when: day, ...line, about: '', byHand: false }),
    ),
    ...credits.map(
      ({ id, micros, reason }): ClosedRow => ({
        ...{ kind: 'credit', when: month, ...byHand, micros, about: `${id}: ${reason}` },
      }),
    ),
    ...adjustments.flatMap((each): readonly ClosedRow[] => [
      {
        ...{ kind: 'adjustment', when: each.month, jobs: each.jobs, seconds: each.seconds, byHand: false },
        ...{ micros: each.micros, about: `statement ${each.number}, ${each.corrections} corrections` },
      },
      ...each.credits.map(
        ({ id, micros, reason }): ClosedRow => ({
          ...{ kind: 'adjustment', when: each.month, ...byHand, micros, about: `${id}: ${reason}` },
        }),
      ),
    ]),
  ];
}

export const closedCsv = (statement: ClosedStatement): string =>
  csv([
    ['number', 'group', 'month', 'kind', 'when', 'jobs', 'seconds', 'cost', 'currency', 'about', 'sha256'],
    ...closedRows(statement).map(({ kind, when, jobs, seconds, micros, about }) => [
      ...[String(statement.number), csvField(statement.group), csvField(statement.month), kind, when],
      ...[String(jobs), String(seconds), decimal(micros), statement.currency, csvField(about)],
      statement.sha256,
    ]),
  ]);
