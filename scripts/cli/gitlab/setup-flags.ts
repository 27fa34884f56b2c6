import { resolve } from 'node:path';
import { systemClock } from '../../../functions/core/environment/index.ts';
import {
  createGitLabAdministration,
  type GitLabAdministration,
} from '../../../functions/core/gitlab/index.ts';
import { type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readWhole } from '../../terminal/flags.ts';
import { readUserFile } from '../../terminal/user-file.ts';
import { GITLAB_FLAGS, type GitLabPlace, readGitLabPlace } from '../truth/gitlab-flags.ts';
import type { SecretStore } from './secret-text.ts';
import type { SetupReport } from './setup-course.ts';
import type { SetupCourse } from './setup-line.ts';

/** External dependencies of these commands. */
export interface SetupDeps {
  readonly administrationAt: (place: GitLabPlace) => GitLabAdministration;
  readonly storeAt: (where: string, cwd: string) => SecretStore;
  readonly clock: { monotonicMs(): number; sleep(delayMs: number): Promise<void> };
  /** Reads from the terminal; undefined: there is none. */
  readonly askHost: (question: string) => Promise<string | undefined>;
}

/** Larger instances answer lists of groups slowly. */
const TIMEOUT_MS = 15_000;
const DEADLINE_MS = 60_000;

export const administrationAt = ({ baseUrl, token, fetch }: GitLabPlace): GitLabAdministration =>
  createGitLabAdministration({
    baseUrl,
    token: async () => token,
    fetch,
    clock: systemClock,
    timeoutMs: TIMEOUT_MS,
    deadlineMs: DEADLINE_MS,
  });

/** The project's own folder for what is not committed. */
const SECRETS = '.tollgate/secrets';

export const ADMIN_FLAGS = { ...GITLAB_FLAGS, secrets: 'text', name: 'text', controller: 'text' } as const;
export const ADMIN_FLAGS_HELP = `  --gitlab <url>       GitLab, e.g. https://gitlab.example.com
  --token-file <file>  holds an administrator's token of scope api (admin_mode where Admin Mode is on); read_api to look
  --secrets <where>    keeps router-token, webhook-secrets and webhook-tokens: a folder, or ssm:/tollgate/prod
                       (default: ${SECRETS}, files for their owner alone)
  --name <name>        the controller's description and the webhooks' name   (default: tollgate)
  --controller <id>    adopts the controller of this number, whatever its description
  --json               one JSON object`;

export const SETUP_FLAGS = {
  ...ADMIN_FLAGS,
  'webhook-url': 'text',
  instance: 'switch',
  runner: 'texts',
  'runner-tag': 'texts',
  'runner-owner': 'text',
  'runner-token-file': 'text',
} as const;
export const SETUP_FLAGS_HELP = `  --webhook-url <url>  gives every top-level group a webhook to this address (WebhookUrl of a deployment)
  --instance           asks about jobs of all runners   (default where the controller has no scope yet)
  --runner <id>        asks about jobs of this runner of the instance only; may come more than once
  --runner-tag <tag>   likewise of those with this tag; with several tags those that have all
  --runner-owner <name>  likewise of those this user made
  --runner-token-file <file>  holds some runner's token: GitLab says where it sends that runner
${ADMIN_FLAGS_HELP}`;

interface PlaceFlags {
  readonly gitlab: string | undefined;
  readonly 'token-file': string | undefined;
  readonly secrets: string | undefined;
  readonly name: string | undefined;
  readonly controller: string | undefined;
}

interface SetupFlags extends PlaceFlags {
  readonly 'webhook-url': string | undefined;
  readonly instance: boolean;
  readonly runner: readonly string[];
  readonly 'runner-tag': readonly string[];
  readonly 'runner-owner': string | undefined;
  readonly 'runner-token-file': string | undefined;
}

/** @throws {UsageError} naming the flag. */
export function readPlace(flags: PlaceFlags, io: TerminalIo, deps: SetupDeps) {
  const place = readGitLabPlace(flags, io);
  const { controller, name = 'tollgate', secrets = SECRETS } = flags;
  return {
    place,
    gitlab: deps.administrationAt(place),
    store: deps.storeAt(secrets, io.cwd),
    name,
    controllerId:
      controller === undefined ? undefined : readWhole('controller', controller, 1, Number.MAX_SAFE_INTEGER),
  };
}

/** @throws {UsageError} naming the flag. */
export function readCourse(
  flags: SetupFlags,
  mode: SetupReport['mode'],
  io: TerminalIo,
  deps: SetupDeps,
): SetupCourse & { readonly place: GitLabPlace } {
  const runnerIds = flags.runner.map((id) => readWhole('runner', id, 1, Number.MAX_SAFE_INTEGER));
  const { instance, 'runner-tag': tags, 'runner-owner': owner } = flags;
  if (instance && (runnerIds.length > 0 || tags.length > 0 || owner !== undefined))
    throw new UsageError('--instance: a controller has the whole instance or single runners, never both');
  return {
    ...readPlace(flags, io, deps),
    mode,
    scope: { instance, runnerIds, tags, owner },
    hooks: { url: readHookUrl(flags['webhook-url']) },
    runnerToken: readRunnerToken(flags['runner-token-file'], io),
    nowMs: io.nowMs,
    progress: progressOn(io),
  };
}

/** @throws {UsageError} */
export function readHookUrl(url: string | undefined): string | undefined {
  if (url === undefined || (/^https?:\/\//.test(url) && URL.canParse(url))) return url;
  throw new UsageError(`--webhook-url "${url}": expected an address such as https://x.example.com/`);
}

function readRunnerToken(file: string | undefined, io: TerminalIo): string | undefined {
  return file === undefined
    ? undefined
    : readUserFile(resolve(io.cwd, file), `--runner-token-file "${file}"`).trim();
}

/** One line that counts up, on a terminal only. */
export const progressOn =
  (io: TerminalIo) =>
  (done: number, of: number): void => {
    if (io.progress) io.err(done >= of ? '\r\u001b[K' : `\r${done} of ${of} groups`);
  };
