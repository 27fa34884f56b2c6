import { untilText } from '../../../../policies/text/edge-text.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { refusingText } from '../../../answers/status/texts.ts';
import { onlyWatches } from './limit-words.ts';
import type { Markup } from './markup.ts';
import { distance, instant } from './page-format.tsx';

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
