import type { WireSchema } from '../../../relay/wire/schema.ts';
import { type Clock, machineClock } from '../clock/clock.ts';
import type { LocalController } from '../gitlab/controllers.ts';
import type { InstanceSettings } from '../gitlab/instance.ts';
import type { LocalRunner } from '../gitlab/jobs.ts';
import { createLocalGitLab, type LocalGitLabOptions } from '../gitlab/local-gitlab.ts';
import type { LocalCiProject } from '../gitlab/pipelines.ts';
import type { GitLabVersion } from '../gitlab/webhooks.ts';
import { startLocalRouter } from '../router/local-router.ts';
import { seededRandom } from '../seeded-random.ts';

interface RoutedOptions extends Pick<LocalGitLabOptions, 'deliver'> {
  /** An administrator's. */
  readonly token: string;
  readonly runners: readonly LocalRunner[];
  readonly projects: readonly LocalCiProject[];
  readonly version?: GitLabVersion;
  readonly administration?: InstanceSettings;
  /** The router's descriptors. @default the placeholder */
  readonly schema?: WireSchema;
  /** Time that a job waits for a controller. @default GitLab's */
  readonly findTimeoutMs?: number;
  /** Time that it waits for the controller's answer. @default GitLab's */
  readonly decisionTimeoutMs?: number;
  /** @default the machine's */
  readonly clock?: Clock;
  readonly seed?: number;
  /** Existing controllers, without tokens. @default none */
  readonly controllers?: readonly Omit<LocalController, 'id'>[];
}

/** Starts a GitLab with its job router, which applies the controllers that were made over REST, by their scopes. */
export async function startRoutedGitLab(options: RoutedOptions) {
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
    async close(): Promise<void> {
      gitlab.stop();
      await router.close();
    },
  };
}
