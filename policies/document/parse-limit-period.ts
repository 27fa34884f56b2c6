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

export interface Counted {
  readonly kind: LimitKind;
  readonly amount: Amount;
}

export function readAmount(reading: Reading, kind: LimitKind): Amount {
  if (reading.value === 'unlimited') return 'unlimited';
  const read = readUnits(reading.value, kind);
  return read.ok ? read.amount : reading.expected(`${read.expected}; 0 blocks, 'unlimited' lifts the limit`);
}

interface Margin {
  readonly units: number;
  /** In `SHARE_PARTS`, if it was written as a share. */
  readonly share?: number;
}

/** Reads `80%` or an amount. Shares are exact and rounded down to whole units, never to nothing. */
export function readMargin(
  reading: Reading,
  { kind, amount }: Counted,
  most: number = Number.MAX_SAFE_INTEGER,
): Margin | undefined {
  if (amount === undefined) return undefined;
  if (amount === 'unlimited') return reading.expected('nothing: it is for a limit with an amount');
  const [, written] = /^([^%]+)%$/.exec(reading.asText) ?? [];
  const read =
    written === undefined ? readUnits(reading.value, kind) : readDecimal(written, SHARE_PARTS / 100);
  if (!read.ok) return reading.expected(`a share of the limit such as 80%, or ${read.expected}`);
  const units = written === undefined ? read.amount : shareOf(amount, read.amount);
  if (units === 0) return reading.expected('more: this is less than one unit');
  if (units > most) return reading.expected('less: it does not fit the limit');
  return { units, ...(written !== undefined && { share: read.amount }) };
}

export function readMargins(
  reading: Reading,
  of: Counted,
): Pick<Limit, 'softAmount' | 'softShare' | 'graceAmount' | 'graceShare'> {
  const { amount } = of;
  const most = typeof amount === 'number' ? amount : undefined;
  const soft = reading.optional('soft', (each) => readMargin(each, of, most && most - 1));
  const countable = most && Math.min(most, Number.MAX_SAFE_INTEGER - most);
  const grace = reading.optional('grace', (each) => readMargin(each, of, countable));
  return withoutAbsent({
    softAmount: soft?.units,
    softShare: soft?.share,
    graceAmount: grace && most && most + grace.units,
    graceShare: grace?.share,
  });
}

export function readPeriod(
  reading: Reading,
  kind: LimitKind,
  defaultStart: FiscalStart,
): Pick<Limit, 'per' | 'zone' | 'fiscalStart'> | undefined {
  if (isAtOnce(kind)) {
    for (const key of ['per', 'zone', 'fiscal_start'])
      reading.optional(key, (each) => each.expected(`nothing: ${kind} is counted at once, not per period`));
    return { zone: 'UTC' };
  }
  const per = reading.at('per').oneOf('a period', PERIOD_KINDS);
  const zone = reading.optional('zone', (each) =>
    per === 'minute' || per === 'hour' || per === 'once'
      ? each.expected(`nothing: ${per} begins in no zone`)
      : each.text('a zone such as Europe/Berlin or UTC', isZone),
  );
  const ownStart = reading.optional('fiscal_start', (each) =>
    per !== undefined && !isYearly(per)
      ? each.expected(`nothing: only ${FISCAL_KINDS.join(', ')} have a fiscal start`)
      : readFiscalStart(each),
  );
  if (per === undefined) return undefined;
  const fiscalStart = ownStart ?? defaultStart;
  return { per, zone: zone ?? 'UTC', ...(isYearly(per) && isFiscal(per, fiscalStart) && { fiscalStart }) };
}

export const readFiscalStart: Read<FiscalStart> = (reading) =>
  reading.text('the day the fiscal year begins, as MM-DD and at most the 28th, e.g. "04-06"', isFiscalStart);

const isYearly = (per: PeriodKind): per is FiscalKind =>
  (FISCAL_KINDS as readonly PeriodKind[]).includes(per);

/** Something is written for each period of a limit that carries over: not every minute. */
const CARRYING: readonly (PeriodKind | undefined)[] = ['day', 'week', 'month', 'quarter', 'year'];
const NO_CARRY = `nothing: only ${SPENT_KINDS.join(' and ')} per ${CARRYING.join(', ')} carry over, on a limit of its own with an amount`;

export function readCarry(
  reading: Reading,
  of: Counted & { readonly per: PeriodKind | undefined; readonly subject: string },
): Pick<Limit, 'carryMax' | 'carryShare' | 'overdraft'> {
  const { kind, amount, per, subject } = of;
  const carries = amount !== 'unlimited' && amount !== 0 && subject !== '' && CARRYING.includes(per);
  const overdraft = reading.optional('overdraft', (each) => {
    const found = word('what becomes of use past the limit', ['absorb', 'carry', 'alert'])(each);
    return !isSpent(kind) || (found === 'carry' && !carries) ? each.expected(NO_CARRY) : found;
  });
  const carry = reading.optional('carry', (each) => {
    if (!isSpent(kind) || !carries) return each.expected(NO_CARRY);
    if (!each.object(['max'])) return undefined;
    const max = each.at('max');
    return max.isThere
      ? readMargin(max, of, amount)
      : max.expected('the most that is carried over: a share such as 20%, or an amount');
  });
  return withoutAbsent({
    carryMax: carry?.units,
    carryShare: carry?.share,
    overdraft: overdraft === 'absorb' ? undefined : overdraft,
  });
}

const THRESHOLDS_MAX = 10;
const PERCENT_MAX = 1_000;
const FORECAST = /^forecast (\d{1,6})$/;

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

export function readLimitThresholds(
  reading: Reading,
  kind: LimitKind,
  per: string | undefined,
): Pick<Limit, 'thresholds' | 'forecastThresholds'> | undefined {
  if (isAtOnce(kind) || per === 'minute' || per === 'hour')
    return reading.expected('nothing: only what is counted per day or longer has alerts');
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
