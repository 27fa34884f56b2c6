import type { FootprintDefaults } from '../kubernetes/footprint.ts';
import { MICROS_PER_MINUTE_MAX, type PriceTable, type RunnerClass } from '../price.ts';
import { readDecimal } from './decimal.ts';
import { isName, NAME_EXPECTED } from './name.ts';
import { QUANTITIES_EXPECTED, readQuantityUnits } from './parse-quantity.ts';
import type { Reading } from './reading.ts';

/** A price list longer than this is no longer read by people. */
const CLASSES_MAX = 500;
const TAGS_MAX = 50;
const RUNNERS_MAX = 10_000;
const MICROS = 1_000_000;

/** Stands in for a table with problems; never used, since a document with problems is refused as a whole. */
const NO_PRICES: PriceTable = {
  version: '',
  classes: [],
  defaultClass: { name: '', tags: [], runnerIds: new Set(), microsPerMinute: 0 },
};

/** Reads `prices: {version, classes: [...], default_class}`. */
export function readPrices(reading: Reading): PriceTable {
  if (!reading.object(['version', 'classes', 'default_class'])) return NO_PRICES;
  const version = reading
    .at('version')
    .text('a version that changes with every price, e.g. 2026-11', isVersion);
  const list = reading.at('classes');
  if (!Array.isArray(list.value) || list.value.length === 0)
    list.expected('a list of at least one runner class');
  const names = new Set<string>();
  const classes = list.list('runner classes', CLASSES_MAX).flatMap((each) => {
    const read = readClass(each);
    if (read === undefined) return [];
    if (names.has(read.name)) each.at('name').expected('a name that no other class has');
    names.add(read.name);
    return [read];
  });
  const defaultName = reading.at('default_class');
  const defaultClass = classes.find((each) => each.name === defaultName.value);
  if (defaultClass === undefined) defaultName.expected(`one of the classes: ${[...names].join(', ')}`);
  return { version: version ?? '', classes, defaultClass: defaultClass ?? NO_PRICES.defaultClass };
}

function readClass(reading: Reading): RunnerClass | undefined {
  if (!reading.object(['name', 'tags', 'runner_ids', 'rate_per_minute', 'cpu', 'memory'])) return undefined;
  const name = reading.at('name').text(NAME_EXPECTED, isName);
  const tags = reading.at('tags').list('runner tags', TAGS_MAX);
  const runners = reading.at('runner_ids').list('runner ids', RUNNERS_MAX);
  const rate = reading.at('rate_per_minute');
  const read = readDecimal(rate.value, MICROS);
  if (!read.ok) rate.expected(`${read.expected}, the price of one minute`);
  else if (read.amount > MICROS_PER_MINUTE_MAX)
    rate.expected(`at most ${MICROS_PER_MINUTE_MAX / MICROS} a minute`);
  const footprint = readFootprint(reading);
  if (name === undefined) return undefined;
  return {
    name,
    tags: tags.flatMap((tag) => tag.text('a runner tag') ?? []),
    runnerIds: new Set(runners.flatMap((id) => id.integer("GitLab's id of a runner", 1) ?? [])),
    microsPerMinute: read.ok ? read.amount : 0,
    ...(footprint !== undefined && { footprint }),
  };
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

const isVersion = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/.test(text);
