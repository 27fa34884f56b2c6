import { csv, csvField, decimal } from '../../../functions/answers/statement/csv.ts';
import type { Statement, StatementLine } from '../../../functions/answers/statement/model.ts';

const COLUMNS = [
  'month',
  'day',
  'root',
  'group',
  'group_id',
  'project',
  'project_id',
  'runner_class',
  'price_per_minute',
  'price_version',
  'kind',
  'cause',
  'late',
  'jobs',
  'seconds',
  'cost',
  'currency',
  'job_id',
  'job_name',
  'decision_id',
  'unchecked',
] as const;

/**
 * One line per line of the statement. Names are untrusted, so possible formulas are escaped. Our numbers
 * stay numbers, also negative ones.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4180
 */
export const statementCsv = (statement: Statement): string =>
  csv([
    statement.withUsers ? [...COLUMNS, 'user'] : COLUMNS,
    ...statement.lines.map((line) =>
      statement.withUsers
        ? [...fieldsOf(line, statement), csvField(line.job?.user ?? '')]
        : fieldsOf(line, statement),
    ),
  ]);

const fieldsOf = (line: StatementLine, { month, currency }: Statement): readonly string[] => [
  csvField(month),
  line.day,
  csvField(line.rootPath ?? ''),
  csvField(line.groupPath ?? ''),
  idText(line.groupId),
  csvField(line.projectPath ?? ''),
  idText(line.projectId),
  csvField(line.runnerClass),
  decimal(line.microsPerMinute),
  csvField(line.priceVersion),
  line.kind,
  line.cause ?? '',
  String(line.late),
  String(line.jobs),
  String(line.seconds),
  decimal(line.micros),
  currency,
  idText(line.job?.id),
  csvField(line.job?.name ?? ''),
  line.job?.decisionId ?? '',
  line.job?.unchecked ?? '',
];

const idText = (id: number | undefined): string => (id === undefined ? '' : String(id));
