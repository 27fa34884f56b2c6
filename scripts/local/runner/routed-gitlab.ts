import type { WireSchema } from '../../../relay/wire/schema.ts';
import { type Clock, machineClock } from '../clock/clock.ts';
import type { AdministrationSetting } from '../gitlab/administration.ts';
import type { LocalController } from '../gitlab/controller-routes.ts';
import type { GitLabVersion } from '../gitlab/hook-request.ts';
import type { LocalRunner } from '../gitlab/job.ts';
import { createLocalGitLab, type LocalGitLab, type LocalGitLabOptions } from '../gitlab/local-gitlab.ts';
import type { LocalCiProject } from '../gitlab/pipeline-book.ts';
import { type LocalRouter, startLocalRouter } from '../router/local-router.ts';
import { seededRandom } from '../seeded-random.ts';

interface RoutedOptions extends Pick<LocalGitLabOptions, 'deliver'> {
  /** An administrator's. */
  readonly token: string;
  readonly runners: readonly LocalRunner[];
  readonly projects: readonly LocalCiProject[];
  readonly version?: GitLabVersion;
  readonly administration?: AdministrationSetting;
  /** What the router speaks. @default the placeholder */
  readonly schema?: WireSchema;
  /** How long a job waits for a controller. @default GitLab's */
  readonly findTimeoutMs?: number;
  /** How long it waits for a controller's answer. @default GitLab's */
  readonly decisionTimeoutMs?: number;
  /** @default the machine's */
  readonly clock?: Clock;
  readonly seed?: number;
  /** Controllers that are there already, but their tokens. @default none */
  readonly controllers?: readonly Omit<LocalController, 'id'>[];
}

/** A GitLab whose runners ask its job router, and whose router asks its controllers: those that REST made, by their scopes. */
interface RoutedGitLab {
  readonly gitlab: LocalGitLab;
  readonly router: LocalRouter;
  close(): Promise<void>;
}

export async function startRoutedGitLab(options: RoutedOptions): Promise<RoutedGitLab> {
  const { clock = machineClock, schema, findTimeoutMs, decisionTimeoutMs } = options;
  let routerUrl: string | null = null;
  const gitlab = createLocalGitLab({
    clock,
    random: seededRandom(options.seed ?? 1),
    token: options.token,
    version: options.version ?? '19.4',
    ...(options.deliver && { deliver: options.deliver }),
    projects: options.projects,
    controllers: (options.controllers ?? []).map((each, at) => ({ ...each, id: at + 1 })),
    administration: {
      ...options.administration,
      // Known once the router listens.
      get routerUrl() {
        return routerUrl;
      },
    },
  });
  for (const runner of options.runners) gitlab.addRunner(runner);
  const router = await startLocalRouter({
    controllers: [],
    gitlab: gitlab.routerSide,
    wsPort: 'off',
    ...(schema !== undefined && { schema }),
    ...(findTimeoutMs !== undefined && { findTimeoutMs }),
    ...(decisionTimeoutMs !== undefined && { decisionTimeoutMs }),
  });
  routerUrl = router.grpcUrl ?? null;
  return {
    gitlab,
    router,
    async close() {
      gitlab.stop();
      await router.close();
    },
  };
}
