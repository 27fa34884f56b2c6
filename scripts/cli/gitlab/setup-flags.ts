import { createGitLabAdministration } from '../../../functions/core/gitlab/administration.ts';
import { type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { orElse, readWhole, text, texts, type ValuesOf } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { callsTo, neededGitLab, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { openSecretStore } from './secret-store.ts';
import { exitOf, linesText, type SetupLines } from './setup-step.ts';

const TIMES = { timeoutMs: 15_000, deadlineMs: 60_000 };

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
    // The project's own folder for uncommitted files.
    '.tollgate/secrets',
  ),
  name: orElse(text('<name>', "the controller's description and the webhooks' name"), 'tollgate'),
};

export const SETUP_FLAGS = {
  ...ADMIN_FLAGS,
  'webhook-url': text(
    '<url>',
    'gives every top-level group a webhook to this address (WebhookUrl of a deployment)',
    readHookUrl,
  ),
  runner: texts('<id>', 'asks only about jobs of this runner; several times for several (default: all jobs)'),
};

export type Admin = ReturnType<typeof readAdmin>;
export type Setup = ReturnType<typeof readSetup>;

/** Opens GitLab and the secrets. @throws {UsageError} naming the flag. */
export function readAdmin(flags: ValuesOf<typeof ADMIN_FLAGS>, io: TerminalIo) {
  const place = readGitLabPlace(flags, io);
  return {
    place,
    gitlab: createGitLabAdministration({ ...callsTo(place), ...TIMES }),
    store: openSecretStore(flags.secrets, io.cwd),
    name: flags.name,
    /** One line that counts up, on a terminal only. */
    progress: (done: number, of: number): void => {
      if (io.progress) io.err(done >= of ? '\r\u001b[K' : `\r${done} of ${of} groups`);
    },
  };
}

/** @throws {UsageError} naming the flag. */
export function readSetup(flags: ValuesOf<typeof SETUP_FLAGS>, mayChange: boolean, io: TerminalIo) {
  const runnerIds = flags.runner.map((id) => readWhole('runner', id, 1, Number.MAX_SAFE_INTEGER));
  return { ...readAdmin(flags, io), mayChange, runnerIds, hookUrl: flags['webhook-url'] };
}

export function printLines({ all }: SetupLines, { place }: Admin, json: boolean, io: TerminalIo): ExitCode {
  if (json) io.out(`${JSON.stringify({ gitlab: place.baseUrl, lines: all })}\n`);
  else io.out(linesText(all, paintWhen(io.colours)));
  return exitOf(all);
}
