import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type TerminalIo, UsageError } from '../../terminal/command.ts';

/** Put into a command's flags by `...GITLAB_FLAGS`. */
export const GITLAB_FLAGS = { gitlab: 'text', 'token-file': 'text' } as const;

export const GITLAB_FLAGS_HELP = `  --gitlab <url>       GitLab, e.g. https://gitlab.example.com
  --token-file <file>  holds a token that may read the API; an administrator's to see all runners`;

export interface GitLabPlace {
  /** No trailing slash. */
  readonly baseUrl: string;
  readonly token: string;
}

/** @throws {UsageError} naming the flag; never the token. */
export function readGitLabPlace(
  flags: { readonly gitlab?: string | undefined; readonly 'token-file'?: string | undefined },
  io: Pick<TerminalIo, 'cwd'>,
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
  return { baseUrl: `${origin}${pathname}`.replace(/\/+$/, ''), token: readToken(file, io) };
}

function readToken(file: string, io: Pick<TerminalIo, 'cwd'>): string {
  let text: string;
  try {
    text = readFileSync(resolve(io.cwd, file), 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`--token-file "${file}": could not be read (${code ?? 'unknown error'})`);
  }
  // A header takes neither; what the file says instead is nobody's business.
  if (text === '' || /\s/.test(text))
    throw new UsageError(`--token-file "${file}": expected one token and nothing else in it`);
  return text;
}
