/** Texts about limits that pages and the command line share. */
import { clockIn, two } from '../../../policies/limits/calendar.ts';
import type { PeriodKind } from '../../../policies/limits/period.ts';
import { instantText, writtenDay } from '../../../policies/text/edge-text.ts';
import { joinedText } from '../../../policies/text/plain-text.ts';
import { UNIT_OF } from '../../../policies/unit.ts';
import { amountText, bareAmountText, UNIT_TEXTS } from '../../../policies/unit-texts.ts';
import type { Oversubscription } from '../../core/limits/edit-model.ts';
import type { AlertRow, LimitRow } from './model.ts';

/** `next alert at 90 %`; undefined: no alerts. */
export function nextAlertText({ thresholds = [] }: Pick<LimitRow, 'thresholds'>): string | undefined {
  const next = thresholds.find(({ reached }) => !reached);
  if (next !== undefined) return `next alert at ${levelText(next.name)}`;
  const last = thresholds.at(-1);
  return last && `past the last alert, ${levelText(last.name)}`;
}

/** `alerts at 50 %, 75 % and 90 %` */
export const alertsText = ({ thresholds = [] }: Pick<LimitRow, 'thresholds'>): string | undefined =>
  thresholds.length === 0 ? undefined : `alerts at ${joined(thresholds.map(({ name }) => levelText(name)))}`;

interface LastAlert {
  /** `failed`: at least one channel did not accept it. `unknown`: a level is reached, and no alert is recorded. */
  readonly state: 'told' | 'failed' | 'unknown';
  readonly text: string;
}

/** `payments-leads told at 75 % by mail on 21 Nov 2026 10:05 Europe/Berlin`; undefined: no alert was sent. */
export function lastAlertOf(row: LimitRow, currency: string): LastAlert | undefined {
  const { alerts, thresholds = [], amount } = row;
  if (alerts === undefined) return undefined;
  const [last] = alerts;
  const reached = thresholds.findLast(({ reached, name }) => reached && !name.startsWith('forecast'));
  const isRecorded =
    reached === undefined ||
    alerts.some(
      ({ limitAmount, levelAmount, measure }) =>
        measure !== 'forecast' && limitAmount === amount && levelAmount >= reached.amount,
    );
  if (!isRecorded)
    return { state: 'unknown', text: `${levelText(reached.name)} reached, no message about it is noted` };
  if (last === undefined) return undefined;
  return { state: last.channels.some(isFailed) ? 'failed' : 'told', text: alertText(last, row, currency) };
}

function alertText(alert: AlertRow, { unit, zone }: LimitRow, currency: string): string {
  const { addressee, level, limitAmount, withdrawn, channels } = alert;
  const of = withdrawn ? ` of ${amountText(limitAmount, unit, currency)}, before the limit was changed,` : '';
  const taken = channels.filter((each) => !isFailed(each));
  const ways = [...taken, ...channels.filter(isFailed)].map(({ channel, outcome, atMs }) => {
    const when = instantText(atMs, zone);
    return outcome === 'failed'
      ? `no answer from ${CHANNELS[channel]} since ${when}`
      : `by ${CHANNELS[channel]} on ${when}`;
  });
  const told = taken.length > 0 ? 'told' : 'not told';
  return `${addressee} ${told} at ${levelText(level)}${of}${taken.length > 0 ? '' : ':'} ${ways.join('; ')}`;
}

const joined = (words: readonly string[]): string => joinedText(words, 'and');
const isFailed = ({ outcome }: AlertRow['channels'][number]): boolean => outcome === 'failed';
const CHANNELS: Readonly<Record<AlertRow['channels'][number]['channel'], string>> = {
  ...{ topic: 'mail', slack: 'Slack', teams: 'Teams' },
};
const LEVELS: Readonly<Record<string, string>> = { soft: 'the soft part', overdraft: 'overdraft' };
const levelText = (name: string): string => LEVELS[name] ?? name;

/**
 * `Forecast 812.40 EUR (770.10 to 861.00); over the last 6 months it was off by 7.3 % on average.` Undefined: no forecast.
 */
export function forecastText({ forecast, unit }: LimitRow, currency: string): string | undefined {
  const { atEndAmount, atEndLow, atEndHigh, tested } = forecast ?? {};
  if (atEndAmount === undefined) return undefined;
  const range =
    atEndLow === undefined || atEndHigh === undefined
      ? ''
      : ` (${bareAmountText(atEndLow, unit)} to ${bareAmountText(atEndHigh, unit)})`;
  const error =
    tested === undefined
      ? 'no whole month is known yet to test it on'
      : `over the last ${tested.months === 1 ? 'month' : `${tested.months} months`} it was off by ${tested.errorPercent} % on average`;
  return `Forecast ${amountText(atEndAmount, unit, currency)}${range}; ${error}.`;
}

const PERIOD_WORDS: Readonly<Record<PeriodKind, string>> = {
  minute: 'per minute',
  hour: 'per hour',
  day: 'per day',
  week: 'per week',
  month: 'per month',
  quarter: 'per quarter',
  year: 'per year',
  once: 'once',
};

/** `Money per month` */
export const limitWords = ({ kind, per }: Pick<LimitRow, 'kind' | 'per'>): string =>
  `${UNIT_TEXTS[UNIT_OF[kind]].heading}${per === undefined ? '' : ` ${PERIOD_WORDS[per]}`}`;

/** `Refusing jobs since 00:55`, with the day if it is not today; undefined: it does not. */
export function refusingText(
  { refusing, zone }: Pick<LimitRow, 'refusing' | 'zone'>,
  nowMs: number,
): string | undefined {
  if (refusing === undefined) return undefined;
  const { hour, minute } = clockIn(zone, refusing.sinceMs);
  const day = writtenDay(refusing.sinceMs, zone);
  const clock = `${two(hour)}:${two(minute)}`;
  return `Refusing jobs since ${day === writtenDay(nowMs, zone) ? clock : `${day} ${clock}`}`;
}

/** `3 limits below come to 900.00 EUR, more than the 500.00 EUR here` @param format - of an amount in the pool's unit */
export function poolText(
  {
    childrenAmount,
    children,
    unlimited,
  }: Pick<Oversubscription, 'childrenAmount' | 'children' | 'unlimited'>,
  amount: number,
  format: (amount: number) => string,
): string {
  const numbered = children - unlimited;
  const limits = (count: number): string => `${count.toLocaleString('en-US')} limit${count === 1 ? '' : 's'}`;
  const be = unlimited === 1 ? 'is' : 'are';
  if (numbered === 0) return `${limits(unlimited)} below ${be} unlimited, above the ${format(amount)} here`;
  const compared = childrenAmount > amount ? 'more than' : 'within';
  const sum = `${limits(numbered)} below ${numbered === 1 ? 'comes' : 'come'} to ${format(childrenAmount)}, ${compared} the ${format(amount)} here`;
  return unlimited === 0 ? sum : `${sum}, and ${unlimited.toLocaleString('en-US')} more ${be} unlimited`;
}
