import type { RestCallDeps } from '../../../../functions/core/gitlab/rest-call.ts';
import { createGitLab, type GitLab } from '../../../../functions/core/gitlab/rest-gitlab.ts';
import { handClock } from '../../../../scripts/local/clock.ts';
import { createLocalGitLab, type LocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';

export const TOKEN = 'glpat-a-token-nobody-may-see';

/** A local GitLab and a client of it, whose waits take no time and are written down. */
export function restBench(changes: Partial<RestCallDeps> = {}): {
  local: LocalGitLab;
  gitlab: GitLab;
  sleptMs: number[];
} {
  const clock = handClock(Date.parse('2026-10-01T00:00:00Z'));
  const local = createLocalGitLab({ clock, random: seededRandom(1), token: TOKEN });
  const sleptMs: number[] = [];
  const gitlab = createGitLab({
    baseUrl: 'http://gitlab.localhost',
    token: async () => TOKEN,
    fetch: local.fetch,
    random: () => 0.5,
    clock: {
      nowMs: clock.nowMs,
      monotonicMs: clock.nowMs,
      sleep: async (delayMs) => {
        sleptMs.push(delayMs);
        clock.advance(delayMs);
      },
    },
    ...changes,
  });
  return { local, gitlab, sleptMs };
}

/** Jobs 1..count on one runner; those of even id still run. */
export function fill(local: LocalGitLab, count: number, runnerId = 7): void {
  for (let id = 1; id <= count; id += 1) {
    local.create({ id, projectId: 42, projectPath: 'shop/web', name: 'test' });
    local.start(id, { id: runnerId });
    if (id % 2 === 1) local.end(id, { status: 'success' });
  }
}
