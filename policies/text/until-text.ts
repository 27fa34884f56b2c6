import { instantText } from './instant-text.ts';
import { relativeText } from './money-text.ts';

/** An instant on the clock of a zone and how far away it is: `1 Dec 2026 00:00 Europe/Berlin (in 9 days)`. */
export const untilText = (atMs: number, zone: string, nowMs: number): string =>
  `${instantText(atMs, zone)} (${relativeText(nowMs, atMs)})`;
