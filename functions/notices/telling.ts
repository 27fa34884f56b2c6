/** Words that several notices use. */

import { amountText } from '../../policies/text/amount-text.ts';
import { instantText } from '../../policies/text/instant-text.ts';
import { oneLine, shortened } from '../../policies/text/plain-text.ts';
import type { Unit } from '../../policies/units/unit.ts';

export interface Telling {
  /** ISO 4217 code of the deployment's currency. */
  readonly currency: string;
  /** IANA zone of instants that belong to no limit. */
  readonly zone: string;
  /** Unix ms. */
  readonly nowMs: number;
}

/** A text that a person wrote must not crowd out the others. */
const WORDS_CHARACTERS_MAX = 160;
const NAME_CHARACTERS_MAX = 60;

export const words = (text: string): string => shortened(oneLine(text), WORDS_CHARACTERS_MAX);
export const name = (text: string): string => shortened(oneLine(text), NAME_CHARACTERS_MAX);
export const saying = (text: string): string => `"${words(text)}"`;

/** `37 jobs`, `1 job`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

export const at = (atMs: number, { zone }: Pick<Telling, 'zone'>): string => instantText(atMs, zone);

/** An instant as a change row has it; `lifted` and what is none stay as they are. */
export const whenWritten = (text: string, telling: Pick<Telling, 'zone'>): string =>
  Number.isNaN(Date.parse(text)) ? text : at(Date.parse(text), telling);

export const amount = (whole: number, unit: Unit, { currency }: Telling): string =>
  amountText(whole, unit, currency, 'nearest');
