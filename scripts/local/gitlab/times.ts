/** `2024-06-11 03:13:06 UTC`: how times look in job webhooks. */
export const utcText = (atMs: number | undefined): string | null =>
  atMs === undefined ? null : `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** `2024-06-11T03:13:06Z`: the webhook's newer spelling, in whole seconds like the older one. */
export const isoSecondsText = (atMs: number | undefined): string | null =>
  atMs === undefined ? null : `${new Date(atMs).toISOString().slice(0, 19)}Z`;

/** `2024-06-11T03:13:06.123Z`: how the REST API writes times. */
export const isoText = (atMs: number | undefined): string | null =>
  atMs === undefined ? null : new Date(atMs).toISOString();
