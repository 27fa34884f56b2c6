import type { AdminAnswer } from '../../../functions/core/gitlab/index.ts';

/** GitLab that does not answer three times in a row is left for the next run. */
const TRIES_MAX = 3;

/**
 * Checks, creates if missing, and checks again: a lost response proves nothing, and a received one is
 * confirmed by reading.
 */
export async function whileUnsure<T>(
  look: () => Promise<AdminAnswer<T | undefined>>,
  make: () => Promise<AdminAnswer<unknown>>,
): Promise<AdminAnswer<T>> {
  for (let tries = 1; ; tries += 1) {
    const before = await look();
    if (!before.ok) return before;
    if (before.value !== undefined) return { ok: true, value: before.value };
    const made = await make();
    if (!made.ok && made.refusal.code !== 'unavailable' && made.refusal.code !== 'conflict') return made;
    const after = await look();
    if (!after.ok) return after;
    if (after.value !== undefined) return { ok: true, value: after.value };
    if (tries < TRIES_MAX) continue;
    if (!made.ok) return made;
    const says = 'GitLab said yes, and what was made cannot be read back';
    const refusal = {
      code: 'unreadable',
      call: '',
      status: undefined,
      says,
      remedy: 'look at it in GitLab',
    } as const;
    return { ok: false, refusal };
  }
}
