import { csv, csvField } from '../../../functions/answers/statement/csv.ts';
import type { Statement } from '../../../functions/answers/statement/model.ts';
import { FOCUS_COLUMNS } from './focus-row.ts';

/** The statement as a FOCUS 1.2 dataset, CSV. */
export const focusCsv = (statement: Statement): string =>
  csv([
    FOCUS_COLUMNS.map(({ name }) => name),
    ...statement.lines.map((line) =>
      FOCUS_COLUMNS.map(({ kind, value }) => {
        const field = value(line, statement) ?? '';
        return kind === 'text' ? csvField(field) : field;
      }),
    ),
  ]);
