import type { Log } from '../core/environment/environment.ts';
import { readControllerScopes, readControllerState } from '../core/gitlab/controller.ts';
import { GitLabError } from '../core/gitlab/gitlab.ts';
import type { RestCallDeps } from '../core/gitlab/rest-call.ts';
import { type ControllerScope, type ControllerScopeStore, scopeAfter } from '../core/ledger/controller.ts';

/** Administrators change it a few times in a controller's life; two calls in this time are nothing to GitLab. */
export const READ_EVERY_MS = 5 * 60_000;

/** One GitLab call every five minutes; the known scope stays while GitLab does not answer. */
export function scopeKeeper(deps: {
  readonly controllerId: number;
  readonly gitlab: RestCallDeps;
  readonly store: ControllerScopeStore;
  readonly clock: { nowMs(): number };
  readonly log: Log;
}): () => Promise<ControllerScope | undefined> {
  const { controllerId, store, clock, log } = deps;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let known: ControllerScope | undefined;
  return async () => {
    if (clock.nowMs() - triedAtMs < READ_EVERY_MS) return known;
    known ??= await store.read();
    triedAtMs = clock.nowMs();
    try {
      const state = await readControllerState(controllerId, deps.gitlab);
      const scopes = await readControllerScopes(controllerId, deps.gitlab);
      known = scopeAfter(known, { controllerId, state, ...scopes }, clock.nowMs());
    } catch (error) {
      if (!(error instanceof GitLabError)) throw error;
      log.warn('scope of the controller not read, the last one goes on', { error: error.code, controllerId });
      return known;
    }
    await store.write(known);
    return known;
  };
}
