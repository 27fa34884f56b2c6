import { closedCsv, closedFocusCsv, closedRows } from '../../../functions/answers/statement/csv.ts';
import type { ClosedMonths } from '../../../functions/answers/statement/model.ts';
import type { Directory } from '../../../policies/directory.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { EXIT, UsageError } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { required, text } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { amounts, right, table } from '../../terminal/table.ts';
import { type ApiClient, answeredInProcess, found } from '../api/api-in-process.ts';
import { withBooks } from '../api/open-api.ts';
import { notInDirectory } from '../evaluation/unknown-place.ts';
import { LEDGER_EXITS, LEDGER_FLAGS } from '../ledger-flags.ts';
import { money } from '../report/shadow-words.ts';
import { RULES_FLAGS } from '../rules-flags.ts';
import { deliver, FORMAT_FLAG, OUT_FLAG, readFormat, terminalOf } from './deliver.ts';

const FORMATS = ['terminal', 'csv', 'focus'] as const;

const statementClosed = command({
  name: 'statement closed',
  about: `Prints a month as it was closed. It closes five days after its end, for each top-level group and the instance, and never
changes: later findings are adjustments on the statement of the next month.`,
  flags: {
    month: required(
      text('<month>', 'a month like 2026-10; 2026-10@06 where the fiscal year makes it begin on the 6th'),
    ),
    group: required(text('<id | path>', 'a group like acme/payments; instance is everything')),
    format: FORMAT_FLAG(FORMATS),
    out: OUT_FLAG,
    ...LEDGER_FLAGS,
    ...RULES_FLAGS,
  },
  json: 'the statement as one JSON object',
  examples: ['tollgate statement closed --month 2026-10 --group acme --format csv'],
  exits: { ...LEDGER_EXITS, 3: 'wrong usage, or no such month was closed' },
  run: async ({ flags }, io) => {
    const { month, group, out } = flags;
    const format = readFormat(flags, FORMATS);
    const statement = await withBooks(flags, io, async ({ api, directory }) => {
      const { statements } = await monthsOfGroup(api, group, directory);
      const closed = statements.find((each) => each.month === month);
      if (closed !== undefined) return closed;
      const all = statements.map((each) => each.month).join(', ') || 'none';
      throw new UsageError(`--month "${month}": was not closed for ${group}; closed months: ${all}`);
    });
    const rendered = {
      json: () => `${JSON.stringify(statement)}\n`,
      csv: () => closedCsv(statement),
      focus: () => closedFocusCsv(statement),
      terminal: () => closedTerminal(statement, ...terminalOf(out, io)),
    };
    deliver(rendered[format](), out, io);
    return EXIT.ok;
  },
});

const statementVerify = command({
  name: 'statement verify',
  about: `Checks that closed months were not changed. Recomputes the hash of every closed statement, follows each group's chain from
month to month, and looks for numbers that are missing or name another statement. Names the first one that is wrong.`,
  flags: {
    group: text('<id | path>', "only this group's chain (default: every group, and the list of numbers)"),
    ...LEDGER_FLAGS,
    ...RULES_FLAGS,
  },
  json: 'the checks and findings as one JSON object',
  examples: ['tollgate statement verify', 'tollgate statement verify --group acme'],
  exits: { ...LEDGER_EXITS, 0: 'no statement was changed', 2: 'one was' },
  run: async ({ flags }, io) => {
    const { group } = flags;
    const report = await withBooks(flags, io, async ({ api, directory }): Promise<VerifyReport> => {
      if (group === undefined) return verifyAll(api);
      const { statements, broken } = await monthsOfGroup(api, group, directory);
      return { checked: statements.length, ...(broken && { broken: brokenOf(group, broken) }) };
    });
    print(io, flags, report, () => `${verifyText(report, paintWhen(io.colours))}\n`);
    return report.broken === undefined ? EXIT.ok : EXIT.wouldReject;
  },
});

type ClosedStatement = ClosedMonths['statements'][number];

function closedTerminal(statement: ClosedStatement, paint: Paint, columns: number): string {
  const { number, group, month, zone, currency, totals, closedAtMs, sha256, previousSha256 } = statement;
  const titles = ['', 'when', right('jobs'), right('seconds'), amounts('cost'), ''];
  const rows = closedRows(statement).map(({ kind, when, jobs, seconds, micros, about }) => [
    ...[kind, when, String(jobs), String(seconds), money(micros, currency), printable(about)],
  ]);
  const lines = [
    paint.strong(
      `Statement ${number}, ${printable(group)}, ${month} (${zone}): ${money(totals.dueMicros, currency)}`,
    ),
    `Usage ${money(totals.micros, currency)}, adjustments of earlier months ${money(totals.adjustmentMicros, currency)}.`,
    paint.dim(
      `Closed ${instantText(closedAtMs, zone)}, prices ${statement.priceVersions.map(printable).join(', ')}`,
    ),
    paint.dim(`SHA-256 ${sha256}`),
    paint.dim(previousSha256 === '' ? 'The first month of this group.' : `Follows   ${previousSha256}`),
  ];
  return `${lines.join('\n')}\n\n${rows.length === 0 ? '' : table(titles, rows, columns, paint.dim)}`;
}

interface BrokenStatement {
  readonly number: number;
  readonly subject?: string;
  readonly month?: string;
  readonly sentence: string;
}

interface VerifyReport {
  readonly checked: number;
  readonly broken?: BrokenStatement;
}

const monthsOf = (api: ApiClient, group: string) =>
  found(api['closed-statements'].$get({ query: { group } }));

async function monthsOfGroup(api: ApiClient, group: string, { groupByPath }: Directory) {
  const months = await monthsOf(api, group);
  if (months === undefined) throw notInDirectory(`--group ${group}`, group, groupByPath.keys());
  return months;
}

const numbersOf = (api: ApiClient, from: number) =>
  answeredInProcess(api['closed-statements'].numbers.$get({ query: { from: String(from) } }));
type NumbersPage = Awaited<ReturnType<typeof numbersOf>>;

/** The list of numbers says which statements there must be; each chain says whether they are as they were. */
async function verifyAll(api: ApiClient): Promise<VerifyReport> {
  const broken: BrokenStatement[] = [];
  const numbers: NumbersPage['numbers'][number][] = [];
  for (let from: number | undefined = 1; from !== undefined; ) {
    const page: NumbersPage = await numbersOf(api, from);
    numbers.push(...page.numbers);
    const last = page.next === undefined ? page.last : page.next - 1;
    const given = new Set(page.numbers.map(({ number }) => number));
    for (let number = from; number <= last; number += 1)
      if (!given.has(number)) broken.push({ number, sentence: 'is missing in the list of numbers' });
    from = page.next;
  }
  let checked = 0;
  for (const [subject, own] of Map.groupBy(numbers, (each) => each.subject)) {
    const months = await monthsOf(api, subject.replace(/^group\//, ''));
    const kept = new Map(months?.statements.map(({ month, sha256 }) => [month, sha256]));
    for (const { number, month, sha256 } of own) {
      const sentence = kept.has(month) ? 'is not the one that got this number' : 'is gone';
      if (kept.get(month) !== sha256) broken.push({ number, subject, month, sentence });
    }
    checked += kept.size;
    if (months?.broken !== undefined) broken.push(brokenOf(subject, months.broken));
  }
  const [first] = broken.sort((a, b) => a.number - b.number);
  return { checked, ...(first !== undefined && { broken: first }) };
}

const SENTENCES: Readonly<Record<NonNullable<ClosedMonths['broken']>['cause'], string>> = {
  text: 'was changed after it was closed: its text has another hash',
  link: 'does not follow on the month before: that one was changed or is gone',
};

const brokenOf = (
  subject: string,
  { number, month, cause }: NonNullable<ClosedMonths['broken']>,
): BrokenStatement => ({ number, subject, month, sentence: SENTENCES[cause] });

function verifyText({ checked, broken }: VerifyReport, paint: Paint): string {
  if (broken === undefined) return paint.good(`${checked} closed months are as they were written.`);
  const { number, subject, month, sentence } = broken;
  const whose = subject === undefined ? '' : `, ${printable(subject)} ${month},`;
  return paint.bad(`Statement ${number}${whose} ${sentence}.`);
}

export const commands = [statementClosed, statementVerify];
