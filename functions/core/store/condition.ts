/** What a write or a read asks of an item, as a value: rendered for DynamoDB, evaluated by the twin in memory. */
import type { AttributeValue } from './item-bytes.ts';
import { PK } from './table.ts';

export type ItemCondition =
  | { readonly kind: 'absent' | 'present'; readonly attribute: string }
  | {
      readonly kind: 'compare';
      readonly attribute: string;
      readonly by: Comparator;
      readonly value: AttributeValue;
    }
  | { readonly kind: 'begins'; readonly attribute: string; readonly text: string }
  | { readonly kind: 'all' | 'any'; readonly of: readonly ItemCondition[] };

export type Comparator = '=' | '<>' | '<' | '<=';

/** There is no such item; of another attribute: the item does not have it. */
export const absent = (attribute: string = PK): ItemCondition => ({ kind: 'absent', attribute });
export const present = (attribute: string = PK): ItemCondition => ({ kind: 'present', attribute });
export const compare = (attribute: string, by: Comparator, value: AttributeValue): ItemCondition => ({
  kind: 'compare',
  attribute,
  by,
  value,
});
export const numberIs = (attribute: string, by: Comparator, value: number): ItemCondition =>
  compare(attribute, by, { N: String(value) });
export const begins = (attribute: string, text: string): ItemCondition => ({
  kind: 'begins',
  attribute,
  text,
});
export const all = (of: readonly ItemCondition[]): ItemCondition => ({ kind: 'all', of });
export const any = (of: readonly ItemCondition[]): ItemCondition => ({ kind: 'any', of });
/** Replaces the item of revision `rev`, where 0 is none. */
export const atRev = (attribute: string, rev: number): ItemCondition =>
  rev === 0 ? absent() : numberIs(attribute, '=', rev);
