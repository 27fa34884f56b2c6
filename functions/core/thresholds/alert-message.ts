import type { Forecast } from '../../../policies/forecast.ts';
import type { Period } from '../../../policies/limits/period.ts';
import { untilText } from '../../../policies/text/edge-text.ts';
import { oneLine } from '../../../policies/text/plain-text.ts';
import { unitRow } from '../../../policies/unit.ts';
import { amountText, bareAmountText, limitLabelOf, limitNameFirst } from '../../../policies/unit-texts.ts';
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

export interface ExplainedAlert extends ThresholdAlert {
  /** The limit's period now; absent if the alert is about another one. */
  readonly period?: Period;
  /** Only for the current period, and only while some amount is left. */
  readonly forecast?: Forecast;
}

/** An alert takes at most 3 KB in all its forms, so the message stays below half of the 256 KB that SNS allows. */
export const ALERTS_PER_MESSAGE_MAX = 40;

/** @param alerts - of one recipient; at least one, at most {@link ALERTS_PER_MESSAGE_MAX}. */
export function alertMessage(alerts: readonly ExplainedAlert[], format: AlertFormat): Message {
  const sorted = alerts.toSorted((one, other) => reachedShare(other) - reachedShare(one));
  const [first, ...more] = sorted;
  const headline =
    first !== undefined && more.length === 0
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

function alertText(alert: ExplainedAlert, { currency, nowMs, consoleUrl }: AlertFormat): string {
  const { limit, period, key, forecast, spent, committed, limitAmount } = alert;
  const { owner, contact, unit, zone, mode } = limit;
  const bare = (amount: number): string => bareAmountText(amount, unit);
  const full = (amount: number): string => amountText(amount, unit, currency);
  const left = limitAmount - committed;
  const rest = left >= 0 ? `${amountText(left, unit, currency, 'down')} left` : `${full(-left)} over it`;
  const lines = [
    `${headlineText(alert)} (${oneLine(period?.label ?? key.period)}).`,
    `Spent ${bare(spent)} + held ${bare(committed - spent)} = ${bare(committed)} of ${full(limitAmount)}: ${rest}.`,
    forecast?.outcome === 'runs_out' &&
      `At the pace of the last weeks it runs out on ${untilText(forecast.atMs, zone, nowMs)}.`,
    owner !== undefined &&
      `Owner: ${oneLine(owner)}${contact === undefined ? '' : ` (${oneLine(contact)})`}.`,
    mode === 'warn' && 'This limit only warns: it rejects no job.',
    period !== undefined &&
      Number.isFinite(period.endMs) &&
      `Resets on ${untilText(period.endMs, zone, nowMs)}.`,
    linkTo(consoleUrl, subjectPagePath(key.subject)),
  ];
  return lines.filter(Boolean).join('\n  ');
}

/** Amounts are whole units, instants ISO 8601. */
function alertJson(alert: ExplainedAlert, { currency, consoleUrl }: AlertFormat): object {
  const { key, measure, level, spent, committed, limit, limitAmount, period, forecast } = alert;
  const { unit, mode, owner, contact } = limit;
  const instant = (atMs = Number.NaN) => (Number.isFinite(atMs) ? new Date(atMs).toISOString() : undefined);
  return {
    ...{ id: shortId(alertId(alert)), ...key, subjectLabel: limitLabelOf(alert) },
    ...{ measure, level: level.name, levelAmount: level.amount, limitAmount },
    ...{ spent, held: committed - spent, committed, unit, mode },
    ...(unitRow(unit).inCurrency && { currency }),
    ...withoutAbsent({ owner, contact, link: linkTo(consoleUrl, subjectPagePath(key.subject)) }),
    ...withoutAbsent({ resetsAt: instant(period?.endMs) }),
    ...withoutAbsent({ runsOutAt: forecast?.outcome === 'runs_out' ? instant(forecast.atMs) : undefined }),
  };
}
