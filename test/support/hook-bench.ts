import { handClock } from '../../scripts/local/clock.ts';
import {
  createLocalGitLab,
  type LocalGitLab,
  type LocalGitLabOptions,
} from '../../scripts/local/gitlab/local-gitlab.ts';
import { seededRandom } from '../../scripts/local/random.ts';

export const START_MS = Date.parse('2026-10-01T08:00:00Z');
export const RUNNER = { id: 7, description: 'big-7', tags: ['linux', 'docker'] };

export interface Delivered {
  readonly webhookId: string;
  readonly jobId: unknown;
  readonly status: unknown;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A local GitLab on a clock turned by hand, and what its webhooks delivered, in the order of arrival. */
export function hookBench(options: Partial<LocalGitLabOptions> & { readonly seed?: number } = {}): {
  local: LocalGitLab;
  delivered: Delivered[];
  clock: ReturnType<typeof handClock>;
} {
  const clock = handClock(START_MS);
  const delivered: Delivered[] = [];
  const local = createLocalGitLab({
    clock,
    random: seededRandom(options.seed ?? 1),
    token: 'glpat-local',
    receive: async (body, webhookId) => {
      delivered.push({ webhookId, jobId: body.build_id, status: body.build_status, body });
    },
    ...options,
  });
  return { local, delivered, clock };
}

export const newJob = (id: number) => ({
  id,
  projectId: 42,
  projectPath: 'shop/web-app',
  name: 'unit',
  pipelineId: 900,
  userId: 3,
});
