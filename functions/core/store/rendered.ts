/**
 * Renders conditions and updates as DynamoDB expressions. Every attribute gets a placeholder, because it may
 * be a reserved word.
 */

import type { AttributeValue, ItemCondition, UpdateWrite } from './operation.ts';

const PLAIN = /^[A-Za-z][A-Za-z0-9]*$/;

/** Collects the placeholders of one operation's expressions. */
export class Placeholders {
  readonly #names = new Map<string, string>();
  readonly #values: Record<string, AttributeValue> = {};
  #count = 0;

  name(attribute: string): string {
    const known = this.#names.get(attribute);
    if (known !== undefined) return known;
    // Rules are called anything, so every other name is numbered.
    const name = PLAIN.test(attribute) ? `#${attribute}` : `#_${this.#names.size}`;
    this.#names.set(attribute, name);
    return name;
  }

  value(value: AttributeValue): string {
    const name = `:${this.#count}`;
    this.#count += 1;
    this.#values[name] = value;
    return name;
  }

  /** DynamoDB refuses empty ones. */
  get attributes() {
    return {
      ...(this.#names.size > 0 && {
        ExpressionAttributeNames: Object.fromEntries([...this.#names].map(([name, to]) => [to, name])),
      }),
      ...(this.#count > 0 && { ExpressionAttributeValues: this.#values }),
    };
  }
}

export function itemConditionText(condition: ItemCondition, to: Placeholders): string {
  switch (condition.kind) {
    case 'absent':
      return `attribute_not_exists(${to.name(condition.attribute)})`;
    case 'present':
      return `attribute_exists(${to.name(condition.attribute)})`;
    case 'compare':
      return `${to.name(condition.attribute)} ${condition.by} ${to.value(condition.value)}`;
    case 'begins':
      return `begins_with(${to.name(condition.attribute)}, ${to.value({ S: condition.text })})`;
    case 'all':
      return `(${condition.of.map((each) => itemConditionText(each, to)).join(' AND ')})`;
    case 'any':
      return `(${condition.of.map((each) => itemConditionText(each, to)).join(' OR ')})`;
  }
}

export function updateText(
  { set = {}, setIfAbsent = {}, add = {}, remove = [] }: UpdateWrite,
  to: Placeholders,
): string {
  const sets = [
    ...Object.entries(setIfAbsent).map(
      ([name, value]) => `${to.name(name)} = if_not_exists(${to.name(name)}, ${to.value(value)})`,
    ),
    ...Object.entries(set).map(([name, value]) => `${to.name(name)} = ${to.value(value)}`),
  ];
  const adds = Object.entries(add).map(
    ([name, value]) => `${to.name(name)} ${to.value({ N: String(value) })}`,
  );
  return [
    ...(sets.length === 0 ? [] : [`SET ${sets.join(', ')}`]),
    ...(adds.length === 0 ? [] : [`ADD ${adds.join(', ')}`]),
    ...(remove.length === 0 ? [] : [`REMOVE ${remove.map((name) => to.name(name)).join(', ')}`]),
  ].join(' ');
}
