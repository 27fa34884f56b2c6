import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../../../policies/document/reading.ts';

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
