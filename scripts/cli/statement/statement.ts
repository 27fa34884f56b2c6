import {
  csv,
  csvField,
  decimal,
  type FocusFields,
  focusCharge,
  focusRows,
  shortDecimal,
} from '../../../functions/answers/statement/csv.ts';
import type { Statement, StatementLine } from '../../../functions/answers/statement/model.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { durationText } from '../../../policies/unit-texts.ts';
import { EXIT, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { choice, orElse, required, text, toggle } from '../../terminal/flags.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { amounts, firstRows, right } from '../../terminal/table.ts';
import { answerOf } from '../api/api-in-process.ts';
import { withBooks } from '../api/open-api.ts';
import { LEDGER_EXITS, LEDGER_FLAGS } from '../ledger-flags.ts';
import { money, shadowCount } from '../report/shadow-words.ts';
import { refusedFlag } from '../report/span.ts';
import { RULES_FLAGS } from '../rules-flags.ts';
import { deliver, FORMAT_FLAG, OUT_FLAG, readFormat, terminalOf } from './deliver.ts';

const FORMATS = ['terminal', 'csv', 'focus'] as const;

const statementCommand = command({
  name: 'statement',
  about: `Prints what a group and everything below it is charged for a month, by day. It adds up the usage days of the group, as closed
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
    format: FORMAT_FLAG(FORMATS),
    out: OUT_FLAG,
    ...LEDGER_FLAGS,
    ...RULES_FLAGS,
  },
  json: 'the statement as one JSON object',
  examples: [
    'tollgate statement --month 2026-10 --group acme/payments',
    'tollgate statement --month 2026-10 --group instance --format focus --out focus.csv',
  ],
  exits: LEDGER_EXITS,
  run: async ({ flags }, io) => {
    const { month, group, by, out } = flags;
    const format = readFormat(flags, FORMATS);
    const withPrices = format === 'focus' || flags['with-prices'];
    const query = { group, by, ...(withPrices && { with_prices: 'yes' as const }) };
    const made = await withBooks(flags, io, async ({ api, directory }) => {
      const answer = await answerOf(api.statements[':month'].$get({ param: { month }, query }));
      if (answer.ok) return answer.body;
      if (answer.refused.error.code === 'only_days')
        throw new UsageError(
          `--month "${month}": only its days are kept after 90 days, or shown by a console; expected it without --by job, --with-prices and --format focus`,
        );
      throw refusedFlag(answer, group, directory);
    });
    const rendered = {
      terminal: () => statementTerminal(made, ...terminalOf(out, io)),
      csv: () => statementCsv(made),
      focus: () => focusCsv(made),
      json: () => `${JSON.stringify(made)}\n`,
    };
    deliver(rendered[format](), out, io);
    return EXIT.ok;
  },
});

const COLUMNS = [
  ...['month', 'day', 'root', 'group', 'group_id', 'project', 'project_id', 'runner_class'],
  ...['price_per_minute', 'price_version', 'kind', 'cause', 'late', 'jobs', 'seconds', 'cost', 'currency'],
  ...['job_id', 'job_name', 'decision_id', 'unchecked'],
];

/** Names are untrusted, so possible formulas are escaped. Our numbers stay numbers, also negative ones. */
const statementCsv = ({ month, currency, lines }: Statement): string =>
  csv([
    COLUMNS,
    ...lines.map(({ job, rootPath = '', groupPath = '', projectPath = '', ...line }) => [
      ...[csvField(month), line.day, csvField(rootPath), csvField(groupPath), String(line.groupId ?? '')],
      ...[csvField(projectPath), String(line.projectId ?? ''), csvField(line.runnerClass)],
      ...[decimal(line.microsPerMinute), csvField(line.priceVersion), line.kind, line.cause ?? ''],
      ...[String(line.late), String(line.jobs), String(line.seconds), decimal(line.micros), currency],
      ...[String(job?.id ?? ''), csvField(job?.name ?? ''), job?.decisionId ?? '', job?.unchecked ?? ''],
    ]),
  ]);

function statementTerminal(statement: Statement, paint: Paint, columns: number): string {
  const { group, month, zone, startMs, endMs, ledger, totals, currency, notes } = statement;
  const { correctedMicros, lateMicros, openJobs, heldMicros } = totals;
  const lines = [
    paint.strong(`${printable(group)}, ${month} (${zone}): ${money(totals.micros, currency)}`),
    paint.dim(`${instantText(startMs, zone)} to ${instantText(endMs, zone)}, by ${printable(ledger)}`),
    `${shadowCount(totals.jobs)} jobs, ${durationText(totals.seconds, 'up')}.`,
    (correctedMicros !== 0 || lateMicros !== 0) &&
      `Corrections make ${money(correctedMicros, currency)} of it; ${money(lateMicros, currency)} came after the month was over.`,
    (openJobs > 0 || heldMicros > 0) &&
      paint.warn(
        `Jobs that are not over hold ${money(heldMicros, currency)}, which is in no line. Their number: ${openJobs}.`,
      ),
    ...notes.map((note) => paint.warn(note)),
  ];
  const head = lines.filter((line) => line !== false).join('\n');
  if (statement.lines.length === 0) return `${head}\n`;
  const titles = ['day', 'class', right('jobs'), right('seconds'), amounts('cost'), '', 'project'];
  const rows = statement.lines.map((line) => [
    ...[line.day, printable(line.runnerClass)],
    line.job === undefined ? shadowCount(line.jobs) : String(line.job.id),
    ...[String(line.seconds), money(line.micros, currency), markOf(line)],
    printable(line.projectPath ?? line.groupPath ?? String(line.projectId ?? 'unknown')),
  ]);
  return `${head}\n\n${firstRows(titles, rows, { max: 60, width: columns, dim: paint.dim, all: '--format csv' })}`;
}

const markOf = ({ kind, cause, late }: StatementLine): string =>
  kind === 'usage' ? '' : `${late ? 'late ' : ''}correction (${cause ?? 'unknown'})`;

export const commands = [statementCommand];

/** The statement as a FOCUS 1.2 dataset, CSV. See https://focus.finops.org/focus-specification/v1-2/ */
const focusCsv = (statement: Statement): string =>
  focusRows(statement.lines.map((line) => focusFields(line, statement)));

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
      description: descriptionOf(line),
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
    x_LateTruth: String(late),
  };
}

function descriptionOf({ kind, cause, jobs, runnerClass, projectPath, job }: StatementLine): string {
  const whose = projectPath === undefined ? '' : ` of ${projectPath}`;
  const counted = job !== undefined ? `job ${job.name ?? job.id}` : jobs === 1 ? '1 job' : `${jobs} jobs`;
  const what = `${counted}${whose} on ${runnerClass}`;
  return kind === 'usage' ? `Runner minutes: ${what}` : `Correction (${cause ?? 'unknown'}): ${what}`;
}
