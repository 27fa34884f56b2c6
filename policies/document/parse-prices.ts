import type { FootprintDefaults } from '../kubernetes/footprint.ts';
import { readOverwrites } from '../kubernetes/resource-caps.ts';
import {
  type DatedPriceList,
  MICROS_PER_MINUTE_MAX,
  NO_CLASS,
  PRICE_JUMP_FACTOR,
  type PriceList,
  type PriceTable,
  priceJumps,
  type RunnerClass,
} from '../price.ts';
import { moneyText } from '../unit-texts.ts';
import { isName, NAME_EXPECTED } from './parse-entry.ts';
import type { Reading } from './reading.ts';
import {
  DURATION_EXPECTED,
  QUANTITIES_EXPECTED,
  readDecimal,
  readDurationSeconds,
  readInstant,
  readQuantityUnits,
} from './values.ts';

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

const LIST_KEYS = ['version', 'classes', 'default_class'];
const DATED_KEYS = ['version', 'from', 'allow_jump', 'classes', 'default_class'];

/**
 * Reads `prices`: `{version, classes: [...], default_class}`, or a list of price list versions, each with
 * its first day.
 */
export function readPrices(reading: Reading): PriceTable {
  if (!Array.isArray(reading.value)) return reading.object(LIST_KEYS) ? readVersion(reading) : NO_PRICES;
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

const CLASS_KEYS = [
  'name',
  'tags',
  'runner_ids',
  'rate_per_minute',
  'rate_per_cpu_hour',
  'rate_per_gib_hour',
  'round',
  'cpu',
  'memory',
  'overwrites',
  'estimate',
];
const TAGS_MAX = 50;
const RUNNERS_MAX = 10_000;
const MICROS = 1_000_000;
const ROUNDINGS = ['second', 'minute'] as const;

function readRunnerClass(reading: Reading): RunnerClass | undefined {
  if (!reading.object(CLASS_KEYS)) return undefined;
  const name = reading.at('name').text(NAME_EXPECTED, isName);
  if (name === NO_CLASS)
    reading.at('name').expected('another name: in rules, none is what belongs to no class');
  const tags = reading.at('tags').list('runner tags', TAGS_MAX);
  const runners = reading.at('runner_ids').list('runner ids', RUNNERS_MAX);
  const microsPerMinute = readRate(reading.at('rate_per_minute'), 'minute');
  const footprint = readFootprint(reading);
  const hourly = readHourlyRates(reading, footprint);
  const rounding = reading.at('round');
  const round = rounding.isThere ? rounding.oneOf('what a price is rounded up to', ROUNDINGS) : undefined;
  const overwrites = readOverwrites(reading.at('overwrites'));
  const estimateSeconds = readEstimate(reading.at('estimate'));
  if (name === undefined) return undefined;
  return {
    name,
    tags: tags.flatMap((tag) => tag.text('a runner tag') ?? []),
    runnerIds: new Set(runners.flatMap((id) => id.integer("GitLab's id of a runner", 1) ?? [])),
    microsPerMinute,
    ...hourly,
    ...(round === 'minute' && { round }),
    ...(footprint !== undefined && { footprint }),
    ...(overwrites !== undefined && { overwrites }),
    ...(estimateSeconds !== undefined && { estimateSeconds }),
  };
}

function readRate(reading: Reading, per: 'minute' | 'hour'): number {
  const read = readDecimal(reading.value, MICROS);
  if (!read.ok) reading.expected(`${read.expected}, the price of one ${per}`);
  else if (read.amount > MICROS_PER_MINUTE_MAX)
    reading.expected(`at most ${MICROS_PER_MINUTE_MAX / MICROS} ${per === 'hour' ? 'an' : 'a'} ${per}`);
  return read.ok ? read.amount : 0;
}

/** Jobs that state nothing must not get for nothing what others pay for. */
function readHourlyRates(
  reading: Reading,
  footprint: FootprintDefaults = {},
): Pick<RunnerClass, 'microsPerCpuHour' | 'microsPerGibHour'> {
  const cpu = reading.at('rate_per_cpu_hour');
  const memory = reading.at('rate_per_gib_hour');
  if (cpu.isThere && footprint.millicpu === undefined)
    reading.at('cpu').expected('what a job takes that states none: rate_per_cpu_hour is charged for it');
  if (memory.isThere && footprint.bytes === undefined)
    reading.at('memory').expected('what a job takes that states none: rate_per_gib_hour is charged for it');
  return {
    ...(cpu.isThere && { microsPerCpuHour: readRate(cpu, 'hour') }),
    ...(memory.isThere && { microsPerGibHour: readRate(memory, 'hour') }),
  };
}

/** Reads `estimate: 20m`, how long a job of the class is taken to last before its runs are known. */
function readEstimate(reading: Reading): number | undefined {
  if (!reading.isThere) return undefined;
  const seconds = typeof reading.value === 'string' ? readDurationSeconds(reading.value) : undefined;
  return seconds ?? reading.expected(DURATION_EXPECTED);
}

/** Reads `cpu: 500m` and `memory: 2Gi`, what a job of the class takes unless its variables say otherwise. */
function readFootprint(reading: Reading): FootprintDefaults | undefined {
  const millicpu = readTaken(reading.at('cpu'), 'cpu');
  const bytes = readTaken(reading.at('memory'), 'memory');
  if (millicpu === undefined && bytes === undefined) return undefined;
  return { ...(millicpu !== undefined && { millicpu }), ...(bytes !== undefined && { bytes }) };
}

const readTaken = (reading: Reading, resource: 'cpu' | 'memory'): number | undefined =>
  reading.isThere
    ? (readQuantityUnits(reading.value, resource) ?? reading.expected(QUANTITIES_EXPECTED[resource]))
    : undefined;
