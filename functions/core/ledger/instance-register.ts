/**
 * Which GitLabs a table has books of. The host begins every key, so whoever spells it otherwise sees an empty table: the
 * table itself remembers the spelling, and everybody who opens it can ask.
 */
export interface InstanceRegister {
  /** In the order of their names. @throws {LedgerError} `ledger_unavailable`; a table that is not there knows none. */
  list(): Promise<readonly KnownInstance[]>;
  /** In place of what was known of this instance. @throws {LedgerError} `ledger_unavailable` */
  remember(known: KnownInstance): Promise<void>;
}

export interface KnownInstance {
  /** As it begins the keys, e.g. `gitlab.example.com`. */
  readonly instance: string;
  /** Where GitLab answers, without a slash at its end. It may have another host than `instance`: hosts are renamed. */
  readonly gitlabUrl?: string;
  /** Host of the job router whose questions are in these books: seldom GitLab's own. */
  readonly routerHost?: string;
  /** When somebody last wrote to these books under this name, Unix ms. */
  readonly openedAtMs: number;
}
