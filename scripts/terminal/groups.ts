/** Groups items by a key, in the order of each group's first item. */
export const groupsOf = <T>(items: Iterable<T>, keyOf: (item: T) => unknown) =>
  [...Map.groupBy(items, keyOf).values()] as unknown as readonly (readonly [T, ...T[]])[];
