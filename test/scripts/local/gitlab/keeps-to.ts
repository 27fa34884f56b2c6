/** Every field that is documented is there; where both have a value it is of one kind. */
export function keepsTo(documented: unknown, answered: unknown, path = ''): string[] {
  if (documented === null || answered === null) return [];
  if (Array.isArray(documented))
    return Array.isArray(answered)
      ? answered.flatMap((each) => keepsTo(documented[0], each, `${path}[]`))
      : [`${path} is no list`];
  if (typeof documented !== 'object')
    return typeof documented === typeof answered ? [] : [`${path} is a ${typeof answered}`];
  const fields = answered as Readonly<Record<string, unknown>>;
  return Object.entries(documented).flatMap(([name, value]) =>
    Object.hasOwn(fields, name)
      ? keepsTo(value, fields[name], `${path}.${name}`)
      : [`${path}.${name} is missing`],
  );
}
