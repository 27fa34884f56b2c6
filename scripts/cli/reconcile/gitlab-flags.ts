import { resolve } from 'node:path';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { type Flag, text, whole } from '../../terminal/define.ts';
import { readUserFile } from '../../terminal/user-file.ts';
import { commandFetch } from '../command-fetch.ts';

const TOKEN_HELP = "holds a token that may read the API; an administrator's to see all runners";

/** @returns the address without a slash at its end. @throws {UsageError} */
export function readGitLabUrl(given: string): string {
  const url = /^https?:\/\//.test(given) ? URL.parse(given) : null;
  if (url === null) throw new UsageError(`--gitlab "${given}": expected e.g. https://gitlab.example.com`);
  if (url.username !== '' || url.password !== '')
    throw new UsageError('--gitlab: expected an address without a name or password in it');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

export const GITLAB_FLAGS = {
  gitlab: text('<url>', 'GitLab, e.g. https://gitlab.example.com', readGitLabUrl),
  'token-file': text(
    '<file>',
    `${TOKEN_HELP}. $TOLLGATE_CA_FILE names a private authority's certificate, $HTTPS_PROXY and $NO_PROXY the proxy`,
  ),
};

/** Shown as needed in the usage line; {@link readGitLabPlace} refuses to do without. */
const shownAsNeeded = <Value>(flag: Flag<Value>): Flag<Value> => ({ ...flag, isRequired: true });

export const neededGitLab = (token = GITLAB_FLAGS['token-file'].help) => ({
  gitlab: shownAsNeeded(GITLAB_FLAGS.gitlab),
  'token-file': shownAsNeeded(text('<file>', token)),
});

export const CONTROLLER_FLAG = text(
  '<id>',
  'number of the runner controller; not needed if GitLab has only one',
  whole(1, Number.MAX_SAFE_INTEGER),
);

export type GitLabPlace = ReturnType<typeof readGitLabPlace>;

/** @throws {UsageError} naming the flag; never the token. */
export function readGitLabPlace(
  flags: { readonly gitlab?: string | undefined; readonly 'token-file'?: string | undefined },
  io: Pick<TerminalIo, 'cwd' | 'env' | 'nowMs' | 'standIns'>,
) {
  const { gitlab, 'token-file': file } = flags;
  if (gitlab === undefined)
    throw new UsageError("--gitlab is missing: expected GitLab's address, e.g. https://gitlab.example.com");
  if (file === undefined)
    throw new UsageError('--token-file is missing: expected a file that holds a token and nothing else');
  const token = readTokenFile(file, resolve(io.cwd, file));
  return {
    baseUrl: gitlab,
    token: async () => token,
    // By the proxy and with the private authority of the environment.
    fetch: standIn(io, commandFetch)(io),
    clock: { ...standIn(io, systemClock), nowMs: io.nowMs },
    random: standIn(io, Math.random),
  };
}

/** @param named - the file as it was given. @throws {UsageError} */
export function readTokenFile(named: string, file: string): string {
  const text = readUserFile(file, `--token-file "${named}"`).trim();
  // A header allows neither; never print the content.
  if (text === '' || /\s/.test(text))
    throw new UsageError(`--token-file "${named}": expected one token and nothing else in it`);
  return text;
}
