import { resolve } from 'node:path';
import { type LedgerClock, systemClock } from '../../../functions/core/environment/index.ts';
import type { RestCallDeps } from '../../../functions/core/gitlab/index.ts';
import { type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readUserFile } from '../../terminal/user-file.ts';
import { commandFetch } from '../command-fetch.ts';

/** Put into a command's flags by `...GITLAB_FLAGS`. */
export const GITLAB_FLAGS = { gitlab: 'text', 'token-file': 'text' } as const;

export const GITLAB_FLAGS_HELP = `  --gitlab <url>       GitLab, e.g. https://gitlab.example.com
  --token-file <file>  holds a token that may read the API; an administrator's to see all runners
                       $TOLLGATE_CA_FILE names a private authority's certificate, $HTTPS_PROXY and $NO_PROXY the proxy`;

export interface GitLabPlace {
  /** No trailing slash. */
  readonly baseUrl: string;
  readonly token: string;
  /** By the proxy and with the private authority of the environment. */
  readonly fetch: typeof fetch;
  readonly clock: LedgerClock;
  readonly random?: () => number;
}

/** What a client of GitLab needs to call this GitLab. */
export const callsTo = ({ token, ...place }: GitLabPlace): RestCallDeps => ({
  ...place,
  token: async () => token,
});

/** @throws {UsageError} naming the flag; never the token. */
export function readGitLabPlace(
  flags: { readonly gitlab?: string | undefined; readonly 'token-file'?: string | undefined },
  io: Pick<TerminalIo, 'cwd' | 'env' | 'nowMs' | 'fetch' | 'clock' | 'random'>,
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
    fetch: io.fetch ?? commandFetch(io),
    clock: { ...(io.clock ?? systemClock), nowMs: io.nowMs },
    ...(io.random !== undefined && { random: io.random }),
  };
}

function readToken(file: string, io: Pick<TerminalIo, 'cwd'>): string {
  const text = readUserFile(resolve(io.cwd, file), `--token-file "${file}"`).trim();
  // A header allows neither; never print the content.
  if (text === '' || /\s/.test(text))
    throw new UsageError(`--token-file "${file}": expected one token and nothing else in it`);
  return text;
}
