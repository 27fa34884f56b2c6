import type { LimitFacts } from '../reason.ts';
import { UNIT_TEXTS } from '../units/unit-texts.ts';
import { amountText } from './amount-text.ts';
import { oneLine, shortened } from './plain-text.ts';

const LABEL_CHARACTERS_MAX = 100;

/** What a person calls the limit: `CI budget`, `memory limit for running jobs`. Texts add `of` and its subject. */
export const limitName = ({ unit }: Pick<LimitFacts, 'unit'>): string => UNIT_TEXTS[unit].name;

/** The same at the beginning of a sentence. */
export function limitNameFirst(facts: Pick<LimitFacts, 'unit'>): string {
  const name = limitName(facts);
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

/** Names whose limit it is, for a place within a line. */
export const limitLabelOf = ({ subjectLabel }: Pick<LimitFacts, 'subjectLabel'>): string =>
  shortened(oneLine(subjectLabel), LABEL_CHARACTERS_MAX);

/** `, after an overdraft of 120.00 EUR`; nothing where none was carried over. */
export const overdraftText = (
  { overdrawn, unit }: Pick<LimitFacts, 'overdrawn' | 'unit'>,
  currency: string,
): string =>
  overdrawn === undefined ? '' : `, after an overdraft of ${amountText(overdrawn, unit, currency)}`;

/** ` for November 2026`; nothing for a limit that has no periods. */
export const duringText = ({ periodLabel }: Pick<LimitFacts, 'periodLabel'>): string =>
  periodLabel === undefined ? '' : ` for ${oneLine(periodLabel)}`;
