import type { Mode } from '../../../../policies/mode.ts';
import { type Edge, edgeText, instantText, relativeText } from '../../../../policies/text/edge-text.ts';
import type { Unit } from '../../../../policies/units/unit.ts';
import { amountText, bareAmountText } from '../../../../policies/units/unit-texts.ts';
import { percentOf } from '../../../answers/status/limit-row.ts';
import type { Markup } from './markup.ts';

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
