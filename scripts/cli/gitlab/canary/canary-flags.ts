import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../../../../functions/core/environment/index.ts';
import {
  createGitLabAdministration,
  createGitLabPipelines,
  type RestCallDeps,
} from '../../../../functions/core/gitlab/index.ts';
import { RelayError } from '../../../../relay/relay-error.ts';
import { createRouter } from '../../../../relay/router/router-client.ts';
import { parseTarget } from '../../../../relay/router/target.ts';
import { literalToken } from '../../../../relay/token.ts';
import { VERSION } from '../../../../relay/version.ts';
import { loadSchema, type WireSchema } from '../../../../relay/wire/schema.ts';
import type { Clock } from '../../../local/clock.ts';
import { type TerminalIo, UsageError } from '../../../terminal/command.ts';
import { type FlagValues, readWhole } from '../../../terminal/flags.ts';
import { commandAuthority } from '../../command-fetch.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../../ledger/ledger-flags.ts';
import type { openTableAccess } from '../../ledger/open-ledger.ts';
import type { GitLabPlace } from '../../truth/gitlab-flags.ts';
import type { CanaryCourse } from './canary-course.ts';
import { CANARY_TAG } from './canary-place.ts';

export const CANARY_FLAGS = {
  gitlab: 'text',
  'token-file': 'text',
  project: 'text',
  runner: 'text',
  'runner-tag': 'text',
  router: 'text',
  proto: 'text',
  wait: 'text',
  patience: 'text',
  cleanup: 'switch',
  'allow-plaintext': 'switch',
  ...LEDGER_FLAGS,
} as const;

const PROTO = 'relay/wire/gitlab.binpb';
const WAIT_SECONDS = '300';
const DEADLINE_MS = 60_000;
/** Our own streams end a question that is open for 30 s. */
const PATIENCE_SECONDS_MAX = 25;

export const CANARY_FLAGS_HELP = `  --gitlab <url>       GitLab, e.g. https://gitlab.example.com
  --token-file <file>  holds an administrator's token of scope api (admin_mode where Admin Mode is on)
  --project <path>     the canary's project, by path or number
  --runner <id>        its runner            (default: the one with the tag)
  --runner-tag <tag>   the tag of its runner (default: ${CANARY_TAG})
  --router <url>       of the job router     (default: as GitLab says)
  --allow-plaintext    lets the canary's token travel unencrypted (grpc://, ws://) to another host
  --proto <file>       the descriptors that the relays use (default: ${PROTO}, else the placeholder)
  --wait <seconds>     how long the jobs may take (default: ${WAIT_SECONDS})
  --patience <seconds> keeps one question open so long, to see whether the router waits: 1 to 25 (default: not at all)
  --cleanup            takes away what a killed run left, and proves nothing
${LEDGER_FLAGS_HELP}`;

export interface CanaryDeps {
  readonly open: typeof openTableAccess;
  /** @default the place's own */
  readonly fetch?: typeof fetch;
  readonly clock: Clock;
  readonly rest?: Partial<RestCallDeps>;
  /** Aborts on request. */
  readonly stop: () => AbortSignal;
}

export type CanaryFlags = FlagValues<typeof CANARY_FLAGS>;

/** @throws {UsageError} naming the flag. */
export function readCanary(
  values: CanaryFlags,
  place: GitLabPlace,
  io: TerminalIo,
  deps: CanaryDeps,
): CanaryCourse {
  const { project, router, runner } = values;
  if (project === undefined)
    throw new UsageError('--project is missing: expected the path of the project with the canary’s two jobs');
  if (runner !== undefined && values['runner-tag'] !== undefined)
    throw new UsageError('--runner-tag: the runner is said by --runner already');
  const schema = readSchema(values.proto, io);
  const rest: RestCallDeps = {
    baseUrl: place.baseUrl,
    token: async () => place.token,
    fetch: deps.fetch ?? place.fetch,
    clock: systemClock,
    deadlineMs: DEADLINE_MS,
    ...deps.rest,
  };
  const authority = commandAuthority(io);
  let isTold = false;
  return {
    gitlab: createGitLabAdministration(rest),
    pipelines: createGitLabPipelines(rest),
    projectAsked: project,
    runnerId: runner === undefined ? undefined : readWhole('runner', runner, 1, Number.MAX_SAFE_INTEGER),
    runnerTag: values['runner-tag'],
    routerUrl: router,
    schema,
    routerAt: (url, token) => {
      const target = parseTarget(url);
      const isHere = /^(localhost|127\..*|::1)$/.test(target.host);
      if (!target.secure && !isHere && !values['allow-plaintext'])
        throw new RelayError(
          'config_invalid',
          `${target.url} sends the token unencrypted; say --allow-plaintext`,
        );
      return createRouter({
        ...{ target, schema, token: literalToken(token), version: VERSION },
        userAgent: `tollgate-canary/${VERSION}`,
        ...(authority !== undefined && { tls: { caPem: authority } }),
      });
    },
    waitMs: readWhole('wait', values.wait ?? WAIT_SECONDS, 1, 3_600) * 1_000,
    patienceMs:
      values.patience === undefined
        ? 0
        : readWhole('patience', values.patience, 1, PATIENCE_SECONDS_MAX) * 1_000,
    clock: { ...deps.clock, nowMs: io.nowMs },
    random: Math.random,
    stop: deps.stop(),
    tell: (text) => {
      if (io.progress) io.err(`${isTold ? '\u001b[1A\u001b[K' : ''}${text}\n`);
      isTold = true;
    },
  };
}

/** @throws {UsageError} for a file that holds no descriptors. */
function readSchema(proto: string | undefined, io: TerminalIo): WireSchema {
  const own = join(io.root, PROTO);
  const file = proto === undefined ? (existsSync(own) ? own : undefined) : resolve(io.cwd, proto);
  try {
    return loadSchema(file);
  } catch (error) {
    if (error instanceof RelayError) throw new UsageError(`--proto: ${error.message}`);
    throw error;
  }
}
