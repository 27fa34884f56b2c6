import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { parseJobReference } from '../../functions/answers/job/job-reference.ts';
import { standIn, type TerminalIo, UsageError } from '../terminal/command.ts';
import { command, optionalWord, print, text, toggle } from '../terminal/define.ts';
import { readInProcess } from './api/answers.ts';
import { consoleClient } from './api/open-api.ts';
import { commandFetch, ENV_CONSOLE, readOrigin, readSession, writeSession } from './command-fetch.ts';

const TIMEOUT_MS = 20_000;
const SLOWER_SECONDS = 5;

const BegunSchema = z.object({
  deviceCode: z.string(),
  userCode: z.string(),
  verificationUri: z.url({ protocol: /^https?$/ }),
  expiresInSeconds: z.number().positive().max(3_600),
  intervalSeconds: z.number().min(1).max(60),
});
const SessionSchema = z.union([
  z.object({ session: z.string().regex(/^[\w-]{43}$/) }),
  z.object({ wait: z.enum(['authorization_pending', 'slow_down']) }),
]);
const RefusedSchema = z.object({ error: z.object({ message: z.string(), remedy: z.string() }) });

const ADDRESS = {
  console: optionalWord('<console url>', `e.g. https://budget.example.com (default: $${ENV_CONSOLE})`),
};

const login = command({
  name: 'login',
  about: `Open the address that is shown, compare the code, and allow it. Your roles are those you have on its pages. The session lasts ten
hours and is kept in $XDG_CONFIG_HOME/tollgate/sessions.json, for you alone. tollgate logout ends it.`,
  words: ADDRESS,
  examples: ['tollgate login https://budget.example.com'],
  exits: { 0: 'signed in', 1: 'declined, too late or no answer' },
  run: async ({ flags, words }, io) => {
    const origin = chooseOrigin(words.console, io);
    const send = standIn(io, commandFetch)(io);
    const begun = BegunSchema.parse(await readSignInAnswer(await post(send, `${origin}/signin/device`)));
    io.err(`Open ${begun.verificationUri} and check that it shows this code: ${begun.userCode}\n`);
    const session = await awaitSession(origin, begun, send, io);
    writeSession(origin, session, io.env);
    const { username, roles } = await readInProcess(consoleClient(origin, io, send).me.$get());
    const text = `Signed in to ${origin} as ${username} (${roles.join(', ') || 'no role'}).\n`;
    return print(io, flags, { console: origin, username, roles }, () => text);
  },
});

const logout = command({
  name: 'logout',
  words: ADDRESS,
  flags: { all: toggle('ends all your sessions at the console, in browsers and terminals') },
  examples: ['tollgate logout', 'tollgate logout https://budget.example.com --all'],
  exits: {
    0: 'signed out, or not signed in',
    1: 'the console does not answer (the session is kept, to be ended later)',
  },
  run: async ({ flags, words }, io) => {
    const { all } = flags;
    const origin = chooseOrigin(words.console, io);
    const session = readSession(origin, io.env);
    const notSignedIn = `--all: ends the sessions of the user signed in here; run tollgate login ${origin} before`;
    if (session === undefined) {
      if (all) throw new UsageError(notSignedIn);
      return print(io, flags, { console: origin }, () => `Not signed in to ${origin} here.\n`);
    }
    const url = `${origin}/signout${all ? '?everywhere=yes' : ''}`;
    const response = await post(commandFetch(io), url, undefined, { authorization: `Bearer ${session}` });
    // 401: it has ended already, and the console does not know whose sessions to end.
    if (all && response.status === 401) throw new UsageError(notSignedIn);
    if (response.status !== 303 && response.status !== 401)
      throw new Error(`${origin} did not end the session (${response.status}); try again`);
    writeSession(origin, undefined, io.env);
    const text = `Signed out of ${origin}${all ? ', everywhere' : ''}.\n`;
    return print(io, flags, { console: origin }, () => text);
  },
});

function chooseOrigin(given: string | undefined, { env }: Pick<TerminalIo, 'env'>): string {
  const named = given ?? env[ENV_CONSOLE];
  if (!named)
    throw new UsageError(
      `No console is named. Add its address, e.g. https://budget.example.com, or set $${ENV_CONSOLE}`,
    );
  return readOrigin(named);
}

async function awaitSession(
  origin: string,
  { deviceCode, intervalSeconds, expiresInSeconds }: z.infer<typeof BegunSchema>,
  send: typeof fetch,
  io: TerminalIo,
): Promise<string> {
  const untilMs = io.nowMs() + expiresInSeconds * 1_000;
  let waitSeconds = intervalSeconds;
  while (io.nowMs() < untilMs) {
    await standIn(io, sleep)(waitSeconds * 1_000);
    const response = await post(send, `${origin}/signin/device/session`, { deviceCode });
    if (response.status === 429) {
      waitSeconds += SLOWER_SECONDS;
      continue;
    }
    const answer = SessionSchema.parse(await readSignInAnswer(response));
    if ('session' in answer) return answer.session;
    if (answer.wait === 'slow_down') waitSeconds += SLOWER_SECONDS;
  }
  throw new Error('the code was not allowed in time; run tollgate login again');
}

const post = (
  send: typeof fetch,
  url: string,
  body: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  send(url, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });

async function readSignInAnswer(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body;
  const refused = RefusedSchema.safeParse(body);
  if (!refused.success) throw new Error(`the console answers ${response.status}; expected its address`);
  const { message, remedy } = refused.data.error;
  throw new Error(`${message} ${remedy}`);
}

const open = command({
  name: 'open',
  about: `Without either it opens the overview. If no browser can be opened, or there is no terminal, it prints the address, as with --json.`,
  words: {
    page: optionalWord(
      '<group | job>',
      'a full path such as acme/payments, or a part of one: the search opens; or the id of a job, 4711, or the address of its page in GitLab',
    ),
  },
  flags: { console: text('<url>', `which console (default: $${ENV_CONSOLE})`) },
  examples: ['tollgate open acme/payments', 'tollgate open 4711'],
  run: async ({ flags, words }, io) => {
    const address = `${chooseOrigin(flags.console, io)}${consolePath(words.page)}`;
    const isOpened = !flags.json && io.progress && (await standIn(io, openBrowser)(address));
    return print(io, flags, { address }, () => (isOpened ? `Opened ${address}\n` : `${address}\n`));
  },
});

function consolePath(page: string | undefined): string {
  if (page === undefined) return '/';
  const job = parseJobReference(page);
  return job.ok ? `/jobs/${job.value.jobId}` : `/?q=${encodeURIComponent(page)}`;
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

export const openBrowser = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
    const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore' });
    child.on('error', () => resolve(false));
    child.on('spawn', () => {
      child.unref();
      resolve(true);
    });
  });

export const commands = [login, logout, open];
