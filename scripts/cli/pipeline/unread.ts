/** Keeps what entries of the files rest on and check did not read. */
export interface UnreadNotes {
  /** @param entry - a job, a template, a keyword of the top level, or an include. */
  note(entry: string, what: string): void;
  /** Says that an entry takes values from another one, by `extends` or `!reference`. */
  takesFrom(entry: string, other: string): void;
  /** Unread parts of the entries, direct and inherited. */
  of(entries: Iterable<string>): readonly string[];
  /** Every entry with a note. */
  entries(): readonly string[];
}

export function unreadNotes(): UnreadNotes {
  const notes = new Map<string, Set<string>>();
  const sources = new Map<string, Set<string>>();
  const add = (map: Map<string, Set<string>>, key: string, value: string): void => {
    map.set(key, (map.get(key) ?? new Set()).add(value));
  };
  return {
    note: (entry, what) => add(notes, entry, what),
    takesFrom: (entry, other) => add(sources, entry, other),
    of(entries) {
      const reached = new Set(entries);
      // A set visits what is added during the loop, too, and everything once.
      for (const entry of reached) for (const other of sources.get(entry) ?? []) reached.add(other);
      return [...new Set([...reached].flatMap((entry) => [...(notes.get(entry) ?? [])]))];
    },
    entries: () => [...notes.keys()],
  };
}
