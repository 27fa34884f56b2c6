import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CsvError, parse } from 'csv-parse';
import type { Statement, StatementLine } from '../../functions/answers/statement/model.ts';
import { readDecimal } from '../../policies/document/values.ts';
import { runnerClassNames } from '../../policies/price.ts';
import { durationText, moneyText } from '../../policies/unit-texts.ts';
import { readPolicy } from '../policy/read-documents.ts';
import { UsageError } from '../terminal/command.ts';
import { command, orElse, print, required, text, word } from '../terminal/define.ts';
import { amounts, printable, right, type Screen, textLines } from '../terminal/table.ts';
import { codeOf, streamUserFile } from '../terminal/user-file.ts';
import { withTable } from './api/open-api.ts';
import { ALL_GROUPS } from './evaluation/unknown-place.ts';
import { LEDGER_EXITS } from './ledger-flags.ts';
import { money } from './report/shadow-words.ts';
import { rulesFiles, SOURCE_FLAGS } from './rules-flags.ts';
import { readStatement } from './statement/statement.ts';

const MICROS_PER_UNIT = 1_000_000;

const pricesCompare = command({
  name: 'prices compare',
  about: `The bill is a FOCUS export as CSV (.gz is unpacked). A tag names the runner class of a line. The cost is EffectiveCost: savings
plans and reservations count where they are used. Days and months of bills are in UTC.`,
  words: { bill: word('<bill>', 'the file') },
  flags: {
    month: required(text('<month>', 'a month like 2026-10: lines of other months are left out', readMonth)),
    tag: orElse(text('<name>', 'the tag or label that holds the runner class'), 'tollgate-class'),
    rate: text(
      '<rate>',
      "of one unit of the bill's currency in the policy's, like 0.92; needed if they differ",
      readRateMicros,
    ),
    ...SOURCE_FLAGS,
  },
  examples: ['tollgate prices compare bill.csv.gz --month 2026-10 --rate 0.92'],
  exits: { ...LEDGER_EXITS, 3: 'wrong usage, or a file that is no bill of the month' },
  run: async ({ flags, words: { bill: file } }, io) => {
    const { tag, rate } = flags;
    const { month } = flags.month;
    const policy = readPolicy(rulesFiles(flags, io).policy);
    const bill = await readBill(resolve(io.cwd, file), tag, flags.month);
    const { currency, lines, linesOfOtherMonths } = bill;
    if (lines === 0)
      throw new UsageError(`${file}: has no line of ${month}, and ${linesOfOtherMonths} of other months`);
    if (rate === undefined && currency !== policy.currency)
      throw new UsageError(
        `${file}: is in ${printable(currency ?? '')}, prices are in ${policy.currency}; expected --rate, the value of one ${printable(currency ?? '')} in ${policy.currency}`,
      );
    const query = { group: ALL_GROUPS, by: 'day' as const, with_prices: 'yes' as const };
    const statement = await withTable(flags, io, ({ api, directory }) =>
      readStatement(api, month, query, directory),
    );
    const names = runnerClassNames(policy.prices);
    const comparison = comparePrices(bill, rate ?? MICROS_PER_UNIT, chargedByClass(statement), names);
    const { total } = comparison;
    const value = {
      ...{ month, currency: policy.currency, bill: { currency, lines, linesOfOtherMonths } },
      ...comparison,
    };
    return print(io, flags, value, (screen) => {
      const head = `${month}, ${policy.currency}: charged ${money(total.chargedMicros, policy.currency)}, the bill is ${money(total.billMicros, policy.currency)}`;
      return `${screen.strong(head)}\n\n${rowsText(comparison, screen)}${notesText(comparison, bill, tag)}`;
    });
  },
});

function readRateMicros(given: string): number {
  const rate = readDecimal(given, MICROS_PER_UNIT);
  if (rate.ok && rate.amount > 0) return rate.amount;
  throw new UsageError(`--rate "${given}": expected ${rate.ok ? 'more than 0' : rate.expected}`);
}

function readMonth(month: string) {
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month) ?? [];
  if (year === undefined) throw new UsageError(`--month "${month}": expected a month like 2026-10`);
  const index = Number(number) - 1;
  return { month, startMs: Date.UTC(Number(year), index, 1), endMs: Date.UTC(Number(year), index + 1, 1) };
}

function chargedByClass({ lines }: Statement): ReadonlyMap<string, ChargedSum> {
  const sums = new Map<string, ChargedSum>();
  for (const { runnerClass, seconds, micros } of lines) {
    const sum = sums.get(runnerClass) ?? { seconds: 0, micros: 0 };
    sums.set(runnerClass, { seconds: sum.seconds + seconds, micros: sum.micros + micros });
  }
  return sums;
}

function rowsText({ classes, otherBillMicros, total }: PriceComparison, screen: Screen) {
  const money = (micros: number | undefined): string => (micros === undefined ? '' : moneyText(micros));
  const rows = classes.map((row) => [
    ...[printable(row.runnerClass), durationText(row.seconds)],
    ...[row.chargedMicros, row.billMicros, row.chargedMicrosPerMinute, row.billMicrosPerMinute].map(money),
  ]);
  const titles = ['charged', 'cost', 'charged a minute', 'cost a minute'].map(amounts);
  return screen.table(
    ['class', right('ran'), ...titles],
    [
      ...rows,
      ['other', '', '', money(otherBillMicros), '', ''],
      ['total', durationText(total.seconds), money(total.chargedMicros), money(total.billMicros), '', ''],
    ],
  );
}

function notesText({ classes }: PriceComparison, { linesOfOtherMonths }: BillSum, tag: string): string {
  const notes = [
    linesOfOtherMonths > 0 && `Lines of other months, left out: ${linesOfOtherMonths}.`,
    classes.every(({ billMicros }) => billMicros === 0) &&
      `No line has a runner class in its tag ${printable(tag)}: --tag names another one.`,
  ];
  return textLines(notes.map((note) => note && `\n${note}`));
}

type ChargedSum = Pick<StatementLine, 'seconds' | 'micros'>;
type PriceComparison = ReturnType<typeof comparePrices>;

export function comparePrices(
  { costs }: Pick<BillSum, 'costs'>,
  rateMicros: number,
  charged: ReadonlyMap<string, ChargedSum>,
  classNames: readonly string[],
) {
  const names = [...new Set([...classNames, ...charged.keys()])];
  // Never -0.
  const microsOf = (cost: number): number => Math.round(cost * rateMicros) || 0;
  const classes = names.map((runnerClass) => {
    const { seconds, micros } = charged.get(runnerClass) ?? { seconds: 0, micros: 0 };
    const billMicros = microsOf(costs.get(runnerClass) ?? 0);
    return {
      runnerClass,
      seconds,
      chargedMicros: micros,
      billMicros,
      ...(seconds > 0 && {
        billMicrosPerMinute: perMinute(billMicros, seconds),
        chargedMicrosPerMinute: perMinute(micros, seconds),
      }),
    };
  });
  const billMicros = microsOf([...costs.values()].reduce((sum, each) => sum + each, 0));
  return {
    classes,
    // Lines without the tag, or with a value that is no class: the rest of the total, so that rounding loses nothing.
    otherBillMicros: billMicros - classes.reduce((sum, row) => sum + row.billMicros, 0),
    total: {
      seconds: classes.reduce((sum, { seconds }) => sum + seconds, 0),
      chargedMicros: classes.reduce((sum, row) => sum + row.chargedMicros, 0),
      billMicros,
    },
  };
}

const perMinute = (micros: number, seconds: number): number => Math.round((micros / seconds) * 60);

export const commands = [pricesCompare];

type BillSum = Awaited<ReturnType<typeof readBill>>;

const COLUMNS = ['EffectiveCost', 'BillingCurrency', 'ChargePeriodStart', 'Tags'] as const;
type Cells = Readonly<Record<(typeof COLUMNS)[number], string>>;

const ROW_CHARACTERS_MAX = 1024 * 1024;
const VALUES_MAX = 10_000;

/** `.gz` is unpacked. @throws {UsageError} for a file that is not a FOCUS bill, or has two currencies. */
async function readBill(file: string, tag: string, { startMs, endMs }: ReturnType<typeof readMonth>) {
  // By the value of the tag; lines without the tag have the key `undefined`.
  const costs = new Map<string | undefined, number>();
  const sum = { currency: undefined as string | undefined, lines: 0, linesOfOtherMonths: 0 };
  const refused = (why: string): UsageError => new UsageError(`${file}: ${why}`);
  const add = ({ EffectiveCost, BillingCurrency: currency, ChargePeriodStart, Tags }: Cells): void => {
    const at = `line ${sum.lines + sum.linesOfOtherMonths + 1} of the bill`;
    const chargedMs = readChargeInstant(ChargePeriodStart);
    if (!AMOUNT.test(EffectiveCost)) throw refused(`${at} has a cost that is no number`);
    if (chargedMs === undefined) throw refused(`${at} has no date that can be read`);
    if (chargedMs < startMs || chargedMs >= endMs) {
      sum.linesOfOtherMonths += 1;
      return;
    }
    sum.currency ??= currency;
    if (currency !== sum.currency)
      throw refused(`has amounts in ${sum.currency} and in ${currency}; expected one currency`);
    sum.lines += 1;
    const value = readTag(Tags, tag);
    costs.set(value, (costs.get(value) ?? 0) + Number(EffectiveCost));
    if (costs.size > VALUES_MAX)
      throw refused(`has more than ${VALUES_MAX} values of the tag; is it the tag of runner classes?`);
  };
  try {
    await readCsv(file, add);
  } catch (error) {
    if (error instanceof CsvError) throw refused(`is no CSV, near line ${error.lines ?? '?'}`);
    if (codeOf(error)?.startsWith('Z_') !== true) throw error;
    throw refused('is not gzip; unpack it and name the CSV file');
  }
  return { ...sum, costs };
}

async function readCsv(file: string, add: (cells: Cells) => void): Promise<void> {
  let isEmpty = true;
  const parser = parse({
    bom: true,
    max_record_size: ROW_CHARACTERS_MAX,
    columns: (header: readonly string[]) => {
      isEmpty = false;
      const missing = COLUMNS.filter((name) => !header.includes(name));
      if (missing.length > 0)
        throw new UsageError(
          `${file}: lacks the columns ${missing.join(', ')}; expected a FOCUS export with ${COLUMNS.join(', ')}`,
        );
      return [...header];
    },
  });
  const addLines = async (rows: AsyncIterable<Cells>): Promise<void> => {
    for await (const cells of rows) add(cells);
  };
  const source = streamUserFile(file);
  await (file.endsWith('.gz')
    ? pipeline(source, createGunzip(), parser, addLines)
    : pipeline(source, parser, addLines));
  if (isEmpty) throw new UsageError(`${file}: is empty`);
}

/** An empty cell is 0. */
const AMOUNT = /^(?:-?\d{1,15}(?:\.\d{0,40})?(?:e[+-]?\d{1,2})?)?$/i;

/** `2026-11-01T00:00:00Z`, or as Athena and Parquet tools write it: `2026-11-01 00:00:00.000`. */
function readChargeInstant(text: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|[ ]?UTC|\+00:00)?$/.exec(text);
  const ms = match === null ? Number.NaN : Date.parse(`${match[1]}T${match[2]}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

function readTag(cell: string, tag: string): string | undefined {
  if (!cell.startsWith('{')) return undefined;
  try {
    const tags: Readonly<Record<string, unknown>> = JSON.parse(cell);
    const found = Object.entries(tags).find(([name]) => plainTag(name) === plainTag(tag))?.[1];
    return typeof found === 'string' && found !== '' ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Bills write `tollgate-class` as `user:tollgate-class`, `user_tollgate_class` or `tollgate_class`. */
const plainTag = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^user[:_]/, '')
    .replace(/[^a-z0-9]/g, '_');
