/** Splits a list: one call takes only so many. */
export const inParts = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));

/** Reads one value per key, same order. @param size - keys of one call: 2 000 take about a second */
export async function readInParts<Key, Value>(
  keys: readonly Key[],
  read: (some: readonly Key[]) => Promise<readonly Value[]>,
  size = 2_000,
): Promise<readonly Value[]> {
  const values: Value[] = [];
  for (const some of inParts(keys, size)) for (const value of await read(some)) values.push(value);
  return values;
}
