import { readDurationSeconds } from '../../../../policies/document/duration.ts';
import { parseQuantity } from '../../../../policies/kubernetes/quantity.ts';
import { OPPOSITE, type PolicyEffect } from './change.ts';
import { added, removed } from './leaves.ts';

/** Tells what it means that a value became another one. */
export type Direction = (from: unknown, to: unknown) => PolicyEffect;

export const neutral: Direction = () => 'neutral';

/** @param more - what an entry more does. */
export const entriesDirection =
  (more: PolicyEffect): Direction =>
  (from, to) => {
    const [came, went] = [added(from, to).length > 0, removed(from, to).length > 0];
    if (came && went) return 'unclear';
    return came ? more : OPPOSITE[more];
  };

/** Conditions: each entry more names more jobs, and with none at all every job is meant. */
export const conditions =
  (more: PolicyEffect): Direction =>
  (from, to) => {
    if (isEmpty(from)) return OPPOSITE[more];
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
    if (before === undefined || after === undefined) return 'unclear';
    return before === after ? 'neutral' : after > before ? 'loosens' : 'tightens';
  };

export const numberCap = cap((value) => (typeof value === 'number' ? value : undefined));

export const durationCap = cap((value) => readDurationSeconds(String(value)));

export const quantityCap = cap((value) => parseQuantity(String(value))?.nanos);

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);
