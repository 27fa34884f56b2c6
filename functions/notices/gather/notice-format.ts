/** Words that several notices use. */

import { instantText } from '../../../policies/text/edge-text.ts';
import { oneLine, shortened } from '../../../policies/text/plain-text.ts';
import type { Unit } from '../../../policies/units/unit.ts';
import { amountText } from '../../../policies/units/unit-texts.ts';

export interface NoticeFormat {
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
export const quotedWords = (text: string): string => `"${words(text)}"`;

/** `37 jobs`, `1 job`. */
export const noticeCount = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

export const noticeInstant = (atMs: number, { zone }: Pick<NoticeFormat, 'zone'>): string =>
  instantText(atMs, zone);

/** An instant as a change row has it; `lifted` and what is none stay as they are. */
export const whenWritten = (text: string, telling: Pick<NoticeFormat, 'zone'>): string =>
  Number.isNaN(Date.parse(text)) ? text : noticeInstant(Date.parse(text), telling);

export const noticeAmount = (whole: number, unit: Unit, { currency }: NoticeFormat): string =>
  amountText(whole, unit, currency);
