/** Flags of the commands that administer GitLab. */
import { resolve } from 'node:path';
import { createGitLabAdministration } from '../../../functions/core/gitlab/index.ts';
import { type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { type FlagValues, readWhole } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { readUserFile } from '../../terminal/user-file.ts';
import { callsTo, GITLAB_FLAGS, type GitLabPlace, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { openSecretStore } from './secret-store.ts';
import { exitOf, linesText, type Setup, type SetupLine, type SetupMode } from './setup-step.ts';

/** Large instances answer lists of groups slowly. */
const TIMEOUT_MS = 15_000;
const DEADLINE_MS = 60_000;
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

/** Opens GitLab and the secrets. @throws {UsageError} naming the flag. */
export function readAdmin(flags: FlagValues<typeof ADMIN_FLAGS>, io: TerminalIo) {
  const place = readGitLabPlace(flags, io);
  const { controller, name = 'tollgate', secrets = SECRETS } = flags;
  return {
    place,
    gitlab: createGitLabAdministration({
      ...callsTo(place),
      ...{ timeoutMs: TIMEOUT_MS, deadlineMs: DEADLINE_MS },
    }),
    store: openSecretStore(secrets, io.cwd),
    name,
    controllerId:
      controller === undefined ? undefined : readWhole('controller', controller, 1, Number.MAX_SAFE_INTEGER),
    /** One line that counts up, on a terminal only. */
    progress: (done: number, of: number): void => {
      if (io.progress) io.err(done >= of ? '\r\u001b[K' : `\r${done} of ${of} groups`);
    },
  };
}

/** @throws {UsageError} naming the flag. */
export function readSetup(
  flags: FlagValues<typeof SETUP_FLAGS>,
  mode: SetupMode,
  io: TerminalIo,
): Setup & { readonly place: GitLabPlace } {
  const runnerIds = flags.runner.map((id) => readWhole('runner', id, 1, Number.MAX_SAFE_INTEGER));
  const { instance, 'runner-tag': tags, 'runner-owner': owner, 'runner-token-file': tokenFile } = flags;
  if (instance && (runnerIds.length > 0 || tags.length > 0 || owner !== undefined))
    throw new UsageError('--instance: a controller has the whole instance or single runners, never both');
  return {
    ...readAdmin(flags, io),
    mode,
    scope: { instance, runnerIds, tags, owner },
    hookUrl: readHookUrl(flags['webhook-url']),
    runnerToken:
      tokenFile === undefined
        ? undefined
        : readUserFile(resolve(io.cwd, tokenFile), `--runner-token-file "${tokenFile}"`).trim(),
    nowMs: io.nowMs,
  };
}

/** @throws {UsageError} */
export function readHookUrl(url: string | undefined): string | undefined {
  if (url === undefined || (/^https?:\/\//.test(url) && URL.canParse(url))) return url;
  throw new UsageError(`--webhook-url "${url}": expected an address such as https://x.example.com/`);
}

/** Prints the report of a command and returns its exit code. */
export function printLines(
  lines: readonly SetupLine[],
  { baseUrl }: GitLabPlace,
  json: boolean,
  io: TerminalIo,
): ExitCode {
  if (json) io.out(`${JSON.stringify({ gitlab: baseUrl, lines })}\n`);
  else io.out(linesText(lines, paintWhen(io.colours)));
  return exitOf(lines);
}
