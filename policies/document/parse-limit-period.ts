import { isZone } from '../limits/calendar.ts';
import { type Limit, SHARE_PARTS, shareOf } from '../limits/limit.ts';
import {
  FISCAL_KINDS,
  type FiscalKind,
  type FiscalStart,
  isFiscal,
  isFiscalStart,
  PERIOD_KINDS,
  type PeriodKind,
} from '../limits/period.ts';
import { isAtOnce, isSpent, type LimitKind, readUnits, SPENT_KINDS } from '../unit.ts';
import type { Reading } from './reading.ts';
import { readDecimal } from './values.ts';

const LIFT = "0 blocks, 'unlimited' lifts the limit";

/** Reads a limit's number in whole units. */
export function readAmount(reading: Reading, kind: LimitKind): number | 'unlimited' | undefined {
  if (reading.value === 'unlimited') return 'unlimited';
  const read = readUnits(reading.value, kind);
  return read.ok ? read.amount : reading.expected(`${read.expected}; ${LIFT}`);
}

/** Reads `soft` and `grace`: a share of the limit (`80%`), or an amount in its own unit. */
export function readMargins(
  reading: Reading,
  kind: LimitKind,
  amount: number | 'unlimited' | undefined,
): Pick<Limit, 'softAmount' | 'softShare' | 'graceAmount' | 'graceShare'> {
  const soft = reading.at('soft');
  const grace = reading.at('grace');
  for (const margin of [soft, grace]) {
    if (margin.isThere && (amount === 'unlimited' || amount === 0))
      margin.expected('nothing: only a limit with an amount has a soft part or a grace');
  }
  if (amount === undefined || amount === 'unlimited' || amount === 0) return {};
  const { units: softAmount, share: softShare } = readMargin(soft, kind, amount) ?? {};
  const { units: graceUnits, share: graceShare } = readMargin(grace, kind, amount) ?? {};
  if (softAmount !== undefined && softAmount >= amount) soft.expected('less than the limit itself');
  if (graceUnits !== undefined && graceUnits > amount) grace.expected('at most as much as the limit itself');
  const graceAmount = graceUnits === undefined ? undefined : amount + graceUnits;
  if (graceAmount !== undefined && !Number.isSafeInteger(graceAmount))
    grace.expected('less: limit and grace together are too large to count');
  return {
    ...(softAmount !== undefined && { softAmount }),
    ...(softShare !== undefined && { softShare }),
    ...(graceAmount !== undefined && { graceAmount }),
    ...(graceShare !== undefined && { graceShare }),
  };
}

interface Margin {
  readonly units: number;
  /** In `SHARE_PARTS`, if it was written as a share. */
  readonly share?: number;
}

/** Reads `80%` or an amount. Shares are exact and rounded down to whole units, never to nothing. */
export function readMargin(reading: Reading, kind: LimitKind, amount: number): Margin | undefined {
  if (!reading.isThere) return undefined;
  const share = typeof reading.value === 'string' && /^[^%]+%$/.test(reading.value);
  if (!share) {
    const read = readUnits(reading.value, kind);
    if (!read.ok) return reading.expected(`a share of the limit such as 80%, or ${read.expected}`);
    return read.amount > 0 ? { units: read.amount } : reading.expected('more than nothing');
  }
  const percent = readDecimal(String(reading.value).slice(0, -1), SHARE_PARTS / 100);
  if (!percent.ok) return reading.expected('a share of the limit such as 80% or 12.5%');
  const units = shareOf(amount, percent.amount);
  if (units > Number.MAX_SAFE_INTEGER) return reading.expected('at most 100%');
  return units > 0
    ? { units, share: percent.amount }
    : reading.expected('more: this share of the limit is less than one unit');
}

const PERIOD_KEYS = ['per', 'zone', 'fiscal_start'] as const;

/** Reads `per`, `zone` and `fiscal_start` of a limit; undefined: it needs a period and has none. */
export function readPeriod(
  reading: Reading,
  kind: LimitKind,
  defaultStart: FiscalStart,
): Pick<Limit, 'per' | 'zone' | 'fiscalStart'> | undefined {
  if (isAtOnce(kind)) {
    for (const key of PERIOD_KEYS) refuseAtOnce(reading.at(key), key, kind);
    return { zone: 'UTC' };
  }
  const per = reading.at('per').oneOf('a period', PERIOD_KINDS);
  const zone = readZone(reading.at('zone'), per) ?? 'UTC';
  const fiscalStart = readOwnStart(reading.at('fiscal_start'), per) ?? defaultStart;
  if (per === undefined) return undefined;
  return { per, zone, ...(isYearly(per) && isFiscal(per, fiscalStart) && { fiscalStart }) };
}

/** `04-06`; the fiscal year begins on 6 April. Nothing there: undefined. */
export function readFiscalStart(reading: Reading): FiscalStart | undefined {
  if (!reading.isThere) return undefined;
  return reading.text(
    'the day the fiscal year begins, as MM-DD and at most the 28th, e.g. "04-06"',
    isFiscalStart,
  );
}

function refuseAtOnce(reading: Reading, key: (typeof PERIOD_KEYS)[number], kind: LimitKind): void {
  if (!reading.isThere) return;
  const how = { per: 'not per period', zone: 'in no zone', fiscal_start: 'in no year' }[key];
  const are = kind.endsWith('s') ? 'are' : 'is';
  reading.expected(`nothing: ${kind} ${are} counted at once, ${how}`);
}

function readZone(reading: Reading, per: PeriodKind | undefined): string | undefined {
  if (!reading.isThere) return undefined;
  if (per === 'minute' || per === 'hour')
    return reading.expected(`nothing: every ${per} begins with UTC's, whatever the zone`);
  if (per === 'once') return reading.expected('nothing: what is counted once begins in no zone');
  return reading.text('a zone such as Europe/Berlin or UTC', isZone);
}

function readOwnStart(reading: Reading, per: PeriodKind | undefined): FiscalStart | undefined {
  if (reading.isThere && per !== undefined && !isYearly(per))
    return reading.expected(`nothing: only ${FISCAL_KINDS.join(', ')} have a fiscal start`);
  return readFiscalStart(reading);
}

const isYearly = (per: PeriodKind): per is FiscalKind =>
  (FISCAL_KINDS as readonly PeriodKind[]).includes(per);

const OVERDRAFTS = ['absorb', 'carry', 'alert'] as const;

/** Something is written for each period of a limit that carries over: not every minute. */
const CARRYING: readonly (PeriodKind | undefined)[] = ['day', 'week', 'month', 'quarter', 'year'];

interface Carrying {
  readonly kind: LimitKind;
  readonly amount: number | 'unlimited' | undefined;
  readonly per: PeriodKind | undefined;
  /** Empty: that of all personal namespaces. */
  readonly subject: string;
}

/** Reads `carry: {max: 20%}` and `overdraft` of a limit. */
export function readCarry(
  reading: Reading,
  of: Carrying,
): Pick<Limit, 'carryMax' | 'carryShare' | 'overdraft'> {
  const carry = reading.at('carry');
  const overdraft = reading.at('overdraft');
  const word = overdraft.isThere
    ? overdraft.oneOf('what becomes of what is spent past the limit', OVERDRAFTS)
    : undefined;
  if (overdraft.isThere && !isSpent(of.kind))
    overdraft.expected(`nothing: only ${SPENT_KINDS.join(' and ')} can be overdrawn`);
  if (word === 'carry') checkCarries(overdraft, of);
  const { units: carryMax, share: carryShare } = (carry.isThere && readCarryMax(carry, of)) || {};
  return {
    ...(carryMax !== undefined && { carryMax }),
    ...(carryShare !== undefined && { carryShare }),
    ...(word !== undefined && word !== 'absorb' && { overdraft: word }),
  };
}

function readCarryMax(carry: Reading, of: Carrying): Margin | undefined {
  if (!carry.object(['max']) || !checkCarries(carry, of)) return undefined;
  if (of.amount === undefined || of.amount === 'unlimited') return undefined;
  const max = carry.at('max');
  if (!max.isThere) return max.expected('the most that is carried over: a share such as 20%, or an amount');
  const read = readMargin(max, of.kind, of.amount);
  return read !== undefined && read.units > of.amount ? max.expected('at most the limit itself') : read;
}

function checkCarries(reading: Reading, { kind, amount, per, subject }: Carrying): boolean {
  if (amount === 'unlimited' || amount === 0) {
    reading.expected('nothing: only a limit with an amount has something to carry over');
  } else if (!isSpent(kind) || !CARRYING.includes(per)) {
    reading.expected(`nothing: only ${SPENT_KINDS.join(' and ')} per ${CARRYING.join(', ')} carry over`);
  } else if (subject === '') {
    reading.expected('nothing: give the group or personal namespace a limit of its own to carry over');
  } else return true;
  return false;
}

/** More would be a stream of messages, not a warning. */
const THRESHOLDS_MAX = 10;
/** Above 100 for limits that only warn, and for what overran. */
const PERCENT_MAX = 1_000;

/**
 * Reads `thresholds: [50, 75, 90, 100]`, whole percent of the limit, and sorts them. `[]` sends no alerts.
 * Returns undefined if absent: the default applies.
 */
export const readThresholds = (reading: Reading): readonly number[] | undefined =>
  reading.isThere ? readPercents(listed(reading)) : undefined;

const listed = (reading: Reading): readonly Reading[] =>
  reading.list('percents such as [50, 75, 90, 100]', THRESHOLDS_MAX);

function readPercents(list: readonly Reading[]): readonly number[] {
  const percents: number[] = [];
  for (const each of list) {
    const [, forecast] = FORECAST.exec(String(each.value)) ?? [];
    const expected = `a whole percent of the limit from 1 to ${PERCENT_MAX}`;
    const percent = forecast === undefined ? each.integer(expected, 1, PERCENT_MAX) : Number(forecast);
    if (percent === undefined) continue;
    if (percent < 1 || percent > PERCENT_MAX) each.expected(expected);
    else if (percents.includes(percent)) each.expected('a percent that is named once');
    else percents.push(percent);
  }
  return percents.sort((a, b) => a - b);
}

/** `forecast 100` */
const FORECAST = /^forecast (\d{1,6})$/;

const isForecast = ({ value }: Reading): boolean => FORECAST.test(String(value));

/** The same for one limit, which may name percents of its forecast as well, `forecast 100`: only what is counted per period, and in one longer than an hour, is worth announcing. */
export function readLimitThresholds(
  reading: Reading,
  kind: LimitKind,
  per: string | undefined,
): Pick<Limit, 'thresholds' | 'forecastThresholds'> | undefined {
  if (!reading.isThere) return undefined;
  if (isAtOnce(kind))
    return reading.expected(`nothing: ${kind} of running jobs rise and fall all day, in no period`);
  if (per === 'minute' || per === 'hour')
    return reading.expected(`nothing: every ${per} would announce them anew`);
  const list = listed(reading);
  const forecasts = list.filter(isForecast);
  if (per === 'once')
    for (const each of forecasts) each.expected('a percent: what is counted once has no end to forecast');
  const forecastThresholds = readPercents(forecasts);
  return {
    thresholds: readPercents(list.filter((each) => !isForecast(each))),
    ...(forecastThresholds.length > 0 && { forecastThresholds }),
  };
}
