/** As limits.yaml writes instants, to the second: `2026-11-21T12:00:00Z`. */
export const instantOf = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 19)}Z`;
