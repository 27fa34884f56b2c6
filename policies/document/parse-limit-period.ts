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
import { withoutAbsent } from '../without-absent.ts';
import { word } from './parse-entry.ts';
import type { Read, Reading } from './reading.ts';
import { readDecimal } from './values.ts';

type Amount = number | 'unlimited' | undefined;

export function readAmount(reading: Reading, kind: LimitKind): Amount {
  if (reading.value === 'unlimited') return 'unlimited';
  const read = readUnits(reading.value, kind);
  return read.ok ? read.amount : reading.expected(`${read.expected}; 0 blocks, 'unlimited' lifts the limit`);
}

export function readMargins(
  reading: Reading,
  kind: LimitKind,
  amount: Amount,
): Pick<Limit, 'softAmount' | 'softShare' | 'graceAmount' | 'graceShare'> {
  const margin = (key: string): Margin | undefined =>
    reading.optional(key, (each) => {
      if (amount === undefined) return undefined;
      return amount === 'unlimited' || amount === 0
        ? each.expected('nothing: only a limit with an amount has a soft part or a grace')
        : readMargin(each, kind, amount);
    });
  const [soft, grace] = [margin('soft'), margin('grace')];
  if (typeof amount !== 'number') return {};
  if (soft !== undefined && soft.units >= amount) reading.at('soft').expected('less than the limit itself');
  if (grace !== undefined && grace.units > amount)
    reading.at('grace').expected('at most as much as the limit itself');
  const graceAmount = grace && amount + grace.units;
  if (graceAmount !== undefined && !Number.isSafeInteger(graceAmount))
    reading.at('grace').expected('less: limit and grace together are too large to count');
  return withoutAbsent({
    softAmount: soft?.units,
    softShare: soft?.share,
    graceAmount,
    graceShare: grace?.share,
  });
}

interface Margin {
  readonly units: number;
  /** In `SHARE_PARTS`, if it was written as a share. */
  readonly share?: number;
}

/** Reads `80%` or an amount. Shares are exact and rounded down to whole units, never to nothing. */
export function readMargin(reading: Reading, kind: LimitKind, amount: number): Margin | undefined {
  const [, share] = /^([^%]+)%$/.exec(typeof reading.value === 'string' ? reading.value : '') ?? [];
  if (share === undefined) {
    const read = readUnits(reading.value, kind);
    if (!read.ok) return reading.expected(`a share of the limit such as 80%, or ${read.expected}`);
    return read.amount > 0 ? { units: read.amount } : reading.expected('more than nothing');
  }
  const percent = readDecimal(share, SHARE_PARTS / 100);
  if (!percent.ok) return reading.expected('a share of the limit such as 80% or 12.5%');
  const units = shareOf(amount, percent.amount);
  if (units > Number.MAX_SAFE_INTEGER) return reading.expected('at most 100%');
  return units > 0
    ? { units, share: percent.amount }
    : reading.expected('more: this share of the limit is less than one unit');
}

export function readPeriod(
  reading: Reading,
  kind: LimitKind,
  defaultStart: FiscalStart,
): Pick<Limit, 'per' | 'zone' | 'fiscalStart'> | undefined {
  if (isAtOnce(kind)) {
    const are = kind.endsWith('s') ? 'are' : 'is';
    for (const key of ['per', 'zone', 'fiscal_start'])
      if (reading.at(key).isThere)
        reading.at(key).expected(`nothing: ${kind} ${are} counted at once, not per period`);
    return { zone: 'UTC' };
  }
  const per = reading.at('per').oneOf('a period', PERIOD_KINDS);
  const zone = reading.optional('zone', (each) => {
    if (per === 'minute' || per === 'hour')
      return each.expected(`nothing: every ${per} begins with UTC's, whatever the zone`);
    if (per === 'once') return each.expected('nothing: what is counted once begins in no zone');
    return each.text('a zone such as Europe/Berlin or UTC', isZone);
  });
  const ownStart = reading.optional('fiscal_start', (each) =>
    per !== undefined && !isYearly(per)
      ? each.expected(`nothing: only ${FISCAL_KINDS.join(', ')} have a fiscal start`)
      : readFiscalStart(each),
  );
  if (per === undefined) return undefined;
  const fiscalStart = ownStart ?? defaultStart;
  return { per, zone: zone ?? 'UTC', ...(isYearly(per) && isFiscal(per, fiscalStart) && { fiscalStart }) };
}

/** `04-06`: the fiscal year begins on 6 April. */
export const readFiscalStart: Read<FiscalStart> = (reading) =>
  reading.text('the day the fiscal year begins, as MM-DD and at most the 28th, e.g. "04-06"', isFiscalStart);

const isYearly = (per: PeriodKind): per is FiscalKind =>
  (FISCAL_KINDS as readonly PeriodKind[]).includes(per);

/** Something is written for each period of a limit that carries over: not every minute. */
const CARRYING: readonly (PeriodKind | undefined)[] = ['day', 'week', 'month', 'quarter', 'year'];

interface Carrying {
  readonly kind: LimitKind;
  readonly amount: Amount;
  readonly per: PeriodKind | undefined;
  /** Empty: that of all personal namespaces. */
  readonly subject: string;
}

/** Reads `carry: {max: 20%}` and `overdraft` of a limit. */
export function readCarry(
  reading: Reading,
  of: Carrying,
): Pick<Limit, 'carryMax' | 'carryShare' | 'overdraft'> {
  const overdraft = reading.optional(
    'overdraft',
    word('what becomes of what is spent past the limit', ['absorb', 'carry', 'alert']),
  );
  if (reading.at('overdraft').isThere && !isSpent(of.kind))
    reading.at('overdraft').expected(`nothing: only ${SPENT_KINDS.join(' and ')} can be overdrawn`);
  if (overdraft === 'carry') checkCarries(reading.at('overdraft'), of);
  const carry = reading.optional('carry', (each) => readCarryMax(each, of));
  return withoutAbsent({
    carryMax: carry?.units,
    carryShare: carry?.share,
    overdraft: overdraft === 'absorb' ? undefined : overdraft,
  });
}

function readCarryMax(carry: Reading, of: Carrying): Margin | undefined {
  if (!carry.object(['max']) || !checkCarries(carry, of) || typeof of.amount !== 'number') return undefined;
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
/** `forecast 100` */
const FORECAST = /^forecast (\d{1,6})$/;

/** Reads `thresholds: [50, 75, 90, 100]`, whole percent of the limit, and sorts them. `[]` sends no alerts. */
export const readThresholds: Read<readonly number[]> = (reading) => readPercents(listed(reading));

const listed = (reading: Reading): readonly Reading[] =>
  reading.list('percents such as [50, 75, 90, 100]', THRESHOLDS_MAX);

function readPercents(list: readonly Reading[]): readonly number[] {
  const percents: number[] = [];
  for (const each of list) {
    const [, forecast] = FORECAST.exec(each.asText) ?? [];
    const percent = forecast === undefined ? each.value : Number(forecast);
    if (typeof percent !== 'number' || !Number.isSafeInteger(percent) || percent < 1 || percent > PERCENT_MAX)
      each.expected(`a whole percent of the limit from 1 to ${PERCENT_MAX}`);
    else if (percents.includes(percent)) each.expected('a percent that is named once');
    else percents.push(percent);
  }
  return percents.sort((a, b) => a - b);
}

/** The same for one limit, which may name percents of its forecast as well, `forecast 100`: only what is counted per period, and in one longer than an hour, is worth announcing. */
export function readLimitThresholds(
  reading: Reading,
  kind: LimitKind,
  per: string | undefined,
): Pick<Limit, 'thresholds' | 'forecastThresholds'> | undefined {
  if (isAtOnce(kind))
    return reading.expected(`nothing: ${kind} of running jobs rise and fall all day, in no period`);
  if (per === 'minute' || per === 'hour')
    return reading.expected(`nothing: every ${per} would announce them anew`);
  const list = listed(reading);
  const forecasts = list.filter(({ value }) => FORECAST.test(String(value)));
  if (per === 'once')
    for (const each of forecasts) each.expected('a percent: what is counted once has no end to forecast');
  const forecastThresholds = readPercents(forecasts);
  return {
    thresholds: readPercents(list.filter((each) => !forecasts.includes(each))),
    ...(forecastThresholds.length > 0 && { forecastThresholds }),
  };
}
