import type { FootprintDefaults } from '../kubernetes/footprint.ts';
import { readOverwrites } from '../kubernetes/resource-caps.ts';
import { MICROS_PER_MINUTE_MAX, NO_CLASS, type RunnerClass } from '../prices/price.ts';
import { readDecimal } from './decimal.ts';
import { DURATION_EXPECTED, readDurationSeconds } from './duration.ts';
import { isName, NAME_EXPECTED } from './parse-entry.ts';
import { QUANTITIES_EXPECTED, readQuantityUnits } from './parse-quantity.ts';
import type { Reading } from './reading.ts';

const KEYS = [
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

export function readRunnerClass(reading: Reading): RunnerClass | undefined {
  if (!reading.object(KEYS)) return undefined;
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
