import { html } from 'hono/html';
import type { PeriodKind } from '../../../policies/limits/period.ts';
import { untilText } from '../../../policies/text/until-text.ts';
import { type LimitKind, UNIT_OF } from '../../../policies/units/unit.ts';
import { UNIT_TEXTS } from '../../../policies/units/unit-texts.ts';
import { writtenUnits } from '../../../policies/units/written.ts';
import type { ForecastRow, LimitRow } from '../../answers/view/limit-row.ts';
import type { Markup } from './markup.ts';
import { amount, distance, instant, type Telling } from './told.ts';

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
  per === undefined
    ? UNIT_TEXTS[UNIT_OF[kind]].heading
    : `${UNIT_TEXTS[UNIT_OF[kind]].heading} ${PERIOD_WORDS[per]}`;

export const limitAmount = (limit: Pick<LimitRow, 'amount' | 'unit'>, telling: Telling): string =>
  limit.amount === 'unlimited' ? 'unlimited' : amount(limit.amount, limit.unit, telling);

/** Below 0 in words: nobody should have to find a minus. */
export const leftText = (limit: Pick<LimitRow, 'left' | 'unit'>, telling: Telling): string =>
  limit.left === undefined
    ? '–'
    : limit.left < 0
      ? `${amount(-limit.left, limit.unit, telling)} over`
      : amount(limit.left, limit.unit, telling);

/** Nothing is rejected for it. */
export const onlyWatches = ({ rolledOutAs, mode }: Pick<LimitRow, 'rolledOutAs' | 'mode'>): boolean =>
  (rolledOutAs ?? mode) !== 'enforce';

/** Colours what is left: red where jobs are rejected, amber where they would be. */
export const leftClass = (limit: LimitRow): string =>
  (limit.left ?? 0) >= 0 ? '' : onlyWatches(limit) ? 'warn-text' : 'bad-text';

/** When the number is used up, short enough for a cell. @param watched - nothing is rejected for it. */
export function runsOut(
  forecast: ForecastRow | undefined,
  zone: string,
  nowMs: number,
  watched = false,
): Markup {
  if (forecast === undefined) return html`<span class="soft">not known yet</span>`;
  switch (forecast.outcome) {
    case 'used_up':
      return html`<strong class="${watched ? 'warn-text' : 'bad-text'}">used up</strong>`;
    case 'lasts':
      return html`<span class="good-text">lasts</span>`;
    case 'runs_out':
      return forecast.atMs === undefined
        ? html`runs out`
        : html`<span class="warn-text">${distance(forecast.atMs, nowMs)}</span> <small class="soft when">${dayAndClock(forecast.atMs, zone)}</small>`;
  }
}

const dayAndClock = (atMs: number, zone: string): Markup =>
  html`<time datetime="${new Date(atMs).toISOString()}">${clockText(atMs, zone)}</time>`;

/** `23 Nov 14:00`, in the limit's zone. */
const clockText = (atMs: number, zone: string): string =>
  untilText(atMs, zone, atMs).replace(/ \d{4} (\d{2}:\d{2}) .*$/, ' $1');

/** A sentence of it. */
export function forecastSentence(limit: LimitRow, nowMs: number): Markup {
  switch (limit.forecast?.outcome) {
    case undefined:
      return html`There is too little history to say when it runs out.`;
    case 'used_up':
      return onlyWatches(limit)
        ? html`It is <strong class="warn-text">used up</strong>; no job is rejected for it.`
        : html`It is <strong class="bad-text">used up</strong>.`;
    case 'lasts':
      return html`At the pace of the last four weeks it <strong class="good-text">lasts</strong> until the period ends.`;
    case 'runs_out':
      return limit.forecast.atMs === undefined
        ? html`It runs out before the period ends.`
        : html`At the pace of the last four weeks it <strong class="warn-text">runs out ${distance(limit.forecast.atMs, nowMs)}</strong>, on ${instant(limit.forecast.atMs, limit)}.`;
  }
}

/** An amount as limits.yaml has it, for a field that will be read again: `500.25`, `90`, `1500m`, `6Gi`. */
export const writtenAmount = (whole: number | 'unlimited', kind: LimitKind): string =>
  whole === 'unlimited' ? whole : writtenUnits(whole, kind);
