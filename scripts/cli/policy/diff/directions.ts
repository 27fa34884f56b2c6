import { readDurationSeconds } from '../../../../policies/document/values.ts';
import { parseQuantity } from '../../../../policies/kubernetes/quantity.ts';
import { OPPOSITE, type PolicyEffect } from './change.ts';
import { added, removed } from './leaves.ts';

/** Classifies a changed value. */
export type Direction = (from: unknown, to: unknown) => PolicyEffect;

export const neutral: Direction = () => 'neutral';

/**
 * Compares two lists by their entries. If entries came and others went, the list could allow more: patterns are not compared by
 * what they match.
 *
 * @param more - what an entry more does.
 */
export const entriesDirection =
  (more: PolicyEffect): Direction =>
  (from, to) => {
    const [came, went] = [added(from, to).length > 0, removed(from, to).length > 0];
    if (came && went) return 'could loosen';
    if (!came && !went) return 'neutral';
    return came ? more : OPPOSITE[more];
  };

/** Compares two lists that mean everything when they are empty, such as the conditions of a rule. */
export const conditions =
  (more: PolicyEffect): Direction =>
  (from, to) => {
    if (isEmpty(from)) return isEmpty(to) ? 'neutral' : OPPOSITE[more];
    return isEmpty(to) ? more : entriesDirection(more)(from, to);
  };

/** Words from the mildest to the strictest; an absent one is the mildest, unless it is listed as `undefined`. */
export const ranked =
  (...words: readonly unknown[]): Direction =>
  (from, to) => {
    const rank = (value: unknown): number => Math.max(0, words.indexOf(value));
    const difference = rank(to) - rank(from);
    return difference === 0 ? 'neutral' : difference > 0 ? 'tightens' : 'loosens';
  };

/** A cap: a larger one lets more pass, and none lets everything pass. */
const cap =
  (read: (value: unknown) => number | bigint | undefined): Direction =>
  (from, to) => {
    if (from === undefined) return 'tightens';
    if (to === undefined) return 'loosens';
    const [before, after] = [read(from), read(to)];
    if (before === undefined || after === undefined) return 'could loosen';
    return before === after ? 'neutral' : after > before ? 'loosens' : 'tightens';
  };

export const numberCap = cap((value) => (typeof value === 'number' ? value : undefined));

export const durationCap = cap((value) => readDurationSeconds(String(value)));

export const quantityCap = cap((value) => parseQuantity(String(value))?.nanos);

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);
