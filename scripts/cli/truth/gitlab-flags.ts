import { resolve } from 'node:path';
import { type TerminalIo, UsageError } from '../../terminal/command.ts';
import { flagLines } from '../../terminal/define-command.ts';
import { text } from '../../terminal/flags.ts';
import { readUserFile } from '../../terminal/user-file.ts';
import { commandFetch } from '../command-fetch.ts';

export const GITLAB_FLAGS = {
  gitlab: text('<url>', 'GitLab, e.g. https://gitlab.example.com'),
  'token-file': text(
    '<file>',
    "holds a token that may read the API; an administrator's to see all runners and groups. $TOLLGATE_CA_FILE names a private authority's certificate, $HTTPS_PROXY and $NO_PROXY the proxy",
  ),
};

/** For help texts that are not made from rows yet. */
export const GITLAB_FLAGS_HELP = flagLines(GITLAB_FLAGS);

export interface GitLabPlace {
  /** No trailing slash. */
  readonly baseUrl: string;
  readonly token: string;
  /** By the proxy and with the private authority of the environment. */
  readonly fetch: typeof fetch;
}

/** @throws {UsageError} naming the flag; never the token. */
export function readGitLabPlace(
  flags: { readonly gitlab?: string | undefined; readonly 'token-file'?: string | undefined },
  io: Pick<TerminalIo, 'cwd' | 'env'>,
): GitLabPlace {
  const { gitlab, 'token-file': file } = flags;
  if (gitlab === undefined)
    throw new UsageError("--gitlab is missing: expected GitLab's address, e.g. https://gitlab.example.com");
  if (!/^https?:\/\//.test(gitlab) || !URL.canParse(gitlab))
    throw new UsageError(`--gitlab "${gitlab}": expected e.g. https://gitlab.example.com`);
  const { origin, pathname, username, password } = new URL(gitlab);
  if (username !== '' || password !== '')
    throw new UsageError('--gitlab: expected an address without a name or password in it');
  if (file === undefined)
    throw new UsageError('--token-file is missing: expected a file that holds a token and nothing else');
  return {
    baseUrl: `${origin}${pathname}`.replace(/\/+$/, ''),
    token: readToken(file, io),
    fetch: commandFetch(io),
  };
}

function readToken(file: string, io: Pick<TerminalIo, 'cwd'>): string {
  const token = readUserFile(resolve(io.cwd, file), `--token-file "${file}"`).trim();
  // A header allows neither; never print the content.
  if (token === '' || /\s/.test(token))
    throw new UsageError(`--token-file "${file}": expected one token and nothing else in it`);
  return token;
}
