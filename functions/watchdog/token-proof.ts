import type { Log } from '../core/environment/index.ts';
import { type Controller, GitLabError } from '../core/gitlab/index.ts';

/** A token that works now is asked about again after this; one that does not, with every look. */
export const PROVEN_FOR_MS = 3_600_000;

interface TokenProofDeps {
  readonly controller: Pick<Controller, 'state'>;
  readonly clock: { nowMs(): number };
  readonly log: Log;
}

/**
 * Tests the watchdog's token in normal times, because it is needed rarely and may have expired.
 *
 * @returns a check that gives `refused` while GitLab refuses the token or does not know the controller. A
 * GitLab that does not answer proves nothing about the token.
 */
export function tokenProof({
  controller,
  clock,
  log,
}: TokenProofDeps): () => Promise<'accepted' | 'refused'> {
  let provenAtMs: number | undefined;
  return async () => {
    const nowMs = clock.nowMs();
    if (provenAtMs !== undefined && nowMs - provenAtMs < PROVEN_FOR_MS) return 'accepted';
    try {
      await controller.state();
      provenAtMs = nowMs;
      return 'accepted';
    } catch (error) {
      if (!(error instanceof GitLabError)) throw error;
      if (error.code === 'gitlab_unavailable' || error.code === 'gitlab_rate_limited') return 'accepted';
      log.error('watchdog: it could not disarm the controller', { error: error.message });
      return 'refused';
    }
  };
}
