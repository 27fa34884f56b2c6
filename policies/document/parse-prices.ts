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
import { withoutAbsent } from '../without-absent.ts';
import { gitlabId, readDuration, readName, word } from './parse-entry.ts';
import type { Read, Reading } from './reading.ts';
import { QUANTITIES_EXPECTED, readDecimal, readInstant, readQuantityUnits } from './values.ts';

const CLASSES_MAX = 500;
const VERSIONS_MAX = 120;
const TAGS_MAX = 50;
const RUNNERS_MAX = 10_000;
const MICROS = 1_000_000;

/** Stands in for prices with problems; never used, since a document with problems is refused as a whole. */
const NO_PRICES: PriceTable = {
  version: '',
  classes: [],
  defaultClass: { name: '', tags: [], runnerIds: new Set(), microsPerMinute: 0 },
};

const LIST_KEYS = ['version', 'classes', 'default_class'];

export function readPrices(reading: Reading): PriceTable {
  if (!Array.isArray(reading.value)) return reading.object(LIST_KEYS) ? readVersion(reading) : NO_PRICES;
  if (reading.value.length === 0) reading.expected('at least one version of the prices');
  const lists: DatedPriceList[] = [];
  for (const each of reading.list('versions of the prices', VERSIONS_MAX)) {
    if (!each.object([...LIST_KEYS, 'from', 'allow_jump'])) continue;
    const before = lists.at(-1);
    const list = { ...readVersion(each), fromMs: readFrom(each.at('from'), before) };
    if (lists.some(({ version }) => version === list.version))
      each.at('version').expected('a version that no other prices have');
    if (!each.flag('allow_jump') && before !== undefined) checkJumps(each, before, list);
    lists.push(list);
  }
  const [{ version, classes, defaultClass } = NO_PRICES, ...later] = lists;
  return { version, classes, defaultClass, ...(later.length > 0 && { later }) };
}

function readVersion(reading: Reading): PriceList {
  const version = reading
    .at('version')
    .text('a version that changes with every price, e.g. 2026-11', (text) =>
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/.test(text),
    );
  const list = reading.at('classes');
  if (!Array.isArray(list.value) || list.value.length === 0)
    list.expected('a list of at least one runner class');
  const classes = list.unique('runner classes', CLASSES_MAX, 'name', readRunnerClass);
  const defaultName = reading.at('default_class');
  const defaultClass = classes.find((each) => each.name === defaultName.value);
  if (defaultClass === undefined)
    defaultName.expected(`one of the classes: ${classes.map(({ name }) => name).join(', ')}`);
  return { version: version ?? '', classes, defaultClass: defaultClass ?? NO_PRICES.defaultClass };
}

/** The first version may leave it out: it holds before its date in any case. */
function readFrom(reading: Reading, before: DatedPriceList | undefined): number {
  if (before === undefined && !reading.isThere) return Number.NEGATIVE_INFINITY;
  const fromMs = readInstant(reading.asText, 'start');
  if (fromMs === undefined)
    reading.expected('the day these prices begin in UTC, or an instant: 2026-11-01, 2026-11-01T00:00+01:00');
  else if (before !== undefined && fromMs <= before.fromMs)
    reading.expected(`a later day than that of version ${before.version}: the oldest prices come first`);
  return fromMs ?? before?.fromMs ?? Number.NEGATIVE_INFINITY;
}

function checkJumps(reading: Reading, before: PriceList, list: PriceList): void {
  for (const { runnerClass, rate, fromMicros, toMicros } of priceJumps(before, list))
    reading.refuse(
      `${rate} of class ${runnerClass} goes from ${moneyText(fromMicros)} (version ${before.version}) to ` +
        `${moneyText(toMicros)}, more than ${PRICE_JUMP_FACTOR} times; ` +
        'correct it, or write allow_jump: true here if it is meant',
    );
}

const rate =
  (per: 'minute' | 'hour'): Read<number> =>
  (reading) => {
    const read = readDecimal(reading.value, MICROS);
    if (!read.ok) return reading.expected(`${read.expected}, the price of one ${per}`);
    const most = `at most ${MICROS_PER_MINUTE_MAX / MICROS} ${per === 'hour' ? 'an' : 'a'} ${per}`;
    return read.amount > MICROS_PER_MINUTE_MAX ? reading.expected(most) : read.amount;
  };

const taken =
  (resource: 'cpu' | 'memory'): Read<number> =>
  (reading) =>
    readQuantityUnits(reading.value, resource) ?? reading.expected(QUANTITIES_EXPECTED[resource]);

const CLASS_NEEDED = { name: readName, ratePerMinute: rate('minute') };
const CLASS_OPTIONAL = {
  tags: (each: Reading) => each.each('runner tags', TAGS_MAX, (tag) => tag.text('a runner tag')),
  runnerIds: (each: Reading) => each.each('runner ids', RUNNERS_MAX, gitlabId('runner')),
  ratePerCpuHour: rate('hour'),
  ratePerGibHour: rate('hour'),
  round: word('the step that a price is rounded up to', ['second', 'minute']),
  cpu: taken('cpu'),
  memory: taken('memory'),
  overwrites: readOverwrites,
  estimateSeconds: readDuration,
};

function readRunnerClass(reading: Reading): RunnerClass | undefined {
  const found = reading.fields(CLASS_NEEDED, CLASS_OPTIONAL);
  if (found === undefined) return undefined;
  const { name, tags = [], runnerIds = [], cpu: millicpu, memory: bytes, round, ...rest } = found;
  const { ratePerMinute, ratePerCpuHour, ratePerGibHour, ...others } = rest;
  if (name === NO_CLASS)
    reading.at('name').expected('another name: in rules, none is what belongs to no class');
  // Jobs that state nothing must not get for nothing what others pay for.
  for (const [key, rateKey, size] of [
    ['cpu', 'rate_per_cpu_hour', millicpu],
    ['memory', 'rate_per_gib_hour', bytes],
  ] as const)
    if (reading.at(rateKey).isThere && size === undefined)
      reading.at(key).expected(`the default for a job that states none: ${rateKey} is charged for it`);
  const footprint: FootprintDefaults = withoutAbsent({ millicpu, bytes });
  return {
    ...{ ...others, name, tags, runnerIds: new Set(runnerIds), microsPerMinute: ratePerMinute },
    ...(round === 'minute' && { round }),
    ...withoutAbsent({ microsPerCpuHour: ratePerCpuHour, microsPerGibHour: ratePerGibHour }),
    ...(Object.keys(footprint).length > 0 && { footprint }),
  };
}
