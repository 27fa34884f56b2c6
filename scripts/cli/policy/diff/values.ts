import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../../../policies/document/reading.ts';
import { readDurationSeconds } from '../../../../policies/document/values.ts';
import { parseQuantity } from '../../../../policies/kubernetes/quantity.ts';

/** Effect of a change on jobs. `could loosen`: the direction cannot be decided from the fields, so a reviewer must look. */
export type PolicyEffect = 'tightens' | 'loosens' | 'neutral' | 'could loosen';

/** One difference between two documents. */
export interface PolicyChange {
  /** Place by name instead of index: `rules.trusted-images.mode`. */
  readonly at: string;
  /** `shadow → enforce`, `+ docker:*`, `- docker:*`, `added`. */
  readonly what: string;
  readonly effect: PolicyEffect;
}

const OPPOSITE: Readonly<Record<PolicyEffect, PolicyEffect>> = {
  tightens: 'loosens',
  loosens: 'tightens',
  neutral: 'neutral',
  'could loosen': 'could loosen',
};

/** A value that differs: a scalar, or a list as a whole. `undefined`: not there. */
export interface Leaf {
  /** Keys from the compared value down; `[]` is the value itself. */
  readonly path: readonly string[];
  readonly from: unknown;
  readonly to: unknown;
}

/** Compares two written values by key. Lists are compared as sets. */
export function leaves(from: unknown, to: unknown, path: readonly string[] = []): readonly Leaf[] {
  if (isRecord(from) && isRecord(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return keys.flatMap((key) => leaves(from[key], to[key], [...path, key]));
  }
  if (isDeepStrictEqual(from, to)) return [];
  if (Array.isArray(from) && Array.isArray(to) && sameEntries(from, to)) return [];
  return [{ path, from, to }];
}

/** Entries of `to` that `from` has not. */
export const added = (from: unknown, to: unknown): readonly unknown[] => {
  const before = new Set(entries(from).map(keyOf));
  return entries(to).filter((each) => !before.has(keyOf(each)));
};

export const removed = (from: unknown, to: unknown): readonly unknown[] => added(to, from);

const sameEntries = (from: unknown, to: unknown): boolean =>
  added(from, to).length === 0 && removed(from, to).length === 0;

const entries = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const keyOf = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    isRecord(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  );

const TEXT_CHARACTERS_MAX = 120;

/** `shadow → enforce`; a list shows what came (+) and went (-). */
export function leafText({ from, to }: Leaf): string {
  if (Array.isArray(from) || Array.isArray(to)) {
    const [plus, minus] = [added(from, to), removed(from, to)];
    const text = [
      ...minus.map((each) => `- ${valueText(each)}`),
      ...plus.map((each) => `+ ${valueText(each)}`),
    ];
    if (text.length > 0) return text.join(', ');
  }
  return `${valueText(from)} → ${valueText(to)}`;
}

/** In YAML's short form, shortened. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return 'absent';
  const text = written(value);
  return text.length > TEXT_CHARACTERS_MAX ? `${text.slice(0, TEXT_CHARACTERS_MAX - 1)}…` : text;
}

function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (!isRecord(value)) return String(value);
  return `{${Object.entries(value)
    .map(([key, each]) => `${key}: ${written(each)}`)
    .join(', ')}}`;
}

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
