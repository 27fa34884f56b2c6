import type { DatedPriceList, PriceList, PriceTable, RunnerClass } from '../prices/price.ts';
import { PRICE_JUMP_FACTOR, priceJumps } from '../prices/price-jumps.ts';
import { moneyText } from '../units/unit-texts.ts';
import { readInstant } from './instant.ts';
import { readRunnerClass } from './parse-runner-class.ts';
import type { Reading } from './reading.ts';

/** A price list longer than this is no longer read by people. */
const CLASSES_MAX = 500;
/** Monthly prices for ten years. Older versions may go: records carry their own price. */
const VERSIONS_MAX = 120;

/** Stands in for prices with problems; never used, since a document with problems is refused as a whole. */
const NO_PRICES: PriceTable = {
  version: '',
  classes: [],
  defaultClass: { name: '', tags: [], runnerIds: new Set(), microsPerMinute: 0 },
};

const KEYS = ['version', 'classes', 'default_class'];
const DATED_KEYS = ['version', 'from', 'allow_jump', 'classes', 'default_class'];

/** Reads `prices`: one `{version, classes: [...], default_class}`, or a list of them, each with the day it begins. */
export function readPrices(reading: Reading): PriceTable {
  if (!Array.isArray(reading.value)) return reading.object(KEYS) ? readVersion(reading) : NO_PRICES;
  if (reading.value.length === 0) reading.expected('at least one version of the prices');
  const versions = new Set<string>();
  const lists: DatedPriceList[] = [];
  for (const each of reading.list('versions of the prices', VERSIONS_MAX)) {
    if (!each.object(DATED_KEYS)) continue;
    const list = { ...readVersion(each), fromMs: readFrom(each.at('from'), lists.at(-1)) };
    if (versions.has(list.version)) each.at('version').expected('a version that no other prices have');
    versions.add(list.version);
    checkJumps(each, lists.at(-1), list);
    lists.push(list);
  }
  const [first = NO_PRICES, ...later] = lists;
  const { version, classes, defaultClass } = first;
  return { version, classes, defaultClass, ...(later.length > 0 && { later }) };
}

function readVersion(reading: Reading): PriceList {
  const version = reading
    .at('version')
    .text('a version that changes with every price, e.g. 2026-11', isVersion);
  const list = reading.at('classes');
  if (!Array.isArray(list.value) || list.value.length === 0)
    list.expected('a list of at least one runner class');
  const classes: RunnerClass[] = [];
  for (const each of list.list('runner classes', CLASSES_MAX)) {
    const read = readRunnerClass(each);
    if (read === undefined) continue;
    if (classes.some(({ name }) => name === read.name))
      each.at('name').expected('a name that no other class has');
    classes.push(read);
  }
  const defaultName = reading.at('default_class');
  const defaultClass = classes.find((each) => each.name === defaultName.value);
  if (defaultClass === undefined)
    defaultName.expected(`one of the classes: ${classes.map(({ name }) => name).join(', ')}`);
  return { version: version ?? '', classes, defaultClass: defaultClass ?? NO_PRICES.defaultClass };
}

/** The first version may leave it out: it holds before its date in any case. */
function readFrom(reading: Reading, before: DatedPriceList | undefined): number {
  if (before === undefined && !reading.isThere) return Number.NEGATIVE_INFINITY;
  const fromMs = typeof reading.value === 'string' ? readInstant(reading.value, 'start') : undefined;
  if (fromMs === undefined)
    reading.expected('the day these prices begin in UTC, or an instant: 2026-11-01, 2026-11-01T00:00+01:00');
  else if (before !== undefined && fromMs <= before.fromMs)
    reading.expected(`a later day than that of version ${before.version}: the oldest prices come first`);
  return fromMs ?? before?.fromMs ?? Number.NEGATIVE_INFINITY;
}

function checkJumps(reading: Reading, before: PriceList | undefined, list: PriceList): void {
  const allow = reading.at('allow_jump');
  const allowed = allow.isThere && allow.boolean() === true;
  if (before === undefined || allowed) return;
  for (const { runnerClass, rate, fromMicros, toMicros } of priceJumps(before, list)) {
    const [from, to] = [moneyText(fromMicros), moneyText(toMicros)];
    reading.refuse(
      `${rate} of class ${runnerClass} goes from ${from} (version ${before.version}) to ${to}, more than ` +
        `${PRICE_JUMP_FACTOR} times; correct it, or write allow_jump: true here if it is meant`,
    );
  }
}

const isVersion = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/.test(text);
