import type { KnownInstance } from '../../functions/core/ledger/instances.ts';
import { ENV_CA_FILE } from '../../relay/names.ts';
import { readGitLabUrl } from '../cli/reconcile/gitlab-flags.ts';
import { UsageError } from '../terminal/command.ts';
import { flagLines, parseInput, text, toggle, whole } from '../terminal/define.ts';

export type StartOptions = ReturnType<typeof parseOptions>;

const FLAGS = {
  pipeline: text(
    '<dir | .gitlab-ci.yml>',
    'whose jobs to replay (default: scripts/local/pipelines/web-shop)',
  ),
  jobs: text('<n>', 'how many jobs (default: the pipeline once, or again until 160)', whole(1, 1_000_000)),
  rate: text('<n>', 'admission requests a second (default: 20)', whole(1, 10_000)),
  console: toggle(
    'keeps the console up after the jobs, until interrupted. Without it the console is there while the jobs run. It begins with a month of made-up jobs, which count in the limits; with --json there is neither',
  ),
  policy: text('<file>', 'instead of policies/policy.yaml'),
  limits: text('<file>', 'instead of policies/limits.yaml'),
  directory: text('<file>', 'instead of policies/directory.yaml'),
  memory: toggle('keeps the ledger in memory and forgets it at the end'),
  fresh: toggle('forgets what earlier runs spent (empties .tollgate/ledger/)'),
  router: text('<url>', 'the pilot: grpc://, grpcs://, ws:// or wss:// of the job router'),
  gitlab: text(
    '<url>',
    "with --router: the GitLab whose jobs these are. Its host names the books. Needed the first time, where it is not the router's host; then it is remembered",
    readGitLabUrl,
  ),
  'token-file': text(
    '<file>',
    "with --router: the controller's token (glrct-…), read again when GitLab refuses it",
  ),
  proto: text(
    '<file>',
    `with --router: GitLab's real descriptors (see: tollgate gitlab descriptors --help). ${ENV_CA_FILE} names the PEM file of a private certificate authority`,
  ),
  'allow-plaintext-router': toggle(
    'sends the token unencrypted to a router on another machine: a reader of that network can then answer for every job. Never needed with wss:// or grpcs://',
  ),
};

export const USAGE = `Tollgate on this machine: ledger, admit, settle and sweep, a job router with its relay, a GitLab, and a real pipeline.

  npm start                                  run a pipeline's jobs from admission request to end, exit 0
  npm start -- --router wss://kas.example.com --gitlab https://gitlab.example.com --token-file ./token
                                             the pilot: the same, against a real GitLab (put the controller in dry_run first)

${flagLines(FLAGS)}
  --json               one JSON object per line: decision, figures; the last is the summary

Exit codes: 0 done, 1 failed, 3 wrong usage or invalid documents`;

export function parseOptions(args: readonly string[], root: string) {
  const values = parseInput(args, FLAGS, {}).flags;
  const { router, json, console } = values;
  if (router !== undefined && values['token-file'] === undefined)
    throw new UsageError("--router needs --token-file with the controller's token (glrct-…)");
  const isLocal = router === undefined;
  const misplaced = isLocal
    ? (['token-file', 'gitlab', 'proto'] as const)
    : (['pipeline', 'jobs', 'rate'] as const);
  const flag = misplaced.find((each) => values[each] !== undefined);
  if (flag !== undefined)
    throw new UsageError(
      isLocal
        ? `--${flag} belongs to --router <url>`
        : `--${flag} has no meaning with --router: GitLab sends the jobs`,
    );
  if (console && (!isLocal || json))
    throw new UsageError(`--console has no meaning with --${json ? 'json' : 'router'}: it is for people`);
  return {
    ...{ router, json, console, memory: values.memory, fresh: values.fresh },
    tokenFile: values['token-file'],
    gitlabUrl: values.gitlab,
    protoFile: values.proto,
    allowPlaintextRouter: values['allow-plaintext-router'],
    pipeline: values.pipeline,
    jobs: values.jobs,
    rate: values.rate ?? 20,
    policyFile: values.policy ?? `${root}policies/policy.yaml`,
    limitsFile: values.limits ?? `${root}policies/limits.yaml`,
    directoryFile: values.directory ?? (router === undefined ? `${root}policies/directory.yaml` : undefined),
  };
}

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
      if (before !== undefined && before.instance !== instance)
        throw new UsageError(
          `--gitlab says ${instance}, and the books here know the router ${routerHost} as that of ${before.instance}. Leave --gitlab away to go on with them, or say --fresh to start over (it empties .tollgate/)`,
        );
      return { instance, gitlabUrl, routerHost };
    }
    if (before !== undefined) {
      const { openedAtMs: _, ...remembered } = before;
      return remembered;
    }
    if (ROUTER_BELOW_GITLAB.test(pathname)) return { instance: routerHost, routerHost };
    throw new UsageError(
      `--gitlab is missing: ${routerHost} is the job router's host, and books are kept under GitLab's; expected e.g. --gitlab https://${routerHost.replace(/^kas\.(?:gitlab\.)?/, 'gitlab.')}`,
    );
  };
