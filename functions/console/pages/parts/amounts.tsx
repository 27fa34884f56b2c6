import { DAY_MS } from '../../../../policies/limits/calendar.ts';
import type { Mode } from '../../../../policies/mode.ts';
import {
  type Edge,
  edgeText,
  instantText,
  relativeText,
  untilText,
} from '../../../../policies/text/edge-text.ts';
import { type LimitKind, type Unit, writtenUnits } from '../../../../policies/unit.ts';
import { amountText, bareAmountText } from '../../../../policies/unit-texts.ts';
import { percentOf } from '../../../answers/status/limit-row.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { refusingText } from '../../../answers/status/texts.ts';
import { limitEditLink, type Markup, type TableColumn } from './layout.tsx';

/** The deployment's currency, and where and when "now" is. */
export interface PageFormat {
  readonly currency: string;
  /** IANA zone of instants that belong to no limit. */
  readonly zone: string;
  readonly nowMs: number;
}

/** `500.00 EUR` */
export const pageAmount = (whole: number, unit: Unit, { currency }: Pick<PageFormat, 'currency'>): string =>
  amountText(whole, unit, currency);

/** `500.00`. */
export const bare = (whole: number, unit: Unit): string => bareAmountText(whole, unit);

/** `1 Dec 2026 00:00 Europe/Berlin`. */
export const instant = (atMs: number, { zone }: Pick<PageFormat, 'zone'>): Markup => (
  <time class="when" datetime={new Date(atMs).toISOString()}>
    {instantText(atMs, zone)}
  </time>
);

/** The first instant of a validity, or the first one after it: `the end of 31 Dec 2026 Europe/Berlin`. */
export const edge = (atMs: number, which: Edge, { zone }: Pick<PageFormat, 'zone'>): Markup => (
  <time class="when" datetime={new Date(atMs).toISOString()}>
    {edgeText(atMs, which, zone)}
  </time>
);

/** The same without the zone, where the page names it. */
export const shortInstant = (atMs: number, { zone }: Pick<PageFormat, 'zone'>): Markup => (
  <time class="when" datetime={new Date(atMs).toISOString()} title={zone}>
    {instantText(atMs, zone).replace(` ${zone}`, '')}
  </time>
);

/** `in 9 days`, `9 days ago`. */
export const distance = (atMs: number, nowMs: number): string =>
  atMs >= nowMs ? relativeText(nowMs, atMs) : agoText(relativeText(atMs, nowMs));

const agoText = (text: string): string => (text === 'now' ? 'just now' : `${text.replace(/^in /, '')} ago`);

/** Tag of a limit's mode; enforced ones need none. */
export function modeTag(mode: Mode): Markup | undefined {
  switch (mode) {
    case 'enforce':
      return undefined;
    case 'warn':
      return (
        <span class="tag warn" title="Tells the owner, rejects no job">
          warns only
        </span>
      );
    case 'shadow':
      return (
        <span class="tag" title="Recorded, rejects no job">
          shadow
        </span>
      );
    case 'off':
      return <span class="tag">off</span>;
  }
}

export const pageCount = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** `83 %`; above everything that fits in four digits just that. */
export const percent = (part: number, whole: number): string => {
  const share = percentOf(part, whole);
  return share > 9_999 ? '> 9999 %' : `${share} %`;
};

export { alertsText, lastAlertOf, limitWords, nextAlertText } from '../../../answers/status/texts.ts';

export const limitAmountWords = (limit: Pick<LimitRow, 'amount' | 'unit'>, telling: PageFormat): string =>
  limit.amount === 'unlimited' ? 'unlimited' : pageAmount(limit.amount, limit.unit, telling);

/** Stands where the use of a limit would: it has no counter. */
export const NOT_COUNTED = 'not counted';

/** Effect of a limit while it is unreachable. */
export const OUTAGE_TEXTS = {
  admit: 'admits all',
  room: 'admits what was left',
  reject: 'rejects all',
} as const;

/** Negative amounts in words, because a minus is easily missed. */
export const leftText = (limit: Pick<LimitRow, 'left' | 'unit'>, telling: PageFormat): string =>
  limit.left === undefined
    ? '–'
    : limit.left < 0
      ? `${pageAmount(-limit.left, limit.unit, telling)} over`
      : pageAmount(limit.left, limit.unit, telling);

/** Nothing is rejected for it. */
const onlyWatches = ({ rolledOutAs, mode }: Pick<LimitRow, 'rolledOutAs' | 'mode'>): boolean =>
  (rolledOutAs ?? mode) !== 'enforce';

/** Colours what is left: red where jobs are rejected, amber where they would be. */
export const leftClass = (limit: LimitRow): string =>
  (limit.left ?? 0) >= 0 ? '' : onlyWatches(limit) ? 'warn-text' : 'bad-text';

/** An amount as limits.yaml has it, for a field that will be read again: `500.25`, `90`, `1500m`, `6Gi`. */
export const writtenAmount = (whole: number | 'unlimited', kind: LimitKind): string =>
  whole === 'unlimited' ? whole : writtenUnits(whole, kind);

/** Steps that people count in. */
const STEPS: readonly number[] = [1, 2, 2.5, 5, 10];
const TICKS = 4;

/** From 0 upwards, in round steps of whole units, so that the last one is not below `highest`. */
export function roundTicks(highest: number): readonly number[] {
  const rough = Math.max(highest / TICKS, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.ceil((STEPS.find((each) => each * power >= rough) ?? 10) * power);
  const count = Math.ceil(Math.max(highest, 1) / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** Days as numbers that can be placed side by side. */
export const dayNumberOf = (day: string): number => Math.round(Date.parse(`${day}T00:00:00Z`) / DAY_MS);

/** `21 Nov` */
export function shortDayLabel(day: string): string {
  const at = new Date(`${day}T00:00:00Z`);
  return `${at.getUTCDate()} ${at.toLocaleString('en-GB', { month: 'short', timeZone: 'UTC' })}`;
}

/** `1 to 22 Nov 2026`, `30 Oct to 22 Nov 2026`, `30 Dec 2026 to 2 Jan 2027`. */
export function daySpan({ fromDay, toDay }: { readonly fromDay: string; readonly toDay: string }): string {
  const [year, month] = [toDay.slice(0, 4), toDay.slice(0, 7)];
  const to = `${shortDayLabel(toDay)} ${year}`;
  if (fromDay === toDay) return to;
  if (fromDay.startsWith(month)) return `${Number(fromDay.slice(8))} to ${to}`;
  return fromDay.startsWith(year)
    ? `${shortDayLabel(fromDay)} to ${to}`
    : `${shortDayLabel(fromDay)} ${fromDay.slice(0, 4)} to ${to}`;
}

/** Once for the whole page; bars refer to them. Stripes, because colour is never the only sign. */
export const HELD_PATTERNS = (
  <svg class="patterns" aria-hidden="true">
    <defs>
      <pattern id="held" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="held-ground" width="5" height="5" />
        <path class="held-line" d="M1 0V5" stroke-width="2.4" />
      </pattern>
      <pattern
        id="held-over"
        width="5"
        height="5"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <rect class="held-ground" width="5" height="5" />
        <path class="held-over" d="M1 0V5" stroke-width="2.4" />
      </pattern>
    </defs>
  </svg>
);

interface BarFigures {
  /** Whole units. */
  readonly spent: number;
  readonly held: number;
  readonly limit: number;
  /** Expected spend at the end of the period; absent: unknown. */
  readonly forecast?: number | undefined;
}

/** Draws spend solid, held amounts striped, and the forecast as a mark. The figures are shown as text. */
export function Bar({ spent, held, limit, forecast }: BarFigures): Markup {
  // Past the limit the bar is the whole, and an edge shows where the limit was.
  const full = Math.max(limit, spent + held, 1);
  const at = (amount: number): string => `${round((amount / full) * 100)}%`;
  const over = spent + held - limit;
  const heldWithin = Math.max(0, Math.min(held, limit - spent));
  const mark = forecast === undefined ? undefined : Math.min(forecast, full);
  return (
    <svg class="bar" aria-hidden="true">
      {spent > 0 && <rect class="spent" width={at(Math.min(spent, limit))} height="100%" />}
      {spent > limit && <rect class="over" x={at(limit)} width={at(spent - limit)} height="100%" />}
      {heldWithin > 0 && <rect fill="url(#held)" x={at(spent)} width={at(heldWithin)} height="100%" />}
      {held > heldWithin && (
        <rect
          fill="url(#held-over)"
          x={at(Math.max(spent, limit))}
          width={at(held - heldWithin)}
          height="100%"
        />
      )}
      {over > 0 && limit > 0 && <rect class="edge" x={at(limit)} width="2" height="100%" />}
      {mark !== undefined && <rect class="mark" x={`calc(${at(mark)} - 2px)`} width="2" height="100%" />}
    </svg>
  );
}

export const BAR_KEY = (
  <ul class="key" aria-label="Signs of the bars">
    <li>
      <svg aria-hidden="true">
        <rect class="spent" width="100%" height="100%" />
      </svg>
      spent
    </li>
    <li>
      <svg aria-hidden="true">
        <rect fill="url(#held)" width="100%" height="100%" />
      </svg>
      held by running jobs
    </li>
    <li>
      <svg aria-hidden="true">
        <rect class="over" width="100%" height="100%" />
      </svg>
      over the limit
    </li>
    <li>
      <svg aria-hidden="true">
        <rect class="mark" fill="currentColor" x="18" width="2" height="100%" />
      </svg>
      forecast for the end of the period
    </li>
  </ul>
);

const round = (percent: number): number => Math.round(percent * 100) / 100;

/** The columns of a table whose lines say how a limit stands. */
export const STANDING_COLUMNS: readonly TableColumn[] = [
  'Whose',
  'Use',
  ['Used', 'n wide'],
  ['Spent', 'n wide'],
  ['Held', 'n wide'],
  ['Limit', 'n wide'],
  ['Left', 'n'],
  'Runs out',
];

/** From its bar to what is left. @param mayEdit - the amount leads to the form that changes it */
export function standingCells(row: LimitRow, telling: PageFormat, mayEdit: boolean): Markup {
  const amount = limitAmountWords(row, telling);
  return (
    <>
      {useCells(row)}
      <td class="n wide">
        {mayEdit && row.byDefault !== true ? limitEditLink(row.subject, row.id, amount) : amount}
      </td>
      <td class={`n ${leftClass(row)}`} data-l={(row.left ?? 0) >= 0 ? 'left' : undefined}>
        {leftText(row, telling)}
      </td>
    </>
  );
}

/** The bar, and its figures. */
export function useCells({ settled, held = 0, amount, unit, forecast, inForce }: LimitRow): Markup {
  if (settled === undefined || amount === 'unlimited')
    return (
      <>
        <td class="bar-cell" />
        <td class="n wide">–</td>
        <td class="n wide">{NOT_COUNTED}</td>
        <td class="n wide">–</td>
      </>
    );
  return (
    <>
      <td class="bar-cell">
        {inForce && <Bar spent={settled} held={held} limit={amount} forecast={forecast?.atEndAmount} />}
      </td>
      <td class="n wide">{percent(settled + held, amount)}</td>
      <td class="n wide">{bare(settled, unit)}</td>
      <td class="n wide">{bare(held, unit)}</td>
    </>
  );
}

/** When the number is used up, short enough for a cell. */
export function runsOut(limit: LimitRow, nowMs: number): Markup {
  const { forecast, zone } = limit;
  const refusing = refusingText(limit, nowMs);
  if (refusing !== undefined) return <strong class="bad-text">{refusing}</strong>;
  if (forecast === undefined) return <span class="soft">not known yet</span>;
  switch (forecast.outcome) {
    case 'used_up':
      return <strong class={onlyWatches(limit) ? 'warn-text' : 'bad-text'}>used up</strong>;
    case 'lasts':
      return <span class="good-text">lasts</span>;
    case 'runs_out':
      return forecast.atMs === undefined ? (
        <>runs out</>
      ) : (
        <>
          <span class="warn-text">{distance(forecast.atMs, nowMs)}</span>{' '}
          <small class="soft when">{dayAndClock(forecast.atMs, zone)}</small>
        </>
      );
  }
}

const dayAndClock = (atMs: number, zone: string): Markup => (
  <time datetime={new Date(atMs).toISOString()}>{clockText(atMs, zone)}</time>
);

/** `23 Nov 14:00`, in the limit's zone. */
const clockText = (atMs: number, zone: string): string =>
  untilText(atMs, zone, atMs).replace(/ \d{4} (\d{2}:\d{2}) .*$/, ' $1');

/** A sentence of it. */
export function forecastSentence(limit: LimitRow, nowMs: number): Markup {
  const { refusing } = limit;
  if (refusing !== undefined)
    return (
      <>
        It has <strong class="bad-text">refused jobs</strong> since {instant(refusing.sinceMs, limit)}, last{' '}
        {distance(refusing.lastMs, nowMs)}.
      </>
    );
  switch (limit.forecast?.outcome) {
    case undefined:
      return <>There is too little history to say when it runs out.</>;
    case 'used_up':
      return onlyWatches(limit) ? (
        <>
          It is <strong class="warn-text">used up</strong>; no job is rejected for it.
        </>
      ) : (
        <>
          It is <strong class="bad-text">used up</strong>.
        </>
      );
    case 'lasts':
      return (
        <>
          At the pace of the last weeks it <strong class="good-text">lasts</strong> until the period ends.
        </>
      );
    case 'runs_out':
      return limit.forecast.atMs === undefined ? (
        <>It runs out before the period ends.</>
      ) : (
        <>
          At the pace of the last weeks it{' '}
          <strong class="warn-text">runs out {distance(limit.forecast.atMs, nowMs)}</strong>, on{' '}
          {instant(limit.forecast.atMs, limit)}.
        </>
      );
  }
}
