/** The rows of a plan's file → the amounts that are written into it. */
import type { Directory } from '../../policies/place/directory.ts';
import { FIGURE_COLUMNS } from '../answers/plans/plan-csv.ts';
import {
  type CsvDialect,
  type CsvProblem,
  type PlanEdit,
  readRows,
  subjectOfRow,
} from '../core/limits/index.ts';

type PlanFile =
  | {
      readonly ok: true;
      readonly edit: PlanEdit;
      readonly lines: readonly number[];
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly CsvProblem[] };

/** All rows or none. @param plan - its id, which the column `version` names */
export function readPlanFile(
  bytes: Uint8Array,
  {
    plan,
    dialect,
    directory,
  }: { readonly plan: string; readonly dialect: CsvDialect; readonly directory: Directory | undefined },
): PlanFile {
  const read = readRows(bytes, dialect, FIGURE_COLUMNS);
  if (!read.ok) return read;
  if (read.version !== undefined && read.version !== plan)
    return {
      ok: false,
      problems: [
        {
          line: 0,
          column: 'version',
          message: `'${read.version}'; the file is of another plan, or of the limits in force`,
        },
      ],
    };
  const problems: CsvProblem[] = [];
  const lines: number[] = [];
  const amounts = read.rows.flatMap(({ line, cells }) => {
    const subject = subjectOfRow(cells, directory, (column, message) => {
      problems.push({ line, column, message });
      return undefined;
    });
    if (subject === undefined) return [];
    lines.push(line);
    const limit = cells.limit_id || `${cells.unit ?? ''}-${cells.period ?? ''}`;
    return [{ subject, limit, amount: cells.limit || null }];
  });
  if (problems.length > 0) return { ok: false, problems };
  const decimal = dialect.decimal === ',' ? ({ decimal: ',' } as const) : {};
  return { ok: true, edit: { kind: 'amounts', id: plan, amounts, ...decimal }, lines, notes: read.notes };
}

/** What is wrong with the amounts, told at the line of the file. */
export const atLines = (
  problems: readonly { readonly path: readonly (string | number)[]; readonly message: string }[],
  lines: readonly number[],
): readonly CsvProblem[] =>
  problems.map(({ path: [first, index], message }) =>
    first === 'amounts' && typeof index === 'number'
      ? { line: lines[index] ?? 0, column: 'limit', message }
      : { line: 0, message: typeof first === 'string' ? `${first}: ${message}` : message },
  );
