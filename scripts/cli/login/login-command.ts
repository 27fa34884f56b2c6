import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Command, EXIT, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { consoleClient } from '../api/console-client.ts';
import { commandFetch } from '../command-fetch.ts';
import { ENV_CONSOLE, keepSession, keptSession, originOf } from './kept-sessions.ts';

/** Replaced by tests. */
interface LoginDeps {
  /** @default by the proxy and with the private authority of the environment */
  readonly fetch?: typeof fetch;
  readonly sleep: (ms: number) => Promise<unknown>;
}

const DEPS: LoginDeps = { sleep };
const TIMEOUT_MS = 20_000;
const SLOWER_SECONDS = 5;
const ADDRESS = { max: 1, what: 'one address of a console' };

const BegunSchema = z.object({
  deviceCode: z.string(),
  userCode: z.string(),
  verificationUri: z.url({ protocol: /^https?$/ }),
  expiresInSeconds: z.number().positive().max(3_600),
  intervalSeconds: z.number().min(1).max(60),
});
const AskedSchema = z.union([
  z.object({ session: z.string().regex(/^[\w-]{43}$/) }),
  z.object({ wait: z.enum(['authorization_pending', 'slow_down']) }),
]);
const RefusedSchema = z.object({ error: z.object({ message: z.string(), remedy: z.string() }) });

const LOGIN_HELP = `tollgate login [<console url>] [flags]

Signs this terminal in to a console with GitLab: open the address that is shown, compare the code, and allow it. Your roles are
those you have on its pages. The session lasts ten hours and is kept in $XDG_CONFIG_HOME/tollgate/sessions.json, for you alone.

  <console url>        e.g. https://budget.example.com   (default: $${ENV_CONSOLE})
  --json               one JSON object

See also: tollgate logout

Exit codes: 0 signed in, 1 declined, too late or no answer, 3 wrong usage`;

export const loginCommandOn = (deps: LoginDeps): Command => ({
  name: 'login',
  summary: 'Signs this terminal in to a console with GitLab, so that commands need no AWS keys',
  help: LOGIN_HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, {}, ADDRESS);
    const origin = originIn(words, io);
    const send = deps.fetch ?? commandFetch(io);
    const begun = BegunSchema.parse(await answerOfSignIn(await post(send, `${origin}/signin/device`)));
    io.err(`Open ${begun.verificationUri} and check that it shows this code: ${begun.userCode}\n`);
    const session = await awaitSession(origin, begun, { ...deps, send }, io);
    keepSession(origin, session, io.env);
    const { username, roles } = await answeredInProcess(consoleClient(origin, io, send).me.$get());
    const rolesText = roles.length === 0 ? 'no role' : roles.join(', ');
    io.out(
      values.json
        ? `${JSON.stringify({ console: origin, username, roles })}\n`
        : `Signed in to ${origin} as ${username} (${rolesText}).\n`,
    );
    return EXIT.ok;
  },
});

export const logoutCommand: Command = {
  name: 'logout',
  summary: 'Ends the session that tollgate login began, at the console and here',
  help: `tollgate logout [<console url>] [flags]

Ends the session that tollgate login began, at the console and here.

  <console url>        e.g. https://budget.example.com   (default: $${ENV_CONSOLE})
  --all                ends all your sessions at the console, in browsers and terminals
  --json               one JSON object

Exit codes: 0 signed out, 1 the console does not answer (the session is kept, to be ended later), 3 wrong usage`,
  run: async (args, io) => {
    const { values, words } = readFlags(args, { all: 'switch' }, ADDRESS);
    const origin = originIn(words, io);
    const session = keptSession(origin, io.env);
    if (values.all && session === undefined) throw new UsageError(notSignedIn(origin));
    if (session !== undefined) {
      const authorization = `Bearer ${session}`;
      const everywhere = values.all ? '?everywhere=yes' : '';
      const response = await post(commandFetch(io), `${origin}/signout${everywhere}`, undefined, {
        authorization,
      });
      if (values.all && response.status === 401) throw new UsageError(notSignedIn(origin));
      // 401: it has ended already.
      if (response.status !== 303 && response.status !== 401)
        throw new Error(`${origin} did not end the session (${response.status}); try again`);
      keepSession(origin, undefined, io.env);
    }
    const wasSignedIn = session !== undefined;
    const text = wasSignedIn
      ? `Signed out of ${origin}${values.all ? ', everywhere' : ''}.`
      : `Nobody was signed in to ${origin} here.`;
    io.out(values.json ? `${JSON.stringify({ console: origin, wasSignedIn })}\n` : `${text}\n`);
    return EXIT.ok;
  },
};

const notSignedIn = (origin: string): string =>
  `--all: ends the sessions of whoever is signed in here; run tollgate login ${origin} before`;

export const loginCommand: Command = loginCommandOn(DEPS);

function originIn([word]: readonly string[], { env }: Pick<TerminalIo, 'env'>): string {
  const named = word ?? env[ENV_CONSOLE];
  if (!named) throw new UsageError(`expected the address of a console, or $${ENV_CONSOLE}`);
  return originOf(named);
}

/** Asks no faster than GitLab wants, and no longer than the code lasts. */
async function awaitSession(
  origin: string,
  { deviceCode, intervalSeconds, expiresInSeconds }: z.infer<typeof BegunSchema>,
  { send, sleep: pause }: LoginDeps & { readonly send: typeof fetch },
  io: TerminalIo,
): Promise<string> {
  const untilMs = io.nowMs() + expiresInSeconds * 1_000;
  let waitSeconds = intervalSeconds;
  while (io.nowMs() < untilMs) {
    await pause(waitSeconds * 1_000);
    const response = await post(send, `${origin}/signin/device/session`, { deviceCode });
    if (response.status === 429) {
      waitSeconds += SLOWER_SECONDS;
      continue;
    }
    const asked = AskedSchema.parse(await answerOfSignIn(response));
    if ('session' in asked) return asked.session;
    if (asked.wait === 'slow_down') waitSeconds += SLOWER_SECONDS;
  }
  throw new Error('nobody allowed the code in time; run tollgate login again');
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

/** @throws {Error} with what the console says. */
async function answerOfSignIn(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body;
  const refused = RefusedSchema.safeParse(body);
  if (!refused.success) throw new Error(`the console answers ${response.status}; expected its address`);
  const { message, remedy } = refused.data.error;
  throw new Error(`${message} ${remedy}`);
}
