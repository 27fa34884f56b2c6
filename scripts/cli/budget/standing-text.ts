import type { Forecast } from '../../../policies/forecast/run-out.ts';
import { two } from '../../../policies/limits/calendar.ts';
import { dayIn } from '../../../policies/limits/zone.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { amountText, bareAmountText } from '../../../policies/text/amount-text.ts';
import { isMoney } from '../../../policies/units/unit.ts';
import { type Paint, printable, widthOf } from '../../terminal/paint.ts';
import { type Column, table } from '../../terminal/table.ts';
import { isForecast } from './forecasts.ts';
import { percentOf, type Standing } from './standing.ts';
import { subjectLabel } from './subject-word.ts';

export interface ShownStanding extends Standing {
  /** Absent: not asked for, or nobody knows. */
  readonly forecast?: Forecast | undefined;
}

/** What a row of `--json` says. Amounts are whole units. */
export const standingJson = (standing: ShownStanding, directory: Directory): object => {
  const { subject, limit, used, held, left, forecast } = standing;
  const percent = percentOf(standing);
  return {
    subject,
    path: subjectLabel(subject, directory),
    limit: limit.id,
    kind: limit.kind,
    unit: limit.unit,
    amount: limit.amount,
    per: limit.per ?? null,
    mode: limit.mode,
    used,
    held,
    left: left ?? null,
    percent: percent === undefined ? null : Math.round(percent * 10) / 10,
    runsOut:
      forecast === undefined
        ? null
        : forecast.outcome === 'lasts'
          ? 'lasts'
          : new Date(forecast.atMs).toISOString(),
    owner: limit.owner ?? null,
  };
};

const right = { align: 'right' } as const;
const amounts = { align: 'right', even: true } as const;
const PATH_MIN = 12;
const OWNER_ROOM = 8;

/** The table of `budget ls`. Paths that are too long for the terminal lose their beginning, never the name at the end. */
export function standingsText(
  shown: readonly ShownStanding[],
  directory: Directory,
  {
    currency,
    forecast,
    columns,
    paint,
  }: { currency: string; forecast: boolean; columns: number; paint: Paint },
): string {
  const rows = shown.map((each) => rowOf(each, directory, currency, forecast, paint));
  const titles: Column[] = [
    { title: 'group' },
    { title: 'limit', ...amounts },
    { title: 'used', ...amounts },
    { title: 'held', ...amounts },
    { title: 'left', ...amounts },
    { title: '%', ...right },
    ...(forecast ? [{ title: 'runs out' }] : []),
    { title: 'owner' },
  ];
  const widest = (index: number): number =>
    Math.max(widthOf(titles[index]?.title ?? ''), ...rows.map((row) => widthOf(row[index] ?? '')));
  const owned = Math.min(OWNER_ROOM, widest(titles.length - 1)) + 2;
  const middle = titles.slice(1, -1).reduce((sum, _, index) => sum + widest(index + 1) + 2, 0);
  // A line that wraps is no table any more: who owns it is the first thing to go.
  const isNarrow = columns - middle - owned < PATH_MIN;
  const room = Math.max(PATH_MIN, columns - middle - (isNarrow ? 0 : owned));
  const fitted = rows.map(([path = '', ...rest]) => [
    endOf(path, room),
    ...(isNarrow ? rest.slice(0, -1) : rest),
  ]);
  return table(isNarrow ? titles.slice(0, -1) : titles, fitted, columns, paint.dim);
}

function rowOf(
  standing: ShownStanding,
  directory: Directory,
  currency: string,
  withForecast: boolean,
  paint: Paint,
): readonly string[] {
  const { subject, limit, used, held, left, forecast } = standing;
  const bare = (amount: number): string => bareAmountText(amount, limit.unit, 'nearest');
  const percent = percentOf(standing);
  const share = percent === undefined ? '' : `${Math.floor(percent)}`;
  return [
    printable(subjectLabel(subject, directory)),
    limitText(standing, currency),
    bare(used),
    bare(held),
    left === undefined ? '' : left < 0 ? paint.bad(bare(left)) : bare(left),
    percent === undefined
      ? ''
      : percent >= 100
        ? paint.bad(share)
        : percent >= 80
          ? paint.warn(share)
          : share,
    ...(withForecast ? [isForecast(standing) ? forecastText(forecast, limit.zone, paint) : ''] : []),
    printable(limit.owner ?? ''),
  ];
}

/** `500.00 EUR/month`, `unlimited EUR/month`, `20 jobs`; a limit that does not reject says so. */
export function limitText(
  { limit: { amount, unit, kind, per, mode } }: Pick<Standing, 'limit'>,
  currency: string,
): string {
  const told =
    amount === 'unlimited'
      ? `unlimited ${isMoney(kind) ? currency : kind}`
      : amountText(amount, unit, currency);
  return `${told}${per === undefined ? '' : `/${per}`}${mode === 'enforce' ? '' : ` (${mode})`}`;
}

export function forecastText(forecast: Forecast | undefined, zone: string, paint: Paint): string {
  if (forecast === undefined) return '?';
  if (forecast.outcome === 'lasts') return paint.good('lasts');
  const { year, month, day } = dayIn(zone, forecast.atMs);
  return paint.warn(`${year}-${two(month)}-${two(day)}`);
}

function endOf(path: string, room: number): string {
  const letters = [...path];
  return letters.length <= room ? path : `…${letters.slice(letters.length - room + 1).join('')}`;
}
