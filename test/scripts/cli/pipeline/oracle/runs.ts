/** The runs that are recorded of each pipeline. */
export const ORACLE_RUNS = [
  { name: 'push to main', ref: 'main', source: 'push' },
  { name: 'push to feature/x', ref: 'feature/x', source: 'push' },
  { name: 'push to release/1', ref: 'release/1', source: 'push' },
  { name: 'schedule on main', ref: 'main', source: 'schedule' },
] as const;

/** A job that ran: what its script saw in SIZE, IMAGE and KIND; '' for what is not set. */
export interface OracleJob {
  readonly name: string;
  readonly size: string;
  readonly image: string;
  readonly kind: string;
}
