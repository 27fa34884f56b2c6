/** A closed statement as rows that add up to what is due, and as CSV. */
import type { ClosedMonths } from './closed-model.ts';
import { csv, csvField, decimal } from './csv-text.ts';

type ClosedStatement = ClosedMonths['statements'][number];

interface ClosedRow {
  readonly kind: 'usage' | 'adjustment';
  /** A day, or the month that it is about. */
  readonly when: string;
  readonly jobs: number;
  readonly seconds: number;
  readonly micros: number;
  readonly about: string;
}

export const closedRows = ({ lines, adjustments }: ClosedStatement): readonly ClosedRow[] => [
  ...lines.map(({ day, ...line }): ClosedRow => ({ kind: 'usage', when: day, ...line, about: '' })),
  ...adjustments.map(
    ({ month, jobs, seconds, micros, number, corrections }): ClosedRow => ({
      ...{ kind: 'adjustment', when: month, jobs, seconds, micros },
      about: `statement ${number}, ${corrections} corrections`,
    }),
  ),
];

export const closedCsv = (statement: ClosedStatement): string =>
  csv([
    ['number', 'group', 'month', 'kind', 'when', 'jobs', 'seconds', 'cost', 'currency', 'about', 'sha256'],
    ...closedRows(statement).map(({ kind, when, jobs, seconds, micros, about }) => [
      ...[String(statement.number), csvField(statement.group), csvField(statement.month), kind, when],
      ...[String(jobs), String(seconds), decimal(micros), statement.currency, csvField(about)],
      statement.sha256,
    ]),
  ]);
