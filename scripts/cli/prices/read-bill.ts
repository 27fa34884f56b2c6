/** Reads a bill, of any size, and adds it up by the value of a tag. */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CsvError, parse } from 'csv-parse';
import { UsageError } from '../../terminal/command.ts';
import {
  BILL_FORMATS,
  type BillFormat,
  type BillLine,
  OpenCostExport,
  openCostLines,
} from './bill-formats.ts';

/** Parts of a micro-unit that are kept while lines are added: bills have lines of a millionth of a cent. */
export const PARTS_PER_MICRO = 1_000_000n;
const PART_PLACES = 12;

export interface BillSum {
  readonly format: BillFormat['name'] | 'OpenCost';
  /** Undefined: the bill does not say. */
  readonly currency: string | undefined;
  /** By the value of the tag; `undefined` is what does not have it. Exact, in parts of a micro-unit. */
  readonly parts: ReadonlyMap<string | undefined, bigint>;
  readonly lines: number;
  /** Lines of other months, which are not in the sums. */
  readonly linesOfOtherMonths: number;
}

interface BillTerms {
  readonly tag: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Larger bills come as CSV. */
const JSON_BYTES_MAX = 256 * 1024 * 1024;
/** Tags of one resource. */
const ROW_CHARACTERS_MAX = 1024 * 1024;
/** A tag of runner classes has a few values; one with more is another tag. */
const VALUES_MAX = 10_000;

/**
 * `.json` is an export of OpenCost, all else CSV; `.gz` is unpacked on the way.
 *
 * @throws {UsageError} for a file that is no bill, and for one in two currencies.
 */
export async function readBill(file: string, terms: BillTerms): Promise<BillSum> {
  const sum = new RunningSum(terms);
  try {
    if (file.endsWith('.json')) {
      if ((await stat(file)).size > JSON_BYTES_MAX)
        throw new UsageError(`${file}: has more than ${JSON_BYTES_MAX} bytes; export fewer labels or steps`);
      const parsed = OpenCostExport.safeParse(JSON.parse(await readFile(file, 'utf8')));
      if (!parsed.success) throw new UsageError(`${file}: expected what OpenCost answers for /allocation`);
      for (const line of openCostLines(parsed.data, terms.tag)) sum.add(line);
      return sum.result('OpenCost');
    }
    return sum.result(await readCsv(file, terms.tag, sum));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof SyntaxError) throw new UsageError(`${file}: is no JSON`);
    if (error instanceof CsvError)
      throw new UsageError(`${file}: is no CSV, near line ${error.lines ?? '?'}`);
    if (error instanceof BillLineError) throw new UsageError(`${file}: ${error.message}`);
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UsageError(`${file}: could not be read (${code})`);
  }
}

async function readCsv(file: string, tag: string, sum: RunningSum): Promise<BillFormat['name']> {
  let format: BillFormat | undefined;
  const parser = parse({
    bom: true,
    max_record_size: ROW_CHARACTERS_MAX,
    columns: (header: readonly string[]) => {
      format = BILL_FORMATS.find(({ needs }) => needs.every((name) => header.includes(name)));
      if (format === undefined) throw new BillLineError(unknownColumns());
      return [...header];
    },
  });
  const taken = async (rows: AsyncIterable<Readonly<Record<string, string>>>): Promise<void> => {
    for await (const cells of rows) {
      sum.add(format?.line(cells, tag));
    }
  };
  const source = createReadStream(file);
  await (file.endsWith('.gz')
    ? pipeline(source, createGunzip(), parser, taken)
    : pipeline(source, parser, taken));
  if (format === undefined) throw new BillLineError('is empty');
  return format.name;
}

const unknownColumns = (): string =>
  `expected the columns of a bill: ${BILL_FORMATS.map(({ name, needs }) => `${name} (${needs.join(', ')})`).join(' or ')}`;

class BillLineError extends Error {
  override readonly name = 'BillLineError';
}

class RunningSum {
  readonly #terms: BillTerms;
  readonly #parts = new Map<string | undefined, bigint>();
  #currency: string | undefined;
  /** All lines so far. */
  #read = 0;
  #lines = 0;
  #others = 0;

  constructor(terms: BillTerms) {
    this.#terms = terms;
  }

  /** @param line - undefined where others count it. */
  add(line: BillLine | undefined): void {
    this.#read += 1;
    if (line === undefined) return;
    const { cost, currency, startMs, tagValue } = line;
    const parts = partsOf(cost);
    const at = `line ${this.#read} of the bill`;
    if (parts === undefined) throw new BillLineError(`${at} has a cost that is no number`);
    if (startMs === undefined) throw new BillLineError(`${at} has no date that can be read`);
    if (startMs < this.#terms.startMs || startMs >= this.#terms.endMs) {
      this.#others += 1;
      return;
    }
    this.#currency ??= currency;
    if (currency !== this.#currency)
      throw new BillLineError(`has amounts in ${this.#currency} and in ${currency}; expected one currency`);
    this.#lines += 1;
    this.#parts.set(tagValue, (this.#parts.get(tagValue) ?? 0n) + parts);
    if (this.#parts.size > VALUES_MAX)
      throw new BillLineError(
        `has more than ${VALUES_MAX} values of the tag; is it the tag of runner classes?`,
      );
  }

  result(format: BillSum['format']): BillSum {
    return {
      format,
      currency: this.#currency,
      parts: this.#parts,
      lines: this.#lines,
      linesOfOtherMonths: this.#others,
    };
  }
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
