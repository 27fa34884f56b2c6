import {
  closedCsv,
  closedFocusCsv,
  closedRows,
  csv,
  csvField,
  decimal,
  type FocusFields,
  focusCharge,
  focusRows,
  shortDecimal,
} from '../../../functions/answers/statement/csv.ts';
import type { ClosedMonths, Statement, StatementLine } from '../../../functions/answers/statement/model.ts';
import type { Directory } from '../../../policies/directory.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { durationText } from '../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { EXIT, UsageError } from '../../terminal/command.ts';
import { choice, command, orElse, print, required, text, toggle } from '../../terminal/define.ts';
import { amounts, printable, right, type Screen } from '../../terminal/table.ts';
import { type ApiClient, answerOf, found, readInProcess } from '../api/answers.ts';
import { type BudgetContext, withTable } from '../api/open-api.ts';
import { ALL_GROUPS, notInDirectory } from '../evaluation/unknown-place.ts';
import { LEDGER_EXITS } from '../ledger-flags.ts';
import { money, shadowCount } from '../report/shadow-words.ts';
import { refusedFlag } from '../report/span.ts';
import { SOURCE_FLAGS } from '../rules-flags.ts';
import { deliverAs, deliveryFlags } from './deliver.ts';

const FORMATS = {
  terminal: statementTerminal,
  /** Names are untrusted, so possible formulas are escaped. Our numbers stay numbers, also negative ones. */
  csv: ({ month, currency, lines }: Statement) =>
    csv([
      COLUMNS,
      ...lines.map(({ job, rootPath = '', groupPath = '', projectPath = '', ...line }) => [
        ...[csvField(month), line.day, csvField(rootPath), csvField(groupPath), String(line.groupId ?? '')],
        ...[csvField(projectPath), String(line.projectId ?? ''), csvField(line.runnerClass)],
        ...[decimal(line.microsPerMinute), csvField(line.priceVersion), line.kind, line.cause ?? ''],
        ...[String(line.late), String(line.jobs), String(line.seconds), decimal(line.micros), currency],
        ...[String(job?.id ?? ''), csvField(job?.name ?? ''), job?.decisionId ?? '', job?.unchecked ?? ''],
      ]),
    ]),
  /** A FOCUS 1.2 dataset. See https://focus.finops.org/focus-specification/v1-2/ */
  focus: (statement: Statement) => focusRows(statement.lines.map((line) => focusFields(line, statement))),
};

const statementCommand = command({
  name: 'statement',
  about: `It has everything below the group, by day. It adds up the usage days of the group, as closed
statements, the console and its API do, so it takes no longer the more jobs there were. Days and months begin and end in
the deployment's accounting zone ($TOLLGATE_ROLLUP_ZONE, else UTC); limits and their zones do not matter. A group that was
below another has the share that its jobs are of that group's statement.

--with-prices, --by job and --format focus read every job, for ninety days after the month: lines then have project,
runner class and price, or are one job each. Corrections are separate lines; those that came after the end of the month
are marked. A job belongs to the month and to the groups of its admission, even if groups were moved since.

Limits and groups are those that are live next to the ledger, unless a file is named or nothing is live.`,
  flags: {
    month: required(text('<month>', 'a month like 2026-10; by the fiscal_start at the top of the limits')),
    group: required(text('<id | path>', 'a group like acme/payments; instance is everything')),
    by: orElse(choice('<what>', '', ['day', 'job']), 'day'),
    'with-prices': toggle('by day, project, runner class and price'),
    ...deliveryFlags(FORMATS),
    ...SOURCE_FLAGS,
  },
  examples: [
    'tollgate statement --month 2026-10 --group acme/payments',
    'tollgate statement --month 2026-10 --group instance --format focus --out focus.csv',
  ],
  exits: LEDGER_EXITS,
  run: ({ flags }, io) => {
    const { month, group, by } = flags;
    const withPrices = flags.format === 'focus' || flags['with-prices'];
    const query = { group, by, ...(withPrices && { with_prices: 'yes' as const }) };
    const daysAlone = 'it without --by job, --with-prices and --format focus';
    const read = ({ api, directory }: BudgetContext) =>
      readStatement(api, month, query, directory, daysAlone);
    return deliverAs(FORMATS, flags, io, () => withTable(flags, io, read));
  },
});

/** @param expected - says what to do if only the days of the month can be read. @throws {UsageError} naming the refused flag */
export async function readStatement(
  api: ApiClient,
  month: string,
  query: Parameters<ApiClient['statements'][':month']['$get']>[0]['query'],
  directory: Directory,
  expected = 'a month of the last 90 days, and --ledger rather than --console',
): Promise<Statement> {
  const answer = await answerOf(api.statements[':month'].$get({ param: { month }, query }));
  if (answer.ok) return answer.body;
  if (answer.refused.error.code === 'only_days')
    throw new UsageError(
      `--month "${month}": only its days are kept after 90 days, or shown by a console; expected ${expected}`,
    );
  throw refusedFlag(answer, query.group === ALL_GROUPS ? undefined : query.group, directory);
}

const COLUMNS = [
  ...['month', 'day', 'root', 'group', 'group_id', 'project', 'project_id', 'runner_class'],
  ...['price_per_minute', 'price_version', 'kind', 'cause', 'late', 'jobs', 'seconds', 'cost', 'currency'],
  ...['job_id', 'job_name', 'decision_id', 'unchecked'],
];

function statementTerminal(statement: Statement, screen: Screen): string {
  const { group, month, zone, startMs, endMs, ledger, totals, currency, notes } = statement;
  const { correctedMicros, lateMicros, openJobs, heldMicros } = totals;
  const lines = [
    screen.strong(`${printable(group)}, ${month} (${zone}): ${money(totals.micros, currency)}`),
    screen.dim(`${instantText(startMs, zone)} to ${instantText(endMs, zone)}, by ${printable(ledger)}`),
    `${shadowCount(totals.jobs)} jobs, ${durationText(totals.seconds, 'up')}.`,
    (correctedMicros !== 0 || lateMicros !== 0) &&
      `Corrections make ${money(correctedMicros, currency)} of it; ${money(lateMicros, currency)} came after the month was over.`,
    (openJobs > 0 || heldMicros > 0) &&
      screen.warn(
        `Jobs that are not over hold ${money(heldMicros, currency)}, which is in no line. Their number: ${openJobs}.`,
      ),
    ...notes.map((note) => screen.warn(note)),
  ];
  const head = lines.filter((line) => line !== false).join('\n');
  if (statement.lines.length === 0) return `${head}\n`;
  const titles = ['day', 'class', right('jobs'), right('seconds'), amounts('cost'), '', 'project'];
  const rows = statement.lines.map((line) => [
    ...[line.day, printable(line.runnerClass)],
    line.job === undefined ? shadowCount(line.jobs) : String(line.job.id),
    ...[String(line.seconds), money(line.micros, currency), correctionText(line)],
    printable(line.projectPath ?? line.groupPath ?? String(line.projectId ?? 'unknown')),
  ]);
  return `${head}\n\n${screen.firstRows(titles, rows, { max: 60, all: '--format csv' })}`;
}

const correctionText = ({ kind, cause, late }: StatementLine): string =>
  kind === 'usage' ? '' : `${late ? 'late ' : ''}correction (${cause ?? 'unknown'})`;

function focusFields(line: StatementLine, statement: Statement): FocusFields {
  const { micros, seconds, jobs, late, cause, microsPerMinute, priceVersion, job, projectId } = line;
  const { rootId, rootPath = '', groupId, groupPath = '', projectPath = '' } = line;
  const { instance, currency, startMs, endMs } = statement;
  const runnerClass = csvField(line.runnerClass);
  const price = decimal(microsPerMinute);
  return {
    ...focusCharge({
      ...{ micros, seconds, jobs, isPriced: true, instance, currency, category: 'Usage' },
      ...{ billing: { startMs, endMs }, charged: { startMs: line.dayStartMs, endMs: line.dayEndMs } },
      // The top-level group pays; if unknown, the GitLab itself.
      account: { ...(rootId !== undefined && { id: rootId }), name: rootPath },
      ...(groupId !== undefined && { subAccount: { id: groupId, name: groupPath } }),
      // Only what an earlier statement of this month did not have; within the month a correction is no correction to FOCUS.
      isCorrection: late,
      description: describeLine(line),
    }),
    ContractedUnitPrice: price,
    ListUnitPrice: price,
    // Billed minutes, because durations are rounded up; real minutes if free.
    PricingQuantity: shortDecimal(microsPerMinute === 0 ? seconds / 60 : micros / microsPerMinute),
    ...(job === undefined
      ? projectId !== undefined && {
          ...{ ResourceId: String(projectId), ResourceName: csvField(projectPath), ResourceType: 'Project' },
        }
      : { ResourceId: String(job.id), ResourceName: csvField(job.name ?? ''), ResourceType: 'CI Job' }),
    SkuId: runnerClass,
    SkuPriceDetails: csvField(JSON.stringify({ RunnerClass: line.runnerClass })),
    SkuPriceId: csvField(`${line.runnerClass}@${priceVersion}`),
    x_GroupPath: csvField(groupPath),
    x_ProjectPath: csvField(projectPath),
    x_ProjectId: String(projectId ?? ''),
    x_RunnerClass: runnerClass,
    x_JobId: String(job?.id ?? ''),
    x_DecisionId: job?.decisionId ?? '',
    x_Unchecked: job?.unchecked ?? '',
    x_CorrectionCause: cause ?? '',
    x_LateFact: String(late),
  };
}

function describeLine({ kind, cause, jobs, runnerClass, projectPath, job }: StatementLine): string {
  const whose = projectPath === undefined ? '' : ` of ${projectPath}`;
  const counted = job !== undefined ? `job ${job.name ?? job.id}` : jobs === 1 ? '1 job' : `${jobs} jobs`;
  const what = `${counted}${whose} on ${runnerClass}`;
  return kind === 'usage' ? `Runner minutes: ${what}` : `Correction (${cause ?? 'unknown'}): ${what}`;
}

const CLOSED_FORMATS = { terminal: closedTerminal, csv: closedCsv, focus: closedFocusCsv };

const statementClosed = command({
  name: 'statement closed',
  about: `It closes five days after its end, for each top-level group and the instance: later findings are adjustments on the statement
of the next month.`,
  flags: {
    month: required(
      text('<month>', 'a month like 2026-10; 2026-10@06 where the fiscal year makes it begin on the 6th'),
    ),
    group: required(text('<id | path>', 'a group like acme/payments; instance is everything')),
    ...deliveryFlags(CLOSED_FORMATS),
    ...SOURCE_FLAGS,
  },
  examples: ['tollgate statement closed --month 2026-10 --group acme --format csv'],
  exits: { ...LEDGER_EXITS, 3: 'wrong usage, or no such month was closed' },
  run: ({ flags }, io) => {
    const { month, group } = flags;
    const read = async ({ api, directory }: BudgetContext) => {
      const { statements } = await readMonthsOfGroup(api, group, directory);
      const closed = statements.find((each) => each.month === month);
      if (closed !== undefined) return closed;
      const all = statements.map((each) => each.month).join(', ') || 'none';
      throw new UsageError(`--month "${month}": was not closed for ${group}; closed months: ${all}`);
    };
    return deliverAs(CLOSED_FORMATS, flags, io, () => withTable(flags, io, read));
  },
});

const statementVerify = command({
  name: 'statement verify',
  about: `Recomputes the hash of every closed statement, follows each group's chain from month to month, and looks for numbers that are
missing or name another statement. Names the first one that is wrong.`,
  flags: {
    group: text('<id | path>', "only this group's chain (default: every group, and the list of numbers)"),
    ...SOURCE_FLAGS,
  },
  examples: ['tollgate statement verify', 'tollgate statement verify --group acme'],
  exits: { ...LEDGER_EXITS, 0: 'no statement was changed', 2: 'one was' },
  run: async ({ flags }, io) => {
    const { group } = flags;
    const report = await withTable(flags, io, async ({ api, directory }): Promise<VerifyReport> => {
      if (group === undefined) return verifyAll(api);
      const { statements, broken } = await readMonthsOfGroup(api, group, directory);
      return { checked: statements.length, ...(broken && { broken: brokenStatement(group, broken) }) };
    });
    print(io, flags, report, (screen) => `${verifyText(report, screen)}\n`);
    return report.broken === undefined ? EXIT.ok : EXIT.wouldReject;
  },
});

type ClosedStatement = ClosedMonths['statements'][number];

function closedTerminal(statement: ClosedStatement, screen: Screen): string {
  const { number, group, month, zone, currency, totals, closedAtMs, sha256, previousSha256 } = statement;
  const titles = ['', 'when', right('jobs'), right('seconds'), amounts('cost'), ''];
  const rows = closedRows(statement).map(({ kind, when, jobs, seconds, micros, about }) => [
    ...[kind, when, String(jobs), String(seconds), money(micros, currency), printable(about)],
  ]);
  const lines = [
    screen.strong(
      `Statement ${number}, ${printable(group)}, ${month} (${zone}): ${money(totals.dueMicros, currency)}`,
    ),
    `Usage ${money(totals.micros, currency)}, adjustments of earlier months ${money(totals.adjustmentMicros, currency)}.`,
    screen.dim(
      `Closed ${instantText(closedAtMs, zone)}, prices ${statement.priceVersions.map(printable).join(', ')}`,
    ),
    screen.dim(`SHA-256 ${sha256}`),
    screen.dim(previousSha256 === '' ? 'The first month of this group.' : `Follows   ${previousSha256}`),
  ];
  return `${lines.join('\n')}\n\n${rows.length === 0 ? '' : screen.table(titles, rows)}`;
}

type BrokenStatement = Readonly<{ number: number; subject?: string; month?: string; sentence: string }>;

type VerifyReport = Awaited<ReturnType<typeof verifyAll>>;

const readMonths = (api: ApiClient, group: string) =>
  found(api['closed-statements'].$get({ query: { group } }));

async function readMonthsOfGroup(api: ApiClient, group: string, { groupByPath }: Directory) {
  const months = await readMonths(api, group);
  if (months === undefined) throw notInDirectory(`--group ${group}`, group, groupByPath.keys());
  return months;
}

const readNumbers = (api: ApiClient, from: number) =>
  readInProcess(api['closed-statements'].numbers.$get({ query: { from: String(from) } }));
type NumbersPage = Awaited<ReturnType<typeof readNumbers>>;

/** The list of numbers says which statements there must be; each chain says whether they are as they were. */
async function verifyAll(api: ApiClient) {
  const broken: BrokenStatement[] = [];
  const numbers: NumbersPage['numbers'][number][] = [];
  for (let from: number | undefined = 1; from !== undefined; ) {
    const page: NumbersPage = await readNumbers(api, from);
    numbers.push(...page.numbers);
    const last = page.next === undefined ? page.last : page.next - 1;
    const given = new Set(page.numbers.map(({ number }) => number));
    for (let number = from; number <= last; number += 1)
      if (!given.has(number)) broken.push({ number, sentence: 'is missing in the list of numbers' });
    from = page.next;
  }
  let checked = 0;
  for (const [subject, own] of Map.groupBy(numbers, (each) => each.subject)) {
    const months = await readMonths(api, subject.replace(/^group\//, ''));
    const hashes = new Map(months?.statements.map(({ month, sha256 }) => [month, sha256]));
    for (const { number, month, sha256 } of own) {
      const sentence = hashes.has(month) ? 'is not the one that got this number' : 'is gone';
      if (hashes.get(month) !== sha256) broken.push({ number, subject, month, sentence });
    }
    checked += hashes.size;
    if (months?.broken !== undefined) broken.push(brokenStatement(subject, months.broken));
  }
  const [first] = broken.sort((a, b) => a.number - b.number);
  return { checked, ...withoutAbsent({ broken: first }) };
}

const SENTENCES: Readonly<Record<NonNullable<ClosedMonths['broken']>['cause'], string>> = {
  text: 'was changed after it was closed: its text has another hash',
  link: 'does not follow on the month before: that one was changed or is gone',
};

const brokenStatement = (
  subject: string,
  { number, month, cause }: NonNullable<ClosedMonths['broken']>,
): BrokenStatement => ({ number, subject, month, sentence: SENTENCES[cause] });

function verifyText({ checked, broken }: VerifyReport, screen: Screen): string {
  if (broken === undefined) return screen.good(`${checked} closed months are as they were written.`);
  const { number, subject, month, sentence } = broken;
  const whose = subject === undefined ? '' : `, ${printable(subject)} ${month},`;
  return screen.bad(`Statement ${number}${whose} ${sentence}.`);
}

export const commands = [statementCommand, statementClosed, statementVerify];
