/** Texts about limits that pages and the command line share. */
import { clockIn, two } from '../../../policies/limits/calendar.ts';
import { instantText, writtenDay } from '../../../policies/text/edge-text.ts';
import { joinedText } from '../../../policies/text/plain-text.ts';
import { UNIT_OF } from '../../../policies/unit.ts';
import { amountText, bareAmountText, UNIT_TEXTS } from '../../../policies/unit-texts.ts';
import type { Oversubscription } from '../../core/limits/edit-model.ts';
import type { AlertRow, LimitRow } from './model.ts';

/** `alerts at 50 %, 75 % and 90 %` */
export const alertsText = ({ thresholds = [] }: Pick<LimitRow, 'thresholds'>): string | undefined =>
  thresholds.length === 0 ? undefined : `alerts at ${joinedText(thresholds.map(levelOf), 'and')}`;

/** The last alert, with addressee, level, channels and time. Undefined: no alert of this amount was sent. */
export function lastAlertOf({ alerts = [], zone }: LimitRow) {
  const [last] = alerts;
  if (last === undefined) return undefined;
  const { recipient, level, channels } = last;
  const taken = channels.filter(({ outcome }) => outcome === 'taken');
  const failed = channels.filter(({ outcome }) => outcome === 'failed');
  const ways = [
    ...taken.map(({ channel, atMs }) => `by ${CHANNELS[channel]} on ${instantText(atMs, zone)}`),
    ...failed.map(
      ({ channel, atMs }) => `no answer from ${CHANNELS[channel]} since ${instantText(atMs, zone)}`,
    ),
  ].join('; ');
  const isTaken = taken.length > 0;
  return {
    /** `failed`: at least one channel did not accept it. */
    state: failed.length > 0 ? ('failed' as const) : ('notified' as const),
    text: `${recipient} ${isTaken ? 'notified' : 'not notified'} at ${levelText(level)}${isTaken ? '' : ':'} ${ways}`,
  };
}

const CHANNELS: Readonly<Record<AlertRow['channels'][number]['channel'], string>> = {
  ...{ topic: 'mail', slack: 'Slack', teams: 'Teams' },
};
const LEVELS: Readonly<Record<string, string>> = { soft: 'the soft limit', overdraft: 'overdraft' };
const levelText = (name: string): string => LEVELS[name] ?? name;
const levelOf = ({ name }: { readonly name: string }): string => levelText(name);

/** `Forecast 812.40 EUR (770.10 to 861.00); over the last 6 months it was off by 7.3 % on average.` Undefined: no forecast. */
export function forecastText({ forecast, unit }: LimitRow, currency: string): string | undefined {
  const { atEndAmount, atEndLow, atEndHigh, tested } = forecast ?? {};
  if (atEndAmount === undefined) return undefined;
  const range =
    atEndLow === undefined || atEndHigh === undefined
      ? ''
      : ` (${bareAmountText(atEndLow, unit)} to ${bareAmountText(atEndHigh, unit)})`;
  const error =
    tested === undefined
      ? 'its error is unknown until one whole month is recorded'
      : `over the last ${tested.months === 1 ? 'month' : `${tested.months} months`} it was off by ${tested.errorPercent} % on average`;
  return `Forecast ${amountText(atEndAmount, unit, currency)}${range}; ${error}.`;
}

export function limitWords({ kind, per }: Pick<LimitRow, 'kind' | 'per'>): string {
  const { heading } = UNIT_TEXTS[UNIT_OF[kind]];
  if (per === undefined) return heading;
  return `${heading} ${per === 'once' ? 'once' : `per ${per}`}`;
}

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
  pool: Pick<Oversubscription, 'childrenAmount' | 'children' | 'unlimited'>,
  amount: number,
  format: (amount: number) => string,
): string {
  const { childrenAmount, children, unlimited } = pool;
  const limits = (count: number, one: string, many: string): string =>
    count === 1 ? `1 limit below ${one}` : `${count.toLocaleString('en-US')} limits below ${many}`;
  const numbered = limits(children - unlimited, 'comes', 'come');
  const compared = childrenAmount > amount ? 'more than' : 'within';
  const here = `the ${format(amount)} here`;
  return [
    ...(children > unlimited ? [`${numbered} to ${format(childrenAmount)}, ${compared} ${here}`] : []),
    ...(unlimited > 0 ? [`${limits(unlimited, 'is', 'are')} unlimited, above ${here}`] : []),
  ].join('; ');
}
