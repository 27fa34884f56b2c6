import { createHash } from 'node:crypto';
import type { CounterKey } from '../../../policies/claim.ts';
import type { Directory } from '../../../policies/directory.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { type LimitSet, limitAt, limitsOfGroup, limitsOn } from '../../../policies/limits/limits.ts';
import { isSpent } from '../../../policies/unit.ts';
import type { Counter } from '../ledger/ledger.ts';
import { findGroup, findRecipient, type Recipient, subjectLabel } from '../notify/recipient.ts';

export interface ThresholdLevel {
  /** `50 %`, `soft`, `overdraft`, `forecast 100 %`. */
  readonly name: string;
  readonly amount: number;
}

/** Reached when spending exceeds the limit. Only limits with `overdraft: alert` have it. */
export const OVERDRAFT = 'overdraft';

const DEFAULT_PERCENTS: readonly number[] = [50, 75, 90, 100];

/**
 * Levels of a limit, lowest first. Among equal amounts a percentage comes before `soft`, which the owner chose.
 * A limit of 0 has only `overdraft`: jobs that GitLab did not ask about can still spend.
 * Counts without a period or with a short one (minute, hour) change too often for messages.
 *
 * @param limit - with the amount in force: base, carry-over and grants.
 */
export function listThresholdLevels(limit: Limit): readonly ThresholdLevel[] {
  const { amount, mode, softAmount, overdraft, per, kind } = limit;
  if (!rejectsOrWarns(limit) || amount === 'unlimited') return [];
  if (per === undefined || per === 'minute' || per === 'hour') return [];
  const percents = limit.thresholds?.toSorted((a, b) => a - b) ?? (isSpent(kind) ? DEFAULT_PERCENTS : []);
  const levels = amount === 0 ? [] : percents.map((percent) => percentLevel('', percent, amount));
  if (softAmount !== undefined && mode === 'enforce') levels.push({ name: 'soft', amount: softAmount });
  if (overdraft === 'alert') levels.push({ name: OVERDRAFT, amount: amount + 1 });
  return levels
    .filter((level) => Number.isSafeInteger(level.amount))
    .sort((one, other) => one.amount - other.amount);
}

export function listForecastLevels(limit: Limit): readonly ThresholdLevel[] {
  const { amount, forecastThresholds = [] } = limit;
  if (!rejectsOrWarns(limit) || amount === 'unlimited' || amount === 0) return [];
  return forecastThresholds.map((percent) => percentLevel('forecast ', percent, amount));
}

const rejectsOrWarns = ({ mode }: Limit): boolean => mode !== 'off' && mode !== 'shadow';

/** Rounds up: one unit less has not reached the level. */
const percentLevel = (prefix: string, percent: number, amount: number): ThresholdLevel => ({
  name: `${prefix}${percent} %`,
  amount: Number((BigInt(amount) * BigInt(percent) + 99n) / 100n),
});

export interface OwnedLimit {
  readonly limit: Limit;
  readonly subjectLabel: string;
  readonly to: Recipient;
}

/** Finds the limit that a counter counts for, with the amount in force now. Caps have no thresholds. */
export function findLimit(
  { subject, limit: id }: CounterKey,
  limits: LimitSet,
  directory: Directory | undefined,
  nowMs: number,
): OwnedLimit | undefined {
  // A cap may have the same id as a limit of its group.
  if (isCap(subject)) return undefined;
  const group = findGroup(subject, directory);
  const all = group === undefined ? limitsOn(limits, subject) : limitsOfGroup(limits, group, nowMs);
  const limit = all.find((each) => each.id === id);
  if (limit === undefined) return undefined;
  return {
    limit: limitAt(limit, nowMs),
    subjectLabel: subjectLabel(subject, directory),
    to: findRecipient(subject, id, { limits, directory }),
  };
}

const MEASURES = ['spent', 'committed'] as const;

export interface ThresholdAlert extends OwnedLimit {
  readonly key: CounterKey;
  readonly measure: (typeof MEASURES)[number];
  readonly level: ThresholdLevel;
  readonly spent: number;
  readonly committed: number;
  /** Part of the alert's id: 90 % of a raised limit is another level. */
  readonly limitAmount: number;
}

/** Returns at most one alert per measure, sent before or not. Held amounts may be given back, so they overdraw no limit. */
export function findAlerts({ key, settled: spent, committed }: Counter, owned: OwnedLimit): ThresholdAlert[] {
  const { amount: limitAmount } = owned.limit;
  if (limitAmount === 'unlimited') return [];
  const levels = listThresholdLevels(owned.limit);
  return MEASURES.flatMap((measure) => {
    const reached = measure === 'spent' ? spent : committed;
    const level = levels.findLast(
      ({ name, amount }) => amount <= reached && (name !== OVERDRAFT || measure === 'spent'),
    );
    if (level === undefined || level.amount <= 0) return [];
    return [{ ...owned, key, measure, level, spent, committed, limitAmount }];
  });
}

export const alertId = ({ key, measure, level, limitAmount }: ThresholdAlert): string =>
  JSON.stringify(['threshold', key.subject, key.limit, key.period, limitAmount, measure, level.name]);

export const shortId = (id: string): string => createHash('sha256').update(id).digest('base64url');
