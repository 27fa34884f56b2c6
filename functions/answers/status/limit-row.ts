/** Builds the row of a limit from its counter, usage and alerts. Every list and page uses it. */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { ancestorsOf } from '../../../policies/directory.ts';
import { isCap, parseCap } from '../../../policies/limits/cap.ts';
import { type CohortTerms, cohortTermsOf } from '../../../policies/limits/cohort.ts';
import { grantedAt, grantsOf, type Limit } from '../../../policies/limits/limit.ts';
import { writtenLimit } from '../../../policies/limits/limit-fields.ts';
import { counterOf, type LimitSet, limitAt, limitPeriod } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import type { Policy } from '../../../policies/policy.ts';
import { isInFlight } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { AlertRecord } from '../../core/thresholds/alert-records.ts';
import { listForecastLevels, listThresholdLevels, OVERDRAFT } from '../../core/thresholds/levels.ts';
import type { CallerView, ReadContext } from '../reading/context.ts';
import type { CountersByName } from '../reading/counters-now.ts';
import { formatSubjectLabel, subjectsAbove } from '../reading/scope.ts';
import type { UsageBySubject } from '../reading/usage-days.ts';
import type { AlertRow, ForecastRow, FreezeRow, GrantRow, LimitRow } from './model.ts';
import { canRunOut, forecastOf } from './outlook.ts';
import type { Refusals } from './risk.ts';
import { type CountedLimit, limitModes, type SubjectLimit } from './subject-limits.ts';

interface RowBasis extends Pick<CallerView, 'limits' | 'directory' | 'nowMs'> {
  readonly policy: Policy;
  readonly counters: CountersByName;
  /** Four weeks at least, of subjects with a forecast. @default no forecasts */
  readonly usage?: UsageBySubject;
  /** Adds ranges and past errors of forecasts; the usage then has nine months. @default false */
  readonly tested?: boolean;
  readonly refusals?: Refusals;
  readonly alerts?: AlertsByCounter;
}

export function limitRows(basis: RowBasis): (having: SubjectLimit | CountedLimit) => LimitRow {
  const { limits, directory, policy, counters, nowMs, refusals, alerts } = basis;
  const modeOf = limitModes(policy, limits);
  return (having) => {
    const { limit: written, byDefault } = having;
    const limit = limitAt(written, nowMs);
    const counterId = 'counter' in having ? having.counter.name : counterName(counterOf(written, nowMs));
    const { committed = 0, settled = 0, fitted = 0 } = counters.get(counterId) ?? {};
    const checked = modeOf(written, ancestorsOf(limit.subject, directory));
    const period = limitPeriod(limit, nowMs);
    const { amount, softAmount, per, fromMs, untilMs } = limit;
    const each = parseCap(limit.subject)?.kind;
    // Admissions write no counter of these: 0 would mean that nothing was used.
    const counted = amount === 'unlimited' || checked === 'off' || each !== undefined ? undefined : amount;
    const left = counted === undefined ? undefined : counted - committed;
    const final = isInFlight(limit.unit) ? 0 : settled;
    const forecast = forecastFor(limit, committed, left, basis);
    const inForce = isValidAt(limit, nowMs);
    const mayRefuse = checked === 'enforce' && inForce && canRunOut(limit);
    const opened = limit.opening !== undefined && limit.opening.period === period?.key;
    return {
      ...{ subject: limit.subject, id: limit.id, kind: limit.kind, unit: limit.unit, zone: limit.zone },
      ...{ amount, baseAmount: written.amount, mode: limit.mode, inForce },
      granted: grantedAt(grantsOf(written), nowMs),
      carried: opened ? (limit.opening?.carried ?? 0) : 0,
      ...writtenLimit(written),
      ...withoutAbsent({ each, softAmount, per }),
      ...sharedOf(limit, committed, basis),
      ...(period !== undefined && {
        period: { key: period.key, label: period.label, startMs: period.startMs, endMs: period.endMs },
      }),
      ...thresholdsOf(limit, settled, committed, forecast),
      ...alertRows(alerts?.get(counterId), amount),
      ...(checked !== limit.mode && { rolledOutAs: checked }),
      ...(counted !== undefined && {
        ...{ settled: final, held: committed - final, fitted, left: counted - committed },
        percent: percentOf(committed, counted),
      }),
      ...withoutAbsent({
        forecast,
        refusing: mayRefuse ? refusals?.get(`${limit.subject} ${limit.id}`) : undefined,
        ...{ fromMs, untilMs },
      }),
      ...(byDefault && { byDefault: true }),
    };
  };
}

export function rowCounters(written: Limit, limits: LimitSet, nowMs: number): readonly CounterKey[] {
  const lent = lentOf(cohortTermsOf(limitAt(written, nowMs), limits, nowMs));
  return [counterOf(written, nowMs), ...(lent === undefined ? [] : [lent.counter])];
}

/** Counter of the amounts that a cohort lends. If no member keeps a part, it is the cohort's sum. */
const lentOf = (terms: CohortTerms | undefined): CohortTerms['counters'][number] | undefined =>
  terms?.counters.find(({ from }) => from !== 'kept');

function sharedOf(
  limit: Limit,
  committed: number,
  { limits, counters, nowMs }: RowBasis,
): Pick<LimitRow, 'borrowed' | 'shared'> {
  const terms = cohortTermsOf(limit, limits, nowMs);
  const lent = lentOf(terms);
  if (terms === undefined || lent === undefined) return {};
  return {
    borrowed: Math.max(0, committed - terms.own),
    shared: {
      amount: lent.bound ?? 0,
      used: counters.get(counterName(lent.counter))?.committed ?? 0,
      mayBorrow: terms.most - terms.own,
    },
  };
}

function thresholdsOf(
  limit: Limit,
  settled: number,
  committed: number,
  forecast: ForecastRow | undefined,
): Pick<LimitRow, 'thresholds'> {
  const atEnd = Math.max(committed, forecast?.atEndAmount ?? 0);
  const all = [
    ...listThresholdLevels(limit).map(({ name, amount }) => ({
      ...{ name, amount },
      // Held amounts may return: only settled amounts are overdrawn.
      reached: (name === OVERDRAFT ? settled : committed) >= amount,
    })),
    ...listForecastLevels(limit).map((level) => ({ ...level, reached: atEnd >= level.amount })),
  ];
  return all.length > 0 ? { thresholds: all } : {};
}

/** Whole percent, rounded down: 100 only if used up. An amount of 0 is always used up. */
export const percentOf = (committed: number, amount: number): number =>
  amount === 0 ? 100 : Math.max(0, Number((BigInt(committed) * 100n) / BigInt(amount)));

function forecastFor(
  limit: Limit,
  committed: number,
  left: number | undefined,
  { usage: all, tested, nowMs }: RowBasis,
): ForecastRow | undefined {
  const { kind, zone, subject } = limit;
  const [usage, period] = [all?.get(subject), limitPeriod(limit, nowMs)];
  if (usage === undefined || period === undefined || left === undefined) return undefined;
  if (left > 0 && !canRunOut(limit)) return undefined;
  return forecastOf({ usage, kind, committed, left, nowMs, endMs: period.endMs, zone, tested });
}

type AlertsByCounter = ReadonlyMap<string, readonly AlertRecord[]>;

/** Reads the alerts of the current periods; skips limits without alerts. @throws {LedgerError} */
export async function alertsOfLimits(
  havings: readonly SubjectLimit[],
  { alerts }: Pick<ReadContext, 'alerts'>,
  nowMs: number,
): Promise<AlertsByCounter> {
  if (alerts === undefined) return new Map();
  const wanted = havings.flatMap(({ limit: written }) => {
    if (isCap(written.subject)) return [];
    const [limit, key] = [limitAt(written, nowMs), counterOf(written, nowMs)];
    return [
      ...(listThresholdLevels(limit).length > 0 ? [{ of: 'thresholds', key } as const] : []),
      ...(listForecastLevels(limit).length > 0 ? [{ of: 'forecasts', key } as const] : []),
    ];
  });
  const read = await alerts.read(wanted);
  const found = new Map<string, readonly AlertRecord[]>();
  for (const [index, { key }] of wanted.entries()) {
    const name = counterName(key);
    found.set(name, [...(found.get(name) ?? []), ...(read[index] ?? [])]);
  }
  return found;
}

const ALERTS_SHOWN_MAX = 10;

/** Those of the amount in force, the latest first; the highest of several levels reached together comes first. */
function alertRows(
  records: readonly AlertRecord[] | undefined,
  amount: Limit['amount'],
): Pick<LimitRow, 'alerts'> {
  if (records === undefined) return {};
  const lastMs = ({ channels }: AlertRow): number => Math.max(0, ...channels.map(({ atMs }) => atMs));
  const rows = records
    .filter(({ limitAmount }) => limitAmount === amount)
    .map(({ owner, ...record }): AlertRow => ({ ...record, recipient: owner }))
    .sort((a, b) => lastMs(b) - lastMs(a) || b.levelAmount - a.levelAmount);
  return { alerts: rows.slice(0, ALERTS_SHOWN_MAX) };
}

export const grantRows = (havings: readonly SubjectLimit[], nowMs: number): readonly GrantRow[] =>
  havings
    .flatMap(({ limit }) => (limit.grants ?? []).map((grant) => ({ limit, ...grant })))
    .filter(({ untilMs }) => nowMs < untilMs)
    .map(({ limit, amount, fromMs, untilMs, reason, ticket, id }) => ({
      ...{ limit: limit.id, unit: limit.unit, amount, fromMs, untilMs, zone: limit.zone, reason },
      state: nowMs < fromMs ? ('to_come' as const) : ('in_force' as const),
      ...withoutAbsent({ id, ticket }),
    }))
    .sort((a, b) => (a.state === b.state ? a.untilMs - b.untilMs : a.state === 'in_force' ? -1 : 1));

/** Freezes in force and to come, its own first, then those of everything above. */
export function freezeRows(
  subject: string,
  { limits: { freezes }, directory, nowMs }: CallerView,
): readonly FreezeRow[] {
  if (freezes === undefined) return [];
  return [subject, ...subjectsAbove(subject, directory)].flatMap((each) =>
    (freezes.get(each) ?? [])
      .filter(({ untilMs }) => untilMs === undefined || nowMs < untilMs)
      .map(({ id, reason, owner, fromMs, untilMs, zone }) => {
        const above = each === subject ? undefined : formatSubjectLabel(each, directory);
        return { id, reason, zone, ...withoutAbsent({ owner, fromMs, untilMs, above }) };
      }),
  );
}

export const frozenNow = (rows: readonly FreezeRow[], nowMs: number): FreezeRow | undefined =>
  rows.find(({ fromMs }) => fromMs === undefined || fromMs <= nowMs);
