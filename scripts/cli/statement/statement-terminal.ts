import type { Statement, StatementLine } from '../../../functions/answers/statement/model.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { durationText, moneyText } from '../../../policies/units/unit-texts.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { type TerminalColumn, table } from '../../terminal/table.ts';
import { shadowCount } from '../report/shadow-words.ts';

/** To the micro-unit: lines add up to the total. */
export const money = (micros: number, currency: string): string => `${moneyText(micros)} ${currency}`;

/** Some screens: the CSV has all. */
const ROWS_SHOWN = 60;

export function statementTerminal(statement: Statement, paint: Paint, columns: number): string {
  const { group, month, zone, startMs, endMs, ledger, totals, currency, notes } = statement;
  const lines = [
    paint.strong(`${printable(group)}, ${month} (${zone}): ${money(totals.micros, currency)}`),
    paint.dim(`${instantText(startMs, zone)} to ${instantText(endMs, zone)}, by ${printable(ledger)}`),
    `${shadowCount(totals.jobs)} jobs, ${durationText(totals.seconds, 'up')}.`,
    ...(totals.correctedMicros === 0 && totals.lateMicros === 0
      ? []
      : [
          `Corrections make ${money(totals.correctedMicros, currency)} of it; ${money(totals.lateMicros, currency)} came after the month was over.`,
        ]),
    ...(totals.openJobs === 0 && totals.heldMicros === 0
      ? []
      : [
          paint.warn(
            `${totals.openJobs === 0 ? 'Jobs' : `${shadowCount(totals.openJobs)} jobs`} are not over: the ${money(totals.heldMicros, currency)} they hold is in no line.`,
          ),
        ]),
    ...notes.map((note) => paint.warn(note)),
  ];
  const rows = rowsText(statement, paint, columns);
  return `${lines.join('\n')}\n${rows === '' ? '' : `\n${rows}`}`;
}

function rowsText({ lines, currency, by }: Statement, paint: Paint, columns: number): string {
  if (lines.length === 0) return '';
  const right = { align: 'right' } as const;
  const titles: TerminalColumn[] = [
    { title: 'day' },
    { title: 'class' },
    { title: by === 'job' ? 'job' : 'jobs', ...right },
    { title: 'seconds', ...right },
    { title: 'cost', ...right, even: true },
    { title: '' },
    { title: 'project' },
  ];
  const rows = lines
    .slice(0, ROWS_SHOWN)
    .map((line) => [
      line.day,
      printable(line.runnerClass),
      line.job === undefined ? shadowCount(line.jobs) : String(line.job.id),
      String(line.seconds),
      money(line.micros, currency),
      markOf(line),
      printable(line.projectPath ?? line.groupPath ?? String(line.projectId ?? 'unknown')),
    ]);
  const more = lines.length - ROWS_SHOWN;
  const rest =
    more > 0 ? paint.dim(`… and ${shadowCount(more)} lines more: --format csv has them all\n`) : '';
  return table(titles, rows, columns, paint.dim) + rest;
}

const markOf = ({ kind, cause, late }: StatementLine): string =>
  kind === 'usage' ? '' : `${late ? 'late ' : ''}correction (${cause ?? 'unknown'})`;
