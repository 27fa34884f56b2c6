import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../../../policies/document/reading.ts';
import { readDurationSeconds } from '../../../../policies/document/values.ts';

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
  const isSame = Array.isArray(from) && Array.isArray(to) ? isSameSet(from, to) : isDeepStrictEqual(from, to);
  return isSame ? [] : [{ path, from, to }];
}

/** Entries of `to` that `from` has not. */
const added = (from: unknown, to: unknown): readonly unknown[] =>
  entries(to).filter((each) => !entries(from).some((other) => isDeepStrictEqual(each, other)));

const isSameSet = (one: unknown, other: unknown): boolean =>
  added(one, other).length === 0 && added(other, one).length === 0;

const entries = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const TEXT_CHARACTERS_MAX = 120;

/** `shadow → enforce`; a list shows what came (+) and went (-). */
export function leafText({ from, to }: Omit<Leaf, 'path'>): string {
  const parts = [
    ...added(to, from).map((each) => `- ${valueText(each)}`),
    ...added(from, to).map((each) => `+ ${valueText(each)}`),
  ];
  return parts.length > 0 ? parts.join(', ') : `${valueText(from)} → ${valueText(to)}`;
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

const OPPOSITE: Readonly<Record<PolicyEffect, PolicyEffect>> = {
  tightens: 'loosens',
  loosens: 'tightens',
  neutral: 'neutral',
  'could loosen': 'could loosen',
};

export const neutral: Direction = () => 'neutral';

/** Only that it comes or goes has a direction. @param came - the effect of a value where there was none. */
export const present =
  (came: PolicyEffect): Direction =>
  (from, to) => {
    if (from === undefined) return came;
    return to === undefined ? OPPOSITE[came] : 'could loosen';
  };

/**
 * Compares two lists by their entries. If entries came and others went, the list could allow more: patterns are not compared by
 * what they match.
 *
 * @param more - what an entry more does.
 */
export const entriesDirection =
  (more: PolicyEffect): Direction =>
  (from, to) => {
    const isOther = [from, to].some((value) => !isEmpty(value) && !Array.isArray(value));
    const [came, went] = [added(from, to).length > 0, added(to, from).length > 0];
    if (isOther || (came && went)) return 'could loosen';
    if (!came && !went) return 'neutral';
    return came ? more : OPPOSITE[more];
  };

/** Compares two lists that mean everything when they are empty, such as the conditions of a rule. */
export const conditions =
  (more: PolicyEffect): Direction =>
  (from, to) => {
    const [isAll, becomesAll] = [isEmpty(from), isEmpty(to)];
    if (isAll !== becomesAll) return isAll ? OPPOSITE[more] : more;
    return isAll ? 'neutral' : entriesDirection(more)(from, to);
  };

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** Words from the mildest to the strictest; an absent one is the mildest, unless it is listed as `undefined`. */
export const ranked =
  (...words: readonly unknown[]): Direction =>
  (from, to) =>
    further(Math.max(0, words.indexOf(from)), Math.max(0, words.indexOf(to)), 'tightens');

const further = (from: number | bigint, to: number | bigint, up: PolicyEffect): PolicyEffect =>
  from === to ? 'neutral' : to > from ? up : OPPOSITE[up];

/** Compares amounts. @param larger - the effect of more. @param came - the effect of an amount where there was none. */
export const amountDirection =
  (
    read: (value: unknown) => number | bigint | undefined,
    larger: PolicyEffect,
    came: PolicyEffect = 'tightens',
  ): Direction =>
  (from, to) => {
    const [before, after] = [read(from), read(to)];
    if (before === undefined || after === undefined) return present(came)(from, to);
    return further(before, after, larger);
  };

export const durationIn = (value: unknown): number | undefined => readDurationSeconds(String(value));
