import { dayOfIso, monthName } from '../../../../policies/limits/calendar.ts';
import { capWords } from '../../../../policies/limits/cap.ts';
import type { Mode } from '../../../../policies/mode.ts';
import { type Edge, edgeText, instantText, relativeText } from '../../../../policies/text/edge-text.ts';
import type { Unit } from '../../../../policies/unit.ts';
import { amountText, bareAmountText } from '../../../../policies/unit-texts.ts';
import { percentOf } from '../../../answers/status/limit-row.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { alertsText, lastAlertOf, limitWords, refusingText } from '../../../answers/status/texts.ts';
import { format } from './format.ts';
import { address, type Columns, hidden, type Markup, soft } from './layout.tsx';

interface Zone {
  readonly zone: string;
}

export const pageAmount = (whole: number, unit: Unit): string => amountText(whole, unit, format().currency);

export { bareAmountText as bare };

const time = (atMs: number, text: string, title?: string): Markup => (
  <time class="when" datetime={new Date(atMs).toISOString()} title={title}>
    {text}
  </time>
);

export const instant = (atMs: number, { zone }: Zone = format()): Markup =>
  time(atMs, instantText(atMs, zone));

/** The first instant of a validity, or the first one after it: `the end of 31 Dec 2026 Europe/Berlin`. */
export const edge = (atMs: number, which: Edge, { zone }: Zone): Markup =>
  time(atMs, edgeText(atMs, which, zone));

/** Without the zone, where the page names it. */
export const shortInstant = (atMs: number, { zone }: Zone = format()): Markup =>
  time(atMs, instantText(atMs, zone).replace(` ${zone}`, ''), zone);

export function distance(atMs: number): string {
  const { nowMs } = format();
  if (atMs >= nowMs) return relativeText(nowMs, atMs);
  const text = relativeText(atMs, nowMs);
  return text === 'now' ? 'just now' : `${text.replace(/^in /, '')} ago`;
}

const MODE_TAGS: Readonly<Partial<Record<Mode, readonly [style: string, text: string, title?: string]>>> = {
  warn: ['tag warn', 'warns only', 'Notifies the owner, rejects no job'],
  shadow: ['tag', 'shadow', 'Recorded, rejects no job'],
  off: ['tag', 'off'],
};

export function modeTag(mode: Mode): Markup | undefined {
  const [style, text, title] = MODE_TAGS[mode] ?? [];
  return style === undefined ? undefined : <span {...{ class: style, title }}>{text}</span>;
}

export const number = (count: number): string => count.toLocaleString('en-US');

export const pageCount = (count: number, one: string): string =>
  `${number(count)} ${one}${count === 1 ? '' : 's'}`;

export const percent = (part: number, whole: number): string => `${percentOf(part, whole)} %`;

export { alertsText, lastAlertOf, limitWords };

export const limitLabel = (limit: Pick<LimitRow, 'kind' | 'per' | 'each'>): string =>
  limit.each === undefined ? limitWords(limit) : `${limitWords(limit)} of ${capWords(limit.each)}`;

export const limitAmountWords = (limit: Pick<LimitRow, 'amount' | 'unit'>): string =>
  limit.amount === 'unlimited' ? 'unlimited' : pageAmount(limit.amount, limit.unit);

export const NOT_COUNTED = 'not counted';

export const OUTAGE_TEXTS = {
  admit: 'admits all jobs',
  room: 'admits up to the last known remaining amount',
  reject: 'rejects all jobs',
} as const;

/** Negative amounts in words, because a minus is easily missed. */
export function leftText({ left, unit }: Pick<LimitRow, 'left' | 'unit'>): string {
  if (left === undefined) return '–';
  return left < 0 ? `${pageAmount(-left, unit)} over` : pageAmount(left, unit);
}

export const leftOfText = (limit: LimitRow): string =>
  `${leftText(limit)}${(limit.left ?? 0) < 0 ? '' : ' left'} of ${limitAmountWords(limit)}`;

const isNotEnforced = ({ rolledOutAs, mode }: Pick<LimitRow, 'rolledOutAs' | 'mode'>): boolean =>
  (rolledOutAs ?? mode) !== 'enforce';

/** Colours a negative rest: red if jobs are rejected, amber if they would be. */
export function leftClass(limit: LimitRow | undefined): string {
  if (limit === undefined || (limit.left ?? 0) >= 0) return '';
  return isNotEnforced(limit) ? 'warn-text' : 'bad-text';
}

/** `2026-11-21` becomes `21 Nov`. */
export function shortDayLabel(isoDay: string): string {
  const { day, month } = dayOfIso(isoDay);
  return `${day} ${monthName(month).slice(0, 3)}`;
}

/** `1 Nov to 22 Nov 2026`. */
export function daySpan({ fromDay, toDay }: { readonly fromDay: string; readonly toDay: string }): string {
  const [from, to] = [fromDay, toDay].map((day) => `${shortDayLabel(day)} ${day.slice(0, 4)}`);
  if (from === to) return to ?? '';
  return `${fromDay.slice(0, 4) === toDay.slice(0, 4) ? shortDayLabel(fromDay) : from} to ${to}`;
}

const pattern = (id: string, line: string): Markup => (
  <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <rect class="held-ground" width="5" height="5" />
    <path class={line} d="M1 0V5" stroke-width="2.4" />
  </pattern>
);

/** Once for the whole page; bars refer to them. Stripes, because colour is never the only sign. */
export const HELD_PATTERNS = (
  <svg class="patterns" aria-hidden="true">
    <defs>
      {pattern('held', 'held-line')}
      {pattern('held-over', 'held-over')}
    </defs>
  </svg>
);

type BarFigures = Readonly<Record<'spent' | 'held' | 'limit', number>> & {
  readonly forecast?: number | undefined;
};

export function Bar({ spent, held, limit, forecast }: BarFigures): Markup {
  // Past the limit the bar is the whole, and an edge shows where the limit was.
  const full = Math.max(limit, spent + held, 1);
  const at = (amount: number): string => `${Math.round((amount / full) * 10_000) / 100}%`;
  const heldWithin = Math.max(0, Math.min(held, limit - spent));
  const part = (look: object, from: number, width: number): Markup | false =>
    width > 0 && <rect {...look} x={at(from)} width={at(width)} height="100%" />;
  return (
    <svg class="bar" aria-hidden="true">
      {part({ class: 'spent' }, 0, Math.min(spent, limit))}
      {part({ class: 'over' }, limit, spent - limit)}
      {part({ fill: 'url(#held)' }, spent, heldWithin)}
      {part({ fill: 'url(#held-over)' }, Math.max(spent, limit), held - heldWithin)}
      {spent + held > limit && limit > 0 && <rect class="edge" x={at(limit)} width="2" height="100%" />}
      {forecast !== undefined && (
        <rect class="mark" x={`calc(${at(Math.min(forecast, full))} - 2px)`} width="2" height="100%" />
      )}
    </svg>
  );
}

const SIGNS: readonly (readonly [object, string])[] = [
  [{ class: 'spent', width: '100%' }, 'spent'],
  [{ fill: 'url(#held)', width: '100%' }, 'held by running jobs'],
  [{ class: 'over', width: '100%' }, 'over the limit'],
  [{ class: 'mark', fill: 'currentColor', x: 18, width: 2 }, 'forecast for the end of the period'],
];

export const BAR_KEY = (
  <ul class="key" aria-label="Signs of the bars">
    {SIGNS.map(([look, text]) => (
      <li>
        <svg aria-hidden="true">
          <rect {...look} height="100%" />
        </svg>
        {text}
      </li>
    ))}
  </ul>
);

interface LimitColumns<Row> {
  /** Undefined: the row has none, and `without` says what stands in its cells. */
  readonly limitOf: (row: Row) => LimitRow | undefined;
  readonly without?: (row: Row) => Readonly<Record<string, Markup | string>>;
  readonly mayEdit: boolean;
}

type LimitCell = readonly [
  style: string,
  text: (limit: LimitRow) => Markup | string,
  tone?: (limit: LimitRow | undefined) => string,
];

export function limitColumns<Row>({ limitOf, without, mayEdit }: LimitColumns<Row>): Columns<Row> {
  const cells: Readonly<Record<string, LimitCell>> = {
    Use: ['bar-cell', (limit) => (limit.inForce ? limitBar(limit) : '')],
    Spent: [
      'n wide',
      ({ settled, unit }) => (settled === undefined ? NOT_COUNTED : bareAmountText(settled, unit)),
    ],
    Held: [
      'n wide',
      ({ settled, held = 0, unit }) => (settled === undefined ? '–' : bareAmountText(held, unit)),
    ],
    Limit: [
      'n',
      (limit) => (mayEdit && limit.byDefault !== true ? editLink(limit) : limitAmountWords(limit)),
    ],
    Left: ['n', leftText, leftClass],
    'Runs out': ['ro', runsOut],
  };
  const columns = Object.entries(cells).map(([head, [style, text, tone]]) => {
    const cell = (row: Row): Markup | string => {
      const limit = limitOf(row);
      return limit === undefined ? (without?.(row)[head] ?? '–') : text(limit);
    };
    return [head, { style, cell, tone: (row: Row) => tone?.(limitOf(row)) ?? '' }] as const;
  });
  return Object.fromEntries(columns);
}

const editLink = (limit: LimitRow): Markup => (
  <a href={address('/edit', { kind: 'set', subject: limit.subject, limit: limit.id })}>
    {limitAmountWords(limit)}
    {hidden(`, change it: ${limit.id}`)}
  </a>
);

export const limitBar = ({ settled, held = 0, amount, forecast }: LimitRow): Markup | '' =>
  settled === undefined || amount === 'unlimited' ? (
    ''
  ) : (
    <Bar spent={settled} held={held} limit={amount} forecast={forecast?.atEndAmount} />
  );

export function runsOut(limit: LimitRow): Markup | string {
  const { forecast, amount, per } = limit;
  const refusing = refusingText(limit, format().nowMs);
  if (refusing !== undefined) return <strong class="bad-text">{refusing}</strong>;
  if (amount === 'unlimited') return <span class="soft">never</span>;
  // Amounts that return with the next job have no run-out day.
  if (per === undefined) return <span class="soft">frees up as jobs end</span>;
  if (forecast === undefined) return <span class="soft">unknown yet</span>;
  if (forecast.outcome === 'lasts') return <span class="good-text">lasts</span>;
  if (forecast.outcome === 'used_up')
    return <strong class={isNotEnforced(limit) ? 'warn-text' : 'bad-text'}>used up</strong>;
  if (forecast.atMs === undefined) return 'runs out';
  return (
    <>
      <span class="warn-text">{distance(forecast.atMs)}</span> {soft(shortInstant(forecast.atMs, limit))}
    </>
  );
}
