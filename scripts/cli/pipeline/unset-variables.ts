/** Checked fields with variables: `image` with its users, and services alike. */
type Written = 'image' | 'services' | 'tags';

/** Names of variables that nothing known here sets, by what is written with them. GitLab's settings may set them. */
export type UnsetVariables = Readonly<Partial<Record<Written, readonly string[]>>>;

/** Collects the names of one job. */
interface UnsetNotes {
  note(where: Written, name: string): void;
  all(): UnsetVariables | undefined;
}

/** @param isSettled - true if a name's value is known, or known to be unset. */
export function unsetNotes(isSettled: (name: string) => boolean): UnsetNotes {
  const names = new Map<Written, Set<string>>();
  return {
    note(where, name) {
      // `$1` is the shell's own.
      if (isSettled(name) || /^\d/.test(name)) return;
      names.set(where, (names.get(where) ?? new Set()).add(name));
    },
    all: () =>
      names.size === 0
        ? undefined
        : Object.fromEntries([...names].map(([where, noted]) => [where, [...noted]])),
  };
}
