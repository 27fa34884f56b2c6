/** Conditions and updates as the twin evaluates them: like DynamoDB, and refusing what DynamoDB would refuse. */

import type { AttributeValue, Comparator, Item, ItemCondition, UpdateWrite } from './operation.ts';
import { PK, SK } from './table.ts';

/** Evaluates a condition on an item that may be absent. */
export function meets(condition: ItemCondition, item: Item | undefined): boolean {
  switch (condition.kind) {
    case 'absent':
      return item?.[condition.attribute] === undefined;
    case 'present':
      return item?.[condition.attribute] !== undefined;
    case 'compare':
      return compares(item?.[condition.attribute], condition.by, condition.value);
    case 'begins':
      return item?.[condition.attribute]?.S?.startsWith(condition.text) ?? false;
    case 'all':
      return condition.of.every((each) => meets(each, item));
    case 'any':
      return condition.of.some((each) => meets(each, item));
  }
}

/** An attribute that is absent, or of another type, compares to nothing: it only differs. */
function compares(value: AttributeValue | undefined, by: Comparator, to: AttributeValue): boolean {
  const order = orderOf(value, to);
  if (order === undefined) return by === '<>';
  switch (by) {
    case '=':
      return order === 0;
    case '<>':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
  }
}

function orderOf(value: AttributeValue | undefined, to: AttributeValue): number | undefined {
  if (to.N !== undefined) return value?.N === undefined ? undefined : Number(value.N) - Number(to.N);
  if (to.S !== undefined) return value?.S === undefined ? undefined : inOrder(value.S, to.S);
  throw new RangeError(`no order known for ${Object.keys(to)}: the table compares S and N`);
}

/** As the table orders text: by its bytes. */
export const inOrder = (one: string, other: string): number =>
  one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));

/** The item as it is after an update; its key stays. */
export function updated(
  item: Item | undefined,
  { key, set, setIfAbsent, add, remove = [] }: UpdateWrite,
): Item {
  const after: Record<string, AttributeValue> = item
    ? { ...item }
    : { [PK]: { S: key.pk }, [SK]: { S: key.sk } };
  for (const name in setIfAbsent) {
    const value = setIfAbsent[name];
    if (value !== undefined) after[name] ??= value;
  }
  for (const name in set) {
    const value = set[name];
    if (value !== undefined) after[name] = value;
  }
  for (const name in add) {
    const before = item?.[name];
    if (before !== undefined && before.N === undefined) throw invalid(`ADD to ${name}, which is no number`);
    after[name] = { N: String(Number(before?.N ?? 0) + (add[name] ?? 0)) };
  }
  for (const name of remove) delete after[name];
  return after;
}

/** Creates DynamoDB's error for an invalid request. */
export const invalid = (why: string): Error => Object.assign(new Error(why), { name: 'ValidationException' });
