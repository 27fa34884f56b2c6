/** Texts about the next and the last alert, for page and terminal. */
import { instantText } from '../../../policies/text/edge-text.ts';
import { joinedText } from '../../../policies/text/plain-text.ts';
import { amountText } from '../../../policies/units/unit-texts.ts';
import type { AlertRow, LimitRow } from './model.ts';

/** `next alert at 90 %`; undefined: no alerts. */
export function nextAlertText({ thresholds = [] }: Pick<LimitRow, 'thresholds'>): string | undefined {
  const next = thresholds.find(({ reached }) => !reached);
  if (next !== undefined) return `next alert at ${levelText(next.name)}`;
  const last = thresholds.at(-1);
  return last && `past the last alert, ${levelText(last.name)}`;
}

/** `alerts at 50 %, 75 % and 90 %` */
export function alertsText({ thresholds = [] }: Pick<LimitRow, 'thresholds'>): string | undefined {
  if (thresholds.length === 0) return undefined;
  const names = thresholds.map(({ name }) => levelText(name));
  return `alerts at ${joinedText(names, 'and')}`;
}

interface LastAlert {
  /** `failed`: at least one channel did not take it. `unknown`: a level is reached, and nothing is noted of it. */
  readonly state: 'told' | 'failed' | 'unknown';
  readonly text: string;
}

/** `payments-leads told at 75 % by mail on 21 Nov 2026 10:05 Europe/Berlin`; undefined: no alert was sent. */
export function lastAlertOf(row: LimitRow, currency: string): LastAlert | undefined {
  const { alerts, thresholds = [], amount } = row;
  if (alerts === undefined) return undefined;
  const [last] = alerts;
  const reached = thresholds.findLast(({ reached, name }) => reached && !name.startsWith('forecast'));
  const isNoted =
    reached === undefined ||
    alerts.some(
      ({ limitAmount, levelAmount, measure }) =>
        measure !== 'forecast' && limitAmount === amount && levelAmount >= reached.amount,
    );
  if (!isNoted)
    return { state: 'unknown', text: `${levelText(reached.name)} reached, no message about it is noted` };
  return (
    last && { state: last.channels.some(isFailed) ? 'failed' : 'told', text: alertText(last, row, currency) }
  );
}

function alertText(alert: AlertRow, { unit, zone }: LimitRow, currency: string): string {
  const { addressee, level, limitAmount, withdrawn, channels } = alert;
  const taken = channels.filter((each) => !isFailed(each));
  const failed = channels.filter(isFailed);
  const at = levelText(level);
  const of = withdrawn ? ` of ${amountText(limitAmount, unit, currency)}, before the limit was changed,` : '';
  const since = failed.map(
    ({ channel, atMs }) => `${CHANNEL_WORDS[channel]} since ${instantText(atMs, zone)}`,
  );
  if (taken.length === 0)
    return `${addressee} not told at ${at}${of}: no answer from ${joinedText(since, 'and')}`;
  const [first] = taken;
  const by = joinedText(
    taken.map(({ channel }) => CHANNEL_WORDS[channel]),
    'and',
  );
  const told = `${addressee} told at ${at}${of} by ${by} on ${instantText(first?.atMs ?? 0, zone)}`;
  return failed.length === 0
    ? told
    : `${told}; not by ${joinedText(
        failed.map(({ channel }) => CHANNEL_WORDS[channel]),
        'and',
      )}`;
}

const isFailed = ({ outcome }: AlertRow['channels'][number]): boolean => outcome === 'failed';

const CHANNEL_WORDS: Readonly<Record<AlertRow['channels'][number]['channel'], string>> = {
  topic: 'mail',
  slack: 'Slack',
  teams: 'Teams',
};

const LEVEL_WORDS: Readonly<Record<string, string>> = { soft: 'the soft part', overdraft: 'overdraft' };

const levelText = (name: string): string => LEVEL_WORDS[name] ?? name;
