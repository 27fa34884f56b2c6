/** The commands' way to GitLab and to a console: one private authority and the usual variables for proxies. */

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { notReached } from '../../functions/core/contract/network.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { type TerminalIo, UsageError } from '../terminal/command.ts';
import { readUserFile } from '../terminal/user-file.ts';

const ENV_CA_FILE = 'TOLLGATE_CA_FILE';
const PROXY_VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

/** The PEM text in `TOLLGATE_CA_FILE`; undefined: only public authorities count. @throws {UsageError} */
export function commandAuthority({ env }: Pick<TerminalIo, 'env'>): string | undefined {
  const file = env[ENV_CA_FILE];
  if (file === undefined || file === '') return undefined;
  const ca = readUserFile(file, `${ENV_CA_FILE} ${file}`);
  if (!ca.includes('-----BEGIN CERTIFICATE-----'))
    throw new UsageError(`${ENV_CA_FILE} ${file}: is not PEM; convert it with openssl x509 -inform der`);
  return ca;
}

/** Rejects with one line: address, cause and remedy. @throws {UsageError} for a file that holds no certificate. */
export function commandFetch(io: Pick<TerminalIo, 'env'>): typeof fetch {
  const ca = commandAuthority(io);
  const proxy = PROXY_VARIABLES.find((name) => io.env[name]);
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (proxy !== undefined && (major < 22 || (major === 22 && minor < 21) || (major === 24 && minor < 5)))
    throw new UsageError(
      `${proxy}: Node ${process.versions.node} connects without a proxy; use Node 22.21, 24.5 or newer`,
    );
  let made: Promise<typeof fetch> | undefined;
  return async (input, init) => {
    // Most commands make no call, and need not load its modules.
    made ??= import('../../functions/core/gitlab/gitlab-fetch.ts').then(({ gitlabFetch }) =>
      gitlabFetch({ ca, env: io.env }),
    );
    return (await made)(input, init).catch((cause: unknown) => {
      const url = input instanceof Request ? input.url : String(input);
      throw new Error(notReached('The server', url, cause), { cause });
    });
  };
}

export const ENV_CONSOLE = 'TOLLGATE_CONSOLE';
/** The `id_token` of a CI job, which asks in its own name. */
export const ENV_ID_TOKEN = 'TOLLGATE_ID_TOKEN';

const OWNER_ONLY = 0o600;
const FOLDER_OWNER_ONLY = 0o700;
const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];

type Env = TerminalIo['env'];

/** `https://budget.example.com`, without a path. @throws {UsageError} if a session would be sent in the clear. */
export function readOrigin(word: string): string {
  const url = URL.canParse(word) ? new URL(word) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.includes(url.hostname));
  if (url !== undefined && isSafe && url.username === '' && url.password === '') return url.origin;
  throw new UsageError('expected the address of a console, e.g. https://budget.example.com');
}

export const readSession = (origin: string, env: Env): string | undefined => readSessions(env)[origin];

export function writeSession(origin: string, session: string | undefined, env: Env): void {
  const { [origin]: _, ...others } = readSessions(env);
  const file = sessionsFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: FOLDER_OWNER_ONLY });
  const next = `${file}.next`;
  const kept = session === undefined ? others : { ...others, [origin]: session };
  writeFileSync(next, `${JSON.stringify(kept)}\n`, { mode: OWNER_ONLY });
  // The mode of a file that was left there is its own.
  chmodSync(next, OWNER_ONLY);
  renameSync(next, file);
}

function readSessions(env: Env): Readonly<Record<string, string>> {
  const file = sessionsFile(env);
  if (!existsSync(file)) return {};
  try {
    const sessions: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const isMap = isRecord(sessions) && Object.values(sessions).every((each) => typeof each === 'string');
    if (isMap) return sessions as Readonly<Record<string, string>>;
  } catch {
    // The message of another's error could quote a session.
  }
  throw new Error(`${file} is not readable; remove it and run tollgate login again`);
}

const sessionsFile = (env: Env): string =>
  join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'tollgate', 'sessions.json');
