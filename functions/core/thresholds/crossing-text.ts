import { instantText, untilText } from '../../../policies/text/edge-text.ts';
import { oneLine } from '../../../policies/text/plain-text.ts';
import { unitRow } from '../../../policies/units/unit.ts';
import {
  amountText,
  bareAmountText,
  limitLabelOf,
  limitName,
  limitNameFirst,
} from '../../../policies/units/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { linkTo, subjectPagePath } from '../notify/index.ts';
import { crossingId, shortId } from './announced.ts';
import { OVERDRAFT } from './level.ts';
import type { ToldCrossing } from './watched.ts';

/** The deployment's currency and the moment of telling. */
export interface CrossingFormat {
  readonly currency: string;
  /** Unix ms. */
  readonly nowMs: number;
  /** Where browsers reach the console; absent: there is none. */
  readonly consoleUrl?: string | undefined;
}

/** `CI budget of group acme/payments: 90 % spent`; for one message's subject. */
export const crossingHeadline = (told: ToldCrossing): string =>
  `${limitNameFirst(told.limit)} of ${limitLabelOf(told)}: ${reachedText(told)}`;

/** What happened, the numbers, what to expect, whom to ask and where to look: five lines at most. */
export function crossingText(told: ToldCrossing, telling: CrossingFormat): string {
  const { limit, period } = told;
  return [
    `${crossingHeadline(told)} (${oneLine(period.label)}).`,
    numbersText(told, telling),
    forecastText(told, telling),
    [
      limit.owner === undefined ? undefined : ownerText(told),
      limit.mode === 'warn' ? 'This limit only warns: it rejects no job.' : undefined,
      resetText(told, telling),
    ]
      .filter((part) => part !== undefined)
      .join(' '),
    pageOf(told, telling),
  ]
    .filter((line) => line !== undefined)
    .join('\n  ');
}

function ownerText({ limit: { owner = '', contact } }: ToldCrossing): string {
  const named = oneLine(owner);
  return contact === undefined ? `Owner: ${named}.` : `Owner: ${named} (${oneLine(contact)}).`;
}

const pageOf = ({ crossing: { key } }: ToldCrossing, { consoleUrl }: CrossingFormat): string | undefined =>
  linkTo(consoleUrl, subjectPagePath(key.subject));

function reachedText({ crossing: { level, measure } }: ToldCrossing): string {
  if (level.name === OVERDRAFT) return 'overdrawn';
  const reached = level.name === 'soft' ? 'soft limit' : level.name;
  return measure === 'spent' ? `${reached} spent` : `${reached} committed (spent + held)`;
}

function numbersText({ crossing, limit, limitAmount }: ToldCrossing, { currency }: CrossingFormat): string {
  const { spent, committed, level } = crossing;
  const bare = (amount: number): string => bareAmountText(amount, limit.unit);
  const full = (amount: number, rounding?: 'down'): string =>
    amountText(amount, limit.unit, currency, rounding);
  const left = limitAmount - committed;
  const rest = left >= 0 ? `${full(left, 'down')} left` : `${full(-left)} over it`;
  const soft = level.name === 'soft' ? `; the soft limit is ${full(level.amount)}` : '';
  return `Spent ${bare(spent)} + held ${bare(committed - spent)} = ${bare(committed)} of ${full(limitAmount)}: ${rest}${soft}.`;
}

function forecastText({ forecast, limit }: ToldCrossing, { nowMs }: CrossingFormat): string | undefined {
  switch (forecast?.outcome) {
    case undefined:
      return undefined;
    case 'lasts':
      return `At the pace of the last weeks the ${limitName(limit)} lasts.`;
    case 'runs_out':
      return `At the pace of the last weeks it runs out on ${untilText(forecast.atMs, limit.zone, nowMs)}.`;
  }
}

function resetText({ period: { endMs, isOver }, limit }: ToldCrossing, { nowMs }: CrossingFormat): string {
  if (isOver)
    return endMs === undefined ? 'The period is over.' : `Ended on ${instantText(endMs, limit.zone)}.`;
  if (endMs === undefined || !Number.isFinite(endMs)) return 'It never starts anew.';
  return `Starts anew on ${untilText(endMs, limit.zone, nowMs)}.`;
}

/** The same for programs. Amounts are whole units; instants are ISO 8601. */
export function crossingJson(told: ToldCrossing, telling: CrossingFormat): object {
  const { currency } = telling;
  const link = pageOf(told, telling);
  const { crossing, limit, limitAmount, period, forecast } = told;
  const { key, measure, level, spent, committed } = crossing;
  const resets = period.endMs !== undefined && Number.isFinite(period.endMs);
  return {
    id: shortId(crossingId(told)),
    subject: key.subject,
    subjectLabel: limitLabelOf(told),
    limit: key.limit,
    period: key.period,
    measure,
    level: level.name,
    levelAmount: level.amount,
    limitAmount,
    spent,
    held: committed - spent,
    committed,
    unit: limit.unit,
    ...(unitRow(limit.unit).inCurrency && { currency }),
    mode: limit.mode,
    ...withoutAbsent({ owner: limit.owner, contact: limit.contact, link }),
    zone: limit.zone,
    ...(resets && { resetsAt: new Date(period.endMs ?? 0).toISOString() }),
    ...(forecast !== undefined && {
      forecast:
        forecast.outcome === 'lasts'
          ? forecast
          : { outcome: forecast.outcome, at: new Date(forecast.atMs).toISOString() },
    }),
  };
}
