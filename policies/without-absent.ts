type Present<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** The fields that have a value: an absent field is left out, never there as `undefined`. */
export function withoutAbsent<Fields extends object>(fields: Fields): Present<Fields> {
  // Runs for every admission, where `Object.fromEntries` would take three times as long.
  const present: Partial<Fields> = {};
  for (const name in fields) if (fields[name] !== undefined) present[name] = fields[name];
  return present as Present<Fields>;
}
