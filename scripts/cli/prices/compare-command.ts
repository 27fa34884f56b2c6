import { resolve } from 'node:path';
import type { Statement } from '../../../functions/answers/statement/model.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { readDecimal } from '../../../policies/document/values.ts';
import { pricesAt, runnerClassNames } from '../../../policies/prices/price.ts';
import { durationText, moneyText } from '../../../policies/units/unit-texts.ts';
import { locatePolicy } from '../../policy/read-documents.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { answerOf } from '../api/api-in-process.ts';
import { withBooks } from '../api/open-api.ts';
import { ALL_GROUPS } from '../evaluation/unknown-place.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { money } from '../report/shadow-words.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP, rulesFiles } from '../rules-flags.ts';
import {
  type ChargedSum,
  comparePrices,
  type PriceComparison,
  type ProposedFigure,
  proposedRates,
} from './compare-prices.ts';
import { pricesYaml } from './prices-yaml.ts';
import { type BillSum, readBill } from './read-bill.ts';

const HELP = `tollgate prices compare <bill> --month <month> [flags]

What a minute of each runner class really cost in a month, by a cloud bill, beside what was charged for it; and prices that
would have paid the bill, as policy.yaml has them. Nothing is changed. The bill is a FOCUS export as CSV (.gz is unpacked).
A tag names the runner class of a line; lines without a class are summed in a row of their own. The cost is EffectiveCost:
savings plans and reservations count where they are used.

Days and months of bills are in UTC, what was charged is by those of $TOLLGATE_ROLLUP_ZONE. Jobs are read for it, until ninety
days after the month.

  --month <month>      2026-10: lines of other months are left out
  --tag <name>         the tag or label that holds the runner class     (default: tollgate-class)
  --rate <rate>        of one unit of the bill's currency in the policy's, like 0.92; needed if they differ
${LEDGER_FLAGS_HELP}
${RULES_FLAGS_HELP}
  --json               one JSON object, the proposal as YAML in it

Exit codes: 0 done, 1 the ledger does not answer, 3 wrong usage, or a file that is no bill of the month`;

const FLAGS = { month: 'text', tag: 'text', rate: 'text', ...LEDGER_FLAGS, ...RULES_FLAGS } as const;

/** @param open - tests open a ledger of their own. */
export const pricesCompareCommandOn = (open: OpenLedger): Command => ({
  name: 'prices compare',
  summary:
    'What did a minute of each runner class cost by the cloud bill? With prices that would have paid it',
  help: HELP,
  run: (args, io) => tellComparison(args, io, open),
});

export const pricesCompareCommand: Command = pricesCompareCommandOn(openLedger);

const MICROS_PER_UNIT = 1_000_000;

async function tellComparison(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values, words } = readFlags(args, FLAGS, { max: 1, what: 'one bill' });
  const [file] = words;
  if (file === undefined) throw new UsageError('expected the file of a bill');
  const { month, tag = 'tollgate-class' } = values;
  const rateMicros = values.rate === undefined ? undefined : readRateMicros(values.rate);
  const span = spanOf(month);
  const { model: policy, document } = locatePolicy(rulesFiles(values, io).policy);
  const bill = await readBill(resolve(io.cwd, file), { tag, ...span });
  if (bill.lines === 0)
    throw new UsageError(`${file}: has no line of ${month}, and ${bill.linesOfOtherMonths} of other months`);
  if (rateMicros === undefined && bill.currency !== policy.currency)
    throw new UsageError(
      `${file}: is in ${printable(bill.currency ?? '')}, prices are in ${policy.currency}; expected --rate, what one ${printable(bill.currency ?? '')} is in ${policy.currency}`,
    );
  const statement = await statementOfAll(span.month, values, io, open);
  const comparison = comparePrices(
    bill,
    rateMicros ?? MICROS_PER_UNIT,
    chargedByClass(statement),
    runnerClassNames(policy.prices),
  );
  const inForce = pricesAt(policy.prices, span.endMs - 1);
  const rates = new Map<string, ProposedFigure>();
  for (const row of comparison.classes) {
    const current = inForce.classes.find(({ name }) => name === row.runnerClass);
    const figure = current === undefined ? undefined : proposedRates(row, current);
    if (figure !== undefined) rates.set(row.runnerClass, figure);
  }
  const written = isRecord(document.value) ? document.value.prices : undefined;
  const proposal = rates.size === 0 ? undefined : pricesYaml(written, policy.prices, rates, io.nowMs());
  const { currency, lines, linesOfOtherMonths } = bill;
  if (values.json)
    io.out(
      `${JSON.stringify({
        month,
        currency: policy.currency,
        bill: { currency, lines, linesOfOtherMonths },
        ...comparison,
        proposal,
      })}\n`,
    );
  else {
    const paint = paintWhen(io.colours);
    const head = `${month}, ${policy.currency}: charged ${money(comparison.total.chargedMicros, policy.currency)}, the bill is ${money(comparison.total.billMicros, policy.currency)}`;
    io.out(`${paint.strong(head)}\n\n${rowsText(comparison, paint, io.columns)}\n`);
    io.out(notesText(comparison, bill, tag));
    io.out(
      proposal === undefined
        ? `No prices are proposed: no class has both minutes and costs.\n`
        : `Prices that would have paid what the classes cost; the rest of the bill is in none of them:\n\n${proposal}`,
    );
  }
  return EXIT.ok;
}

function readRateMicros(text: string): number {
  const rate = readDecimal(text, MICROS_PER_UNIT);
  if (rate.ok && rate.amount > 0) return rate.amount;
  throw new UsageError(`--rate "${text}": expected ${rate.ok ? 'more than 0' : rate.expected}`);
}

function spanOf(month: string | undefined) {
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month ?? '') ?? [];
  if (month === undefined || year === undefined)
    throw new UsageError(
      month === undefined
        ? '--month is missing: expected a month like 2026-10'
        : `--month "${month}": expected a month like 2026-10`,
    );
  const index = Number(number) - 1;
  return { month, startMs: Date.UTC(Number(year), index, 1), endMs: Date.UTC(Number(year), index + 1, 1) };
}

async function statementOfAll(
  month: string,
  values: Parameters<typeof withBooks>[1],
  io: TerminalIo,
  open: OpenLedger,
): Promise<Statement> {
  return withBooks(open, values, io, async ({ api }) => {
    const query = { group: ALL_GROUPS, by: 'day' as const, with_prices: 'yes' as const };
    const answer = await answerOf(api.statements[':month'].$get({ param: { month }, query }));
    if (answer.ok) return answer.body;
    const { error, problems: [problem] = [] } = answer.refused;
    throw new UsageError(problem === undefined ? error.message : `--month "${month}": ${problem.message}`);
  });
}

function chargedByClass({ lines }: Statement): ReadonlyMap<string, ChargedSum> {
  const sums = new Map<string, ChargedSum>();
  for (const { runnerClass, seconds, micros } of lines) {
    const sum = sums.get(runnerClass) ?? { seconds: 0, micros: 0 };
    sums.set(runnerClass, { seconds: sum.seconds + seconds, micros: sum.micros + micros });
  }
  return sums;
}

function rowsText(
  { classes, otherBillMicros, total }: PriceComparison,
  paint: Paint,
  columns: number,
): string {
  const right = { align: 'right', even: true } as const;
  const rows = classes.map((row) => [
    printable(row.runnerClass),
    durationText(row.seconds),
    moneyText(row.chargedMicros),
    moneyText(row.billMicros),
    row.chargedMicrosPerMinute === undefined ? '' : moneyText(row.chargedMicrosPerMinute),
    row.billMicrosPerMinute === undefined ? '' : moneyText(row.billMicrosPerMinute),
  ]);
  return table(
    [
      { title: 'class' },
      { title: 'ran', align: 'right' },
      { title: 'charged', ...right },
      { title: 'cost', ...right },
      { title: 'charged a minute', ...right },
      { title: 'cost a minute', ...right },
    ],
    [
      ...rows,
      ['other', '', '', moneyText(otherBillMicros), '', ''],
      [
        'total',
        durationText(total.seconds),
        moneyText(total.chargedMicros),
        moneyText(total.billMicros),
        '',
        '',
      ],
    ],
    columns,
    paint.dim,
  );
}

function notesText(
  { classes, otherValues }: PriceComparison,
  { linesOfOtherMonths }: BillSum,
  tag: string,
): string {
  const notes = [
    ...(linesOfOtherMonths > 0 ? [`Lines of other months, left out: ${linesOfOtherMonths}.`] : []),
    ...(classes.every(({ billMicros }) => billMicros === 0)
      ? [`No line has a runner class in its tag ${printable(tag)}: --tag names another one.`]
      : []),
    ...(otherValues.length > 0
      ? [`Values of ${printable(tag)} that are no class: ${otherValues.map(printable).join(', ')}.`]
      : []),
  ];
  return notes.length === 0 ? '' : `${notes.join('\n')}\n\n`;
}
