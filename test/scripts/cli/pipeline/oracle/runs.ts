/** The runs that are recorded of each pipeline. */
export const ORACLE_RUNS = [
  { name: 'push to main', ref: 'main', source: 'push' },
  { name: 'push to feature/x', ref: 'feature/x', source: 'push' },
  { name: 'push to release/1', ref: 'release/1', source: 'push' },
  { name: 'schedule on main', ref: 'main', source: 'schedule' },
] as const;
