/** One limit of the document as the cells of a row. */
import { LIMIT_KINDS, type LimitKind } from '../../../../policies/units/unit.ts';
import type { Cells, Column } from './columns.ts';

/** A limit as it stands in the document. */
export type LimitEntry = Readonly<Record<string, unknown>>;

/** Columns that are a key of the document each, with a text or a number. */
export const KEY_OF = {
  period: 'per',
  timezone: 'zone',
  mode: 'mode',
  owner: 'owner',
  cost_center: 'cost_center',
  valid_from: 'from',
  valid_until: 'until',
  reason: 'reason',
  grace: 'grace',
  overdraft: 'overdraft',
  fiscal_start: 'fiscal_start',
  contact: 'contact',
} as const satisfies Partial<Record<Column, string>>;

/** What a list without entries says: at no share of the limit is the owner told. */
export const NO_THRESHOLDS = 'none';

/** The first that is there; a valid entry has one. */
export const kindOf = (entry: LimitEntry): LimitKind | undefined =>
  LIMIT_KINDS.find((kind) => isThere(entry[kind]));

/** Its own, or the one that is made from it. */
export function idOf(entry: LimitEntry): string {
  if (isThere(entry.id)) return String(entry.id);
  return madeId(kindOf(entry) ?? '', textOf(entry.per));
}

export const madeId = (kind: string, per: string): string => `${kind}-${per === '' ? 'now' : per}`;

/** All cells that say something about the limit itself, not about whose it is; decimals with a point. */
export function cellsOf(entry: LimitEntry): Cells {
  const kind = kindOf(entry);
  const soft = textOf(entry.soft);
  const share = /^([^%]+)%$/.exec(soft)?.[1];
  const keyed = Object.entries(KEY_OF).map(([column, key]) => [column, textOf(entry[key])]);
  return {
    ...(Object.fromEntries(keyed) as Record<keyof typeof KEY_OF, string>),
    unit: kind ?? '',
    limit: kind === undefined ? '' : textOf(entry[kind]),
    limit_id: idOf(entry),
    soft_pct: share ?? '',
    soft: share === undefined ? soft : '',
    carry: carryText(entry.carry),
    thresholds: thresholdsText(entry.thresholds),
  };
}

function carryText(carry: unknown): string {
  return typeof carry === 'object' && carry !== null && 'max' in carry ? textOf(carry.max) : '';
}

function thresholdsText(thresholds: unknown): string {
  if (!Array.isArray(thresholds)) return '';
  return thresholds.length === 0 ? NO_THRESHOLDS : thresholds.map(textOf).join(' ');
}

const textOf = (value: unknown): string => (isThere(value) ? String(value) : '');

const isThere = (value: unknown): boolean => value !== undefined && value !== null;
