import { isZone } from '../limits/calendar.ts';
import { CAP_KINDS, capSubject, endsWithPipeline, isCap, parseCap } from '../limits/cap.ts';
import { type Limit, OUTAGE_POLICIES, SHARE_PARTS, shareOf } from '../limits/limit.ts';
import { limitFields } from '../limits/limit-fields.ts';
import { subjectKey } from '../limits/limits.ts';
import {
  FISCAL_KINDS,
  type FiscalStart,
  isFiscal,
  isFiscalStart,
  isYearly,
  PERIOD_KINDS,
  type PeriodKind,
} from '../limits/period.ts';
import { MODES } from '../mode.ts';
import { listText } from '../text/plain-text.ts';
import {
  isAtOnce,
  isAwaitable,
  isSpent,
  LIMIT_KINDS,
  type LimitKind,
  readUnits,
  SPENT_KINDS,
  UNIT_OF,
} from '../unit.ts';
import { withoutAbsent } from '../without-absent.ts';
import { gitlabId, LIMIT_TEXTS, readName, readValidity, word } from './parse-entry.ts';
import { isRecord, type Read, type Reading } from './reading.ts';
import { readDecimal, readDurationSeconds } from './values.ts';

export const LIMIT_KEYS: readonly string[] = ['id', ...LIMIT_KINDS, ...limitFields.map(({ name }) => name)];

export interface LimitDefaults {
  readonly fiscalStart: FiscalStart;
  readonly thresholds?: readonly number[] | undefined;
}

export function readLimit(reading: Reading, subject: string, defaults: LimitDefaults): Limit | undefined {
  const kind = readKind(reading);
  if (kind === undefined) return undefined;
  const amount = readAmount(reading.at(kind), kind);
  const period = readPeriod(reading, kind, defaults.fiscalStart);
  const per = period?.per;
  const mode = reading.optional('mode', word('a mode', MODES)) ?? 'enforce';
  const id = reading.at('id').isThere ? readName(reading.at('id')) : `${kind}-${per ?? 'now'}`;
  const own = reading.optional('thresholds', (each) => readLimitThresholds(each, kind, per));
  const isAnnounced = isSpent(kind) && per !== 'minute' && per !== 'hour';
  const byDefault = isCap(subject) ? [] : isAnnounced ? defaults.thresholds : undefined;
  const rest = {
    ...readMargins(reading, { kind, amount }),
    ...readCarry(reading, { kind, amount, per, subject }),
    ...readCohort(reading, { kind, amount }, subject),
    ...readValidity(reading, period?.zone),
    ...reading.present({
      whenUnreachable: word('the decision about jobs while the ledger is unreachable', OUTAGE_POLICIES),
      waitMs: (each) => readWait(each, kind),
      ...LIMIT_TEXTS,
    }),
    ...withoutAbsent({ thresholds: byDefault, ...own }),
  };
  refuseOnCap(reading, subject, per);
  if (amount === undefined || period === undefined || id === undefined) return undefined;
  return { id, subject, kind, unit: UNIT_OF[kind], amount, ...period, mode, ...rest };
}

const WAIT_SECONDS_MAX = 60;

function readWait(reading: Reading, kind: LimitKind): number | undefined {
  if (!isAwaitable(kind))
    return reading.refuse(`is on a limit of ${kind}; only ${kindsText(isAwaitable)} can be waited for`);
  // Stored limits may still say `up to 20s`.
  const seconds = readDurationSeconds(reading.asText.replace(/^up to /, ''));
  return seconds !== undefined && seconds <= WAIT_SECONDS_MAX
    ? seconds * 1_000
    : reading.expected(`the longest wait for headroom, such as 20s, at most ${WAIT_SECONDS_MAX}s`);
}

const kindsText = (is: (kind: LimitKind) => boolean): string => listText(LIMIT_KINDS.filter(is), 'and');

function refuseOnCap(reading: Reading, subject: string, per: Limit['per']): void {
  const cap = parseCap(subject);
  if (cap === undefined) return;
  for (const key of ['carry', 'overdraft', 'cohort', 'thresholds', 'when_unreachable'])
    reading.optional(key, (each) => each.refuse(`is on a limit for each ${cap.kind}, which has none`));
  const ends = endsWithPipeline(subject);
  if (per !== undefined && (per === 'once') !== ends)
    reading.at('per').expected(ends ? `once: each ${cap.kind} ends on its own` : 'a period that ends');
}

function readKind(reading: Reading): LimitKind | undefined {
  const [kind, ...more] = LIMIT_KINDS.filter((each) => reading.at(each).isThere);
  if (kind !== undefined && more.length === 0) return kind;
  return reading.refuse(
    `has ${[kind, ...more].join(' and ') || 'no number'}; expected one of ${LIMIT_KINDS.join(', ')}`,
  );
}

const SUBJECT_KEYS = ['group', 'project', 'runner_class', 'runner', 'user'] as const;

export function readLimitSubject(reading: Reading, runnerClasses: readonly string[]): string | undefined {
  if (!isRecord(reading.value) || !reading.at('each').isThere) return readSubject(reading, runnerClasses);
  const found = reading.fields(
    { each: word('what each has of its own', CAP_KINDS) },
    { group: gitlabId('group'), project: gitlabId('project') },
  );
  const [place, ...more] = (['group', 'project'] as const).filter((key) => reading.at(key).isThere);
  if (more.length > 0) return reading.expected('at most one of group and project next to each');
  const id = place && found?.[place];
  if (found === undefined || (place !== undefined && id === undefined)) return undefined;
  const at = place === undefined || id === undefined ? 'instance' : subjectKey({ kind: place, id });
  return capSubject(at, found.each);
}

export function readSubject(reading: Reading, runnerClasses: readonly string[]): string | undefined {
  if (reading.value === 'instance') return 'instance';
  if (!isRecord(reading.value))
    return reading.expected(
      'instance, {group: 101}, {project: 7}, {runner_class: large}, {runner: 41} or {user: 5}',
    );
  if (!reading.object(SUBJECT_KEYS)) return undefined;
  const [key, ...more] = SUBJECT_KEYS.filter((each) => reading.at(each).isThere);
  if (key === undefined || more.length > 0)
    return reading.expected(`exactly one of ${SUBJECT_KEYS.join(', ')}`);
  if (key === 'runner_class') {
    const name = reading.at(key).oneOf('a runner class of the policy', runnerClasses);
    return name && subjectKey({ kind: 'runner-class', name });
  }
  const id = gitlabId(key)(reading.at(key));
  return id === undefined ? undefined : subjectKey({ kind: key, id });
}

function readCohort(
  reading: Reading,
  of: Counted,
  subject: string,
): Pick<Limit, 'cohort' | 'borrow' | 'borrowShare' | 'lend' | 'lendShare'> {
  const { kind, amount } = of;
  const cohort = reading.at('cohort');
  if (!cohort.isThere) {
    for (const key of ['borrow', 'lend'])
      reading.optional(key, (each) => each.refuse('needs a cohort, such as `cohort: ci`'));
    return {};
  }
  if (!isAtOnce(kind) || !subject.startsWith('group/') || amount === 'unlimited')
    return cohort.refuse(`is only for limits of one group with an amount, of ${kindsText(isAtOnce)}`) ?? {};
  for (const key of ['soft', 'grace'])
    reading.optional(key, (each) => each.expected('nothing on a limit in a cohort: it borrows instead'));
  const name = readName(cohort);
  if (name === undefined || amount === undefined) return {};
  const part = (key: string, most: number) =>
    reading.optional(key, (each) =>
      each.value === 0 || each.value === '0' ? { units: 0, share: undefined } : readMargin(each, of, most),
    );
  const borrow = part('borrow', Number.MAX_SAFE_INTEGER - amount);
  const lend = part('lend', amount);
  return {
    cohort: name,
    ...withoutAbsent({
      ...{ borrow: borrow?.units, borrowShare: borrow?.share },
      ...{ lend: lend?.units, lendShare: lend?.share },
    }),
  };
}

type Amount = number | 'unlimited' | undefined;

interface Counted {
  readonly kind: LimitKind;
  readonly amount: Amount;
}

function readAmount(reading: Reading, kind: LimitKind): Amount {
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
function readMargin(
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

function readMargins(
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

function readPeriod(
  reading: Reading,
  kind: LimitKind,
  defaultStart: FiscalStart,
): Pick<Limit, 'per' | 'zone' | 'fiscalStart'> | undefined {
  if (isAtOnce(kind)) {
    for (const key of ['per', 'zone', 'fiscal_start'])
      reading.optional(key, (each) => each.expected(`nothing: ${kind} is counted in flight, not per period`));
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

/** Something is written for each period of a limit that carries over: not every minute. */
const CARRYING: readonly (PeriodKind | undefined)[] = ['day', 'week', 'month', 'quarter', 'year'];
const NO_CARRY = `nothing: only ${SPENT_KINDS.join(' and ')} per ${CARRYING.join(', ')} carry over, on a limit of its own with an amount`;

function readCarry(
  reading: Reading,
  of: Counted & { readonly per: PeriodKind | undefined; readonly subject: string },
): Pick<Limit, 'carryMax' | 'carryShare' | 'overdraft'> {
  const { kind, amount, per, subject } = of;
  const carries = amount !== 'unlimited' && amount !== 0 && subject !== '' && CARRYING.includes(per);
  const overdraft = reading.optional('overdraft', (each) => {
    const found = word('the handling of use above the limit', ['absorb', 'carry', 'alert'])(each);
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
  const { plain = [], forecasts = [] } = Object.groupBy(listed(reading), ({ asText }) =>
    FORECAST.test(asText) ? 'forecasts' : 'plain',
  );
  if (per === 'once')
    for (const each of forecasts) each.expected('a percent: what is counted once has no end to forecast');
  const forecastThresholds = readPercents(forecasts);
  return { thresholds: readPercents(plain), ...(forecastThresholds.length > 0 && { forecastThresholds }) };
}
