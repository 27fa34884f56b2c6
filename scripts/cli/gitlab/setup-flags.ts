/** Flags of the commands that administer GitLab. */
import { resolve } from 'node:path';
import { createGitLabAdministration } from '../../../functions/core/gitlab/administration.ts';
import { type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { orElse, readWhole, text, texts, toggle, type ValuesOf, whole } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { readUserFile } from '../../terminal/user-file.ts';
import { callsTo, type GitLabPlace, neededGitLab, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { openSecretStore } from './secret-store.ts';
import { exitOf, linesText, type Setup, type SetupLine, type SetupMode } from './setup-step.ts';

/** Large instances answer lists of groups slowly. */
const TIMEOUT_MS = 15_000;
const DEADLINE_MS = 60_000;
/** The project's own folder for what is not committed. */
const SECRETS = '.tollgate/secrets';

/** @throws {UsageError} */
export function readHookUrl(url: string): string {
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new UsageError(`--webhook-url "${url}": expected an address such as https://x.example.com/`);
}

export const ADMIN_FLAGS = {
  ...neededGitLab(
    "holds an administrator's token of scope api (admin_mode where Admin Mode is on); read_api to look",
  ),
  secrets: orElse(
    text(
      '<where>',
      'keeps router-token, webhook-secrets and webhook-tokens: a folder, or ssm:/tollgate/prod. In a folder the files are for their owner alone',
    ),
    SECRETS,
  ),
  name: orElse(text('<name>', "the controller's description and the webhooks' name"), 'tollgate'),
  controller: text(
    '<id>',
    'adopts the controller with this number, whatever its description',
    whole(1, Number.MAX_SAFE_INTEGER),
  ),
};

export const SETUP_FLAGS = {
  ...ADMIN_FLAGS,
  'webhook-url': text(
    '<url>',
    'gives every top-level group a webhook to this address (WebhookUrl of a deployment)',
    readHookUrl,
  ),
  instance: toggle('asks about jobs of all runners (default if the controller has no scope yet)'),
  runner: texts('<id>', 'asks only about jobs of this runner of the instance; may be given several times'),
  'runner-tag': texts('<tag>', 'likewise for runners with this tag; with several tags, those that have all'),
  'runner-owner': text('<name>', 'likewise for runners that this user made'),
  'runner-token-file': text('<file>', "holds any runner's token: GitLab says where it sends that runner"),
};

/** Opens GitLab and the secrets. @throws {UsageError} naming the flag. */
export function readAdmin(flags: ValuesOf<typeof ADMIN_FLAGS>, io: TerminalIo) {
  const place = readGitLabPlace(flags, io);
  const { controller, name, secrets } = flags;
  return {
    place,
    gitlab: createGitLabAdministration({
      ...callsTo(place),
      ...{ timeoutMs: TIMEOUT_MS, deadlineMs: DEADLINE_MS },
    }),
    store: openSecretStore(secrets, io.cwd),
    name,
    controllerId: controller,
    /** One line that counts up, on a terminal only. */
    progress: (done: number, of: number): void => {
      if (io.progress) io.err(done >= of ? '\r\u001b[K' : `\r${done} of ${of} groups`);
    },
  };
}

/** @throws {UsageError} naming the flag. */
export function readSetup(
  flags: ValuesOf<typeof SETUP_FLAGS>,
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
    hookUrl: flags['webhook-url'],
    runnerToken:
      tokenFile === undefined
        ? undefined
        : readUserFile(resolve(io.cwd, tokenFile), `--runner-token-file "${tokenFile}"`).trim(),
    nowMs: io.nowMs,
  };
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
