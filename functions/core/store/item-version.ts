/**
 * The form of the table's items. Every item says which one it was written in; one without the attribute was written before
 * there were versions, in the first form.
 *
 * The version rises when an older program would misread what a newer one writes. A release then teaches readers first, and
 * the next one lets writers write: while a deployment is under way, both programs run on one table.
 */
import { ITEM_VERSION, VERSION_ATTRIBUTE } from '../../names.ts';
import type { Item } from './operation.ts';

/** Spread into every item that is put, and set where absent by updates that may create theirs: newer stays newer. */
export const versioned = { [VERSION_ATTRIBUTE]: { N: ITEM_VERSION } } as const;

/** Returns true if a newer version wrote it in an unknown format. */
export const isNewer = (item: Item): boolean =>
  Number(item[VERSION_ATTRIBUTE]?.N ?? 0) > Number(ITEM_VERSION);
