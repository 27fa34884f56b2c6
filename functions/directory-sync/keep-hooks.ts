import type { Log } from '../core/environment/index.ts';
import {
  createGroupHook,
  GitLabError,
  type HookStanding,
  hookSetting,
  type RestCallDeps,
  readHookStanding,
} from '../core/gitlab/index.ts';

interface HookKeeper {
  /** Where webhooks go. */
  readonly url: string;
  /** Looks; the token may read. */
  readonly reading: RestCallDeps;
  /** Makes; undefined: nobody gave the deployment a token that may, so what is missing is reported. */
  readonly making:
    | { readonly deps: RestCallDeps; readonly secret: () => Promise<string | undefined> }
    | undefined;
  readonly nowMs: number;
  readonly log: Log;
}

/** New groups have the highest ids: they are looked at in every run. */
const NEWEST = 5;
/** The others take turns: 200 groups in an hour, for four calls a minute. */
const IN_TURN = 20;
const RUN_MS = 300_000;
const NAME = 'tollgate';

/** Looks whether top-level groups have their webhook, some in each run, and makes those that are missing where it may. */
export async function keepHooks(rootIds: readonly number[], keeper: HookKeeper): Promise<void> {
  const { url, reading, making, nowMs, log } = keeper;
  const found = new Map<HookStanding | 'made', number[]>();
  try {
    for (const groupId of inTurn(rootIds, nowMs)) {
      let standing: HookStanding | 'made' = await readHookStanding(groupId, url, reading);
      const secret = standing === 'missing' ? await making?.secret() : undefined;
      if (making !== undefined && secret !== undefined) {
        await createGroupHook(groupId, hookSetting(NAME, url, secret), making.deps);
        standing = 'made';
      }
      found.set(standing, [...(found.get(standing) ?? []), groupId]);
    }
  } catch (error) {
    // The directory is synced all the same. A client's own message could quote what it was given.
    const why = error instanceof GitLabError ? error.message : error instanceof Error ? error.name : '';
    log.warn('webhooks could not be looked at or made', { error: why });
  }
  const made = found.get('made');
  if (made !== undefined) log.info('webhooks made for new groups', { groups: made.map(String) });
  for (const standing of ['missing', 'off', 'disabled'] as const) {
    const groups = found.get(standing);
    if (groups === undefined) continue;
    const remedy =
      'tollgate gitlab setup makes and repairs them; until then the sweep finds the ends of their jobs';
    log.warn(`groups whose webhook is ${standing}`, { groups: groups.map(String), remedy });
  }
}

/** The newest, and a slice of the others that moves on with every run; no mark is kept of it. */
function inTurn(rootIds: readonly number[], nowMs: number): readonly number[] {
  const newestFirst = [...rootIds].sort((a, b) => b - a);
  const others = newestFirst.slice(NEWEST);
  const slices = Math.ceil(others.length / IN_TURN);
  const slice = slices === 0 ? 0 : Math.floor(nowMs / RUN_MS) % slices;
  return [...newestFirst.slice(0, NEWEST), ...others.slice(slice * IN_TURN, (slice + 1) * IN_TURN)];
}
