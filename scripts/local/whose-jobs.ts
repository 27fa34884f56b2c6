import type { KnownInstance } from '../../functions/core/ledger/index.ts';
import { UsageError } from '../terminal/command.ts';
import type { StartOptions } from './options.ts';

/** What `npm start` calls the GitLab it plays. */
export const PLAYED_GITLAB = 'gitlab.local';

/** Below this path GitLab's own address answers for the router, where no host was set up for it. */
const ROUTER_BELOW_GITLAB = /\/-\/kubernetes-agent\/?$/;

type Whose = (known: readonly KnownInstance[]) => Omit<KnownInstance, 'openedAtMs'>;

/**
 * Tells whose jobs a run decides about. The router's host does not: usually GitLab answers at another one. So it is told
 * (`--gitlab`), remembered from the last run with this router, or the router is below GitLab's own address.
 *
 * @returns throws {UsageError} where it cannot be told, or is told otherwise than it is remembered.
 */
export const whoseJobs =
  ({ router, gitlabUrl }: Pick<StartOptions, 'router' | 'gitlabUrl'>): Whose =>
  (known) => {
    if (router === undefined) return { instance: PLAYED_GITLAB };
    const url = URL.parse(router);
    if (url === null) throw new UsageError('--router is no address; expected e.g. wss://kas.example.com');
    const { hostname: routerHost, pathname } = url;
    const before = known.find((each) => each.routerHost === routerHost);
    if (gitlabUrl !== undefined) {
      const instance = new URL(gitlabUrl).hostname;
      if (before !== undefined && before.instance !== instance) throw renamed(instance, before, routerHost);
      return { instance, gitlabUrl, routerHost };
    }
    if (before !== undefined) {
      const { openedAtMs: _, ...remembered } = before;
      return remembered;
    }
    if (ROUTER_BELOW_GITLAB.test(pathname)) return { instance: routerHost, routerHost };
    throw new UsageError(
      `--gitlab is missing: ${routerHost} is the job router's host, and books are kept under GitLab's; expected e.g. --gitlab https://${likelyHost(routerHost)}`,
    );
  };

const renamed = (instance: string, before: KnownInstance, routerHost: string): UsageError =>
  new UsageError(
    `--gitlab says ${instance}, and the books here know the router ${routerHost} as that of ${before.instance}. Leave --gitlab away to go on with them, or say --fresh to start over (it empties .tollgate/)`,
  );

/** As GitLab's charts name both: `kas.example.com` beside `gitlab.example.com`. A hint, never believed. */
const likelyHost = (routerHost: string): string =>
  routerHost.startsWith('kas.')
    ? `gitlab.${routerHost.replace(/^kas\.(?:gitlab\.)?/, '')}`
    : 'gitlab.example.com';
