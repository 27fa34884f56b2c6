import type { Forecast } from '../../../policies/forecast.ts';
import { instantText, untilText } from '../../../policies/text/edge-text.ts';
import { oneLine } from '../../../policies/text/plain-text.ts';
import { unitRow } from '../../../policies/unit.ts';
import {
  amountText,
  bareAmountText,
  limitLabelOf,
  limitName,
  limitNameFirst,
} from '../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { linkTo, subjectPagePath } from '../notify/console-links.ts';
import { type Message, subjectLine } from '../notify/message.ts';
import { alertId, OVERDRAFT, shortId, type ThresholdAlert } from './levels.ts';

export interface AlertFormat {
  /** ISO 4217 code. */
  readonly currency: string;
  readonly nowMs: number;
  readonly consoleUrl?: string | undefined;
}

export interface AlertPeriod {
  readonly label: string;
  /** Unix ms, Infinity for a limit without a new period. Absent if the period is too long ago. */
  readonly endMs?: number;
  readonly isOver: boolean;
}

export interface ExplainedAlert extends ThresholdAlert {
  readonly period: AlertPeriod;
  /** Only for the current period, and only while some amount is left. */
  readonly forecast?: Forecast;
}

/** An alert takes at most 3 KB in all its forms, so the message stays below half of the 256 KB that SNS allows. */
export const ALERTS_PER_MESSAGE_MAX = 40;

/** @param alerts - of one recipient; at least one, at most {@link ALERTS_PER_MESSAGE_MAX}. */
export function alertMessage(alerts: readonly ExplainedAlert[], format: AlertFormat): Message {
  const sorted = [...alerts].sort((one, other) => reachedShare(other) - reachedShare(one));
  const [first] = sorted;
  const headline =
    first !== undefined && sorted.length === 1
      ? headlineText(first)
      : `${sorted.length} CI limits reached a threshold`;
  // Without numbers and forecasts: they differ when the message is sent again.
  const id = shortId(JSON.stringify(alerts.map((each) => alertId(each)).sort()));
  const isReached = sorted.some(({ level, limitAmount }) => level.amount >= limitAmount);
  return {
    subject: subjectLine(`Tollgate: ${headline}`),
    text: `${sorted.map((each) => alertText(each, format)).join('\n\n')}\n`,
    json: JSON.stringify({
      ...{ kind: 'thresholds', version: 1, id },
      alerts: sorted.map((each) => alertJson(each, format)),
    }),
    id,
    ...(first !== undefined && {
      attributes: { owner: first.to.owner, kind: 'thresholds', severity: isReached ? 'warning' : 'info' },
    }),
  };
}

/** Sorts the closest to their limit first. Any use of a limit of 0 is past it. */
const reachedShare = ({ level, limitAmount }: ThresholdAlert): number =>
  limitAmount === 0 ? Number.MAX_VALUE : level.amount / limitAmount;

const headlineText = (alert: ThresholdAlert): string =>
  `${limitNameFirst(alert.limit)} of ${limitLabelOf(alert)}: ${reachedText(alert)}`;

function reachedText({ level, measure }: ThresholdAlert): string {
  if (level.name === OVERDRAFT) return 'overdrawn';
  const reached = level.name === 'soft' ? 'soft limit' : level.name;
  return measure === 'spent' ? `${reached} spent` : `${reached} committed (spent + held)`;
}

/** Five lines at most. */
function alertText(alert: ExplainedAlert, format: AlertFormat): string {
  const { limit, period } = alert;
  const { owner, contact } = limit;
  const lines = [
    `${headlineText(alert)} (${oneLine(period.label)}).`,
    numbersText(alert, format),
    forecastText(alert, format),
    [
      owner === undefined
        ? undefined
        : `Owner: ${oneLine(owner)}${contact === undefined ? '' : ` (${oneLine(contact)})`}.`,
      limit.mode === 'warn' ? 'This limit only warns: it rejects no job.' : undefined,
      resetText(alert, format),
    ]
      .filter((part) => part !== undefined)
      .join(' '),
    linkTo(format.consoleUrl, subjectPagePath(alert.key.subject)),
  ];
  return lines.filter((line) => line !== undefined).join('\n  ');
}

function numbersText(alert: ExplainedAlert, { currency }: AlertFormat): string {
  const { spent, committed, level, limit, limitAmount } = alert;
  const bare = (amount: number): string => bareAmountText(amount, limit.unit);
  const full = (amount: number, rounding?: 'down'): string =>
    amountText(amount, limit.unit, currency, rounding);
  const left = limitAmount - committed;
  const rest = left >= 0 ? `${full(left, 'down')} left` : `${full(-left)} over it`;
  const soft = level.name === 'soft' ? `; the soft limit is ${full(level.amount)}` : '';
  return `Spent ${bare(spent)} + held ${bare(committed - spent)} = ${bare(committed)} of ${full(limitAmount)}: ${rest}${soft}.`;
}

function forecastText({ forecast, limit }: ExplainedAlert, { nowMs }: AlertFormat): string | undefined {
  if (forecast === undefined) return undefined;
  return forecast.outcome === 'lasts'
    ? `At the pace of the last weeks the ${limitName(limit)} lasts.`
    : `At the pace of the last weeks it runs out on ${untilText(forecast.atMs, limit.zone, nowMs)}.`;
}

function resetText({ period: { endMs, isOver }, limit }: ExplainedAlert, { nowMs }: AlertFormat): string {
  if (isOver)
    return endMs === undefined ? 'The period is over.' : `Ended on ${instantText(endMs, limit.zone)}.`;
  if (endMs === undefined || !Number.isFinite(endMs)) return 'It never resets.';
  return `Resets on ${untilText(endMs, limit.zone, nowMs)}.`;
}

/** Amounts are whole units, instants ISO 8601. */
function alertJson(alert: ExplainedAlert, { currency, consoleUrl }: AlertFormat): object {
  const { key, measure, level, spent, committed, limit, limitAmount, period, forecast } = alert;
  const link = linkTo(consoleUrl, subjectPagePath(key.subject));
  const resets = period.endMs !== undefined && Number.isFinite(period.endMs);
  return {
    id: shortId(alertId(alert)),
    subject: key.subject,
    subjectLabel: limitLabelOf(alert),
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
