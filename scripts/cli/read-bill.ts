/** Reads a FOCUS bill of any size as CSV and sums its cost by the value of a tag. */
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CsvError, parse } from 'csv-parse';
import { UsageError } from '../terminal/command.ts';
import { codeOf } from '../terminal/system-failure.ts';
import { streamUserFile } from '../terminal/user-file.ts';

/** Parts of a micro-unit that are kept while lines are added: bills have lines of a millionth of a cent. */
export const PARTS_PER_MICRO = 1_000_000n;
const PART_PLACES = 12;

export interface BillSum {
  readonly currency: string | undefined;
  /** By the value of the tag; lines without the tag have the key `undefined`. Exact, in parts of a micro-unit. */
  readonly parts: ReadonlyMap<string | undefined, bigint>;
  readonly lines: number;
  readonly linesOfOtherMonths: number;
}

interface BillTerms {
  readonly tag: string;
  readonly startMs: number;
  readonly endMs: number;
}

const COLUMNS = ['EffectiveCost', 'BillingCurrency', 'ChargePeriodStart', 'Tags'] as const;
type Cells = Readonly<Record<(typeof COLUMNS)[number], string>>;

const ROW_CHARACTERS_MAX = 1024 * 1024;
/** A tag of runner classes has a few values; one with more is another tag. */
const VALUES_MAX = 10_000;

/** `.gz` is unpacked. @throws {UsageError} for a file that is not a FOCUS bill, or has two currencies. */
export async function readBill(file: string, { tag, startMs, endMs }: BillTerms): Promise<BillSum> {
  const parts = new Map<string | undefined, bigint>();
  const sum = { currency: undefined as string | undefined, lines: 0, linesOfOtherMonths: 0 };
  const add = ({ EffectiveCost, BillingCurrency: currency, ChargePeriodStart, Tags }: Cells): void => {
    const at = `line ${sum.lines + sum.linesOfOtherMonths + 1} of the bill`;
    const cost = partsOf(EffectiveCost);
    const chargedMs = instantOf(ChargePeriodStart);
    if (cost === undefined) throw new UsageError(`${file}: ${at} has a cost that is no number`);
    if (chargedMs === undefined) throw new UsageError(`${file}: ${at} has no date that can be read`);
    if (chargedMs < startMs || chargedMs >= endMs) {
      sum.linesOfOtherMonths += 1;
      return;
    }
    sum.currency ??= currency;
    if (currency !== sum.currency)
      throw new UsageError(
        `${file}: has amounts in ${sum.currency} and in ${currency}; expected one currency`,
      );
    sum.lines += 1;
    const value = valueOfTag(Tags, tag);
    parts.set(value, (parts.get(value) ?? 0n) + cost);
    if (parts.size > VALUES_MAX)
      throw new UsageError(
        `${file}: has more than ${VALUES_MAX} values of the tag; is it the tag of runner classes?`,
      );
  };
  try {
    await readCsv(file, add);
  } catch (error) {
    if (error instanceof CsvError)
      throw new UsageError(`${file}: is no CSV, near line ${error.lines ?? '?'}`);
    if (codeOf(error)?.startsWith('Z_') !== true) throw error;
    throw new UsageError(`${file}: is not gzip; unpack it and name the CSV file`);
  }
  return { ...sum, parts };
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

const AMOUNT = /^(-?)(\d{1,15})(?:\.(\d{0,40}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** Exact to twelve places; what is below them is dropped. An empty cell is 0. */
function partsOf(text: string): bigint | undefined {
  if (text === '') return 0n;
  const match = AMOUNT.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '0', fraction = '', exponent = '0'] = match;
  const shift = PART_PLACES + Number(exponent) - fraction.length;
  const digits = BigInt(`${whole}${fraction}`);
  const parts = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
  return sign === '-' ? -parts : parts;
}

/** `2026-11-01T00:00:00Z`, or as Athena and Parquet tools write it: `2026-11-01 00:00:00.000`. */
function instantOf(text: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|[ ]?UTC|\+00:00)?$/.exec(text);
  const ms = match === null ? Number.NaN : Date.parse(`${match[1]}T${match[2]}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

function valueOfTag(cell: string, tag: string): string | undefined {
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
