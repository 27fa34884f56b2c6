import type { KnownInstance } from '../../functions/core/ledger/index.ts';
import { UsageError } from '../terminal/command.ts';
import type { StartOptions } from './options.ts';

/** The host name of the GitLab that `npm start` plays. */
export const PLAYED_GITLAB = 'gitlab.local';

/** The path of a router without a host of its own, below GitLab's address. */
const ROUTER_BELOW_GITLAB = /\/-\/kubernetes-agent\/?$/;

type Whose = (known: readonly KnownInstance[]) => Omit<KnownInstance, 'openedAtMs'>;

/**
 * Returns a function that chooses the GitLab of a run. The router usually has another host than GitLab. So the GitLab is
 * given (`--gitlab`), remembered from the last run with this router, or the router is below GitLab's address.
 * The function throws {UsageError} if none is known, or if the given one differs from the remembered one.
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

/** A hint for the error text: GitLab's charts name `kas.example.com` next to `gitlab.example.com`. */
const likelyHost = (routerHost: string): string =>
  routerHost.startsWith('kas.')
    ? `gitlab.${routerHost.replace(/^kas\.(?:gitlab\.)?/, '')}`
    : 'gitlab.example.com';
