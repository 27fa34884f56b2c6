import type { AlarmInput } from '../alarms/alarm-spec.ts';
import type { ProgramName } from '../series.ts';
import type { GraphLine } from './panel.ts';

const MILLION = 1_000_000;

/**
 * US dollars for one unit, as in scripts/cli/cost/prices.ts, which has sources and dates; a test keeps them equal. Synth may
 * not load that file.
 */
export const USAGE_PRICES = {
  writeUnit: 0.625 / MILLION,
  readUnit: 0.125 / MILLION,
  lambdaRequest: 0.2 / MILLION,
  lambdaGbSecond: 13.3334 / MILLION,
  logGb: 0.5,
} as const;

/**
 * Memory of the functions; a test compares it with the constructs. Scheduled functions cost the same at any
 * load.
 */
export const MEMORY_MIB = {
  admit: 512,
  settle: 256,
  'settle-stream': 512,
  rollup: 512,
  sweep: 512,
  directory: 512,
  'ssm-limits': 1024,
  console: 512,
} as const satisfies Partial<Record<ProgramName, number>>;

const HOURS_PER_MONTH = 730;
export const COST_PERIOD_MINUTES = 60;

/** CloudWatch's arithmetic knows no exponents. */
const decimal = (value: number): string => value.toFixed(12).replace(/0+$/, '').replace(/\.$/, '');
const perMonth = (usd: number): string => decimal(usd * HOURS_PER_MONTH);
/** Fills gaps with 0: a series may be silent for an hour. */
const sumOf = (names: readonly string[]): string => names.map((name) => `FILL(${name}, 0)`).join(' + ');
const gbSeconds = (series: string, program: keyof typeof MEMORY_MIB): string =>
  `FILL(${series}, 0) * ${decimal(MEMORY_MIB[program] / 1024 / 1000)}`;

const CALLS = ['admitCalls', 'settleCalls', 'settleStreamCalls', 'rollupCalls'];
const LOGS = ['relayLogBytes', 'admitLogBytes', 'settleLogBytes', 'settleStreamLogBytes', 'rollupLogBytes'];

/** Monthly cost of each part at this hour's rate. */
export const usageCost = ({ console }: Pick<AlarmInput, 'console'>): readonly GraphLine[] => [
  {
    label: 'Table, writes',
    formula: `(${sumOf(['writeUnits', 'indexWriteUnits'])}) * ${perMonth(USAGE_PRICES.writeUnit)}`,
  },
  {
    label: 'Table, reads',
    formula: `(${sumOf(['readUnits', 'indexReadUnits'])}) * ${perMonth(USAGE_PRICES.readUnit)}`,
  },
  {
    label: 'Functions, time',
    formula: `(${[
      gbSeconds('admitMs', 'admit'),
      gbSeconds('settleMs', 'settle'),
      gbSeconds('settleStreamMs', 'settle-stream'),
      gbSeconds('rollupMs', 'rollup'),
      gbSeconds('sweepMs', 'sweep'),
      gbSeconds('directoryMs', 'directory'),
      gbSeconds('ssmLimitsMs', 'ssm-limits'),
      ...(console ? [gbSeconds('consoleMs', 'console')] : []),
    ].join(' + ')}) * ${perMonth(USAGE_PRICES.lambdaGbSecond)}`,
  },
  {
    label: 'Functions, calls',
    formula: `(${sumOf([...CALLS, ...(console ? ['consoleCalls'] : [])])}) * ${perMonth(USAGE_PRICES.lambdaRequest)}`,
  },
  {
    label: 'Logs',
    formula: `(${sumOf([...LOGS, ...(console ? ['consoleLogBytes'] : [])])}) * ${perMonth(USAGE_PRICES.logGb / 1e9)}`,
  },
];
