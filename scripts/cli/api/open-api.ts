import { resolve } from 'node:path';
import { apiClient } from '../../../functions/console/api/client.ts';
import { type Directory, type DirectoryGroup, indexDirectory } from '../../../policies/directory.ts';
import { ownName, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { commandFetch, ENV_CONSOLE, ENV_ID_TOKEN, readOrigin, readSession } from '../command-fetch.ts';
import type { LedgerFlags } from '../ledger-flags.ts';
import type { OpenLedger } from '../open-ledger.ts';
import type { RulesFlags } from '../rules-flags.ts';
import { type ApiClient, readInProcess } from './answers.ts';

export interface BudgetContext {
  readonly api: ApiClient;
  readonly apiOf: (name: string) => ApiClient;
  readonly currency: string;
  /** Runner classes of the policy; undefined: a console has its own. */
  readonly runnerClasses?: readonly string[];
  readonly directory: Directory;
  readonly packedFile: string;
  /** The program's name in a shell. */
  readonly own: string;
}

export type ContextFlags = LedgerFlags &
  RulesFlags &
  Readonly<Partial<Record<'actor' | 'topic', string | undefined>>>;

export interface OpenBooks {
  /** @default to edit */
  readonly open?: OpenLedger | 'to read';
  /** False: a named file of limits replaces the published ones. @default true */
  readonly readsPublished?: boolean;
}

export async function withBudget<T>(
  flags: ContextFlags,
  io: TerminalIo,
  ask: (budget: BudgetContext) => Promise<T>,
  how: OpenBooks = {},
): Promise<T> {
  // The report's --console is for its links.
  const console = 'topic' in flags ? undefined : chooseConsole(flags, io);
  if (console === undefined) {
    // A console needs none of the ledger's modules, which are most of the program.
    const { withBooks } = await import('./open-books.ts');
    return withBooks(flags, io, ask, how);
  }
  if (flags.actor !== undefined)
    throw new UsageError('--actor belongs to --ledger: the console knows who you are');
  const api = consoleClient(console, io);
  const { currency, directory } = await directorySeen(api);
  const named = flags.directory && resolve(io.cwd, flags.directory);
  const context = {
    api,
    apiOf: () => api,
    currency,
    packedFile: flags.limits ?? 'policies/limits.yaml',
    own: ownName(io),
  };
  if (named === undefined) return ask({ ...context, directory });
  const { readDirectory } = await import('../../policy/read-documents.ts');
  return ask({ ...context, directory: readDirectory(named) });
}

/** For questions about jobs. @param ask - `books` is undefined where a console answers: it knows the groups itself. */
export async function withApi<T>(
  flags: LedgerFlags & RulesFlags,
  io: TerminalIo,
  ask: (api: ApiClient, books?: BudgetContext) => Promise<T>,
  open?: OpenLedger,
): Promise<T> {
  const console = chooseConsole(flags, io);
  if (console !== undefined) return ask(consoleClient(console, io));
  return withTable(flags, io, (books) => ask(books.api, books), open);
}

/** The same for read-only commands. Missing tables are empty, and a named file of limits replaces the published ones. */
export const withTable = <T>(
  flags: ContextFlags,
  io: TerminalIo,
  ask: (books: BudgetContext) => Promise<T>,
  open: OpenBooks['open'] = 'to read',
): Promise<T> => withBudget(flags, io, ask, { open, readsPublished: flags.limits === undefined });

/** A month of a large instance takes a while. */
const CONSOLE_TIMEOUT_MS = 30_000;
const PAGE_GROUPS = '100';
/** Two thousand groups; others need a GitLab id or --directory. */
const PAGES_MAX = 20;

/** Returns the console's address from flag or variable; undefined: use a table. @throws {UsageError} */
export function chooseConsole(flags: LedgerFlags, { env }: Pick<TerminalIo, 'env'>): string | undefined {
  const namesTable = [flags.ledger, flags.instance, flags.region, flags.endpoint].some(
    (flag) => flag !== undefined,
  );
  if (flags.console !== undefined && namesTable) throw new UsageError('--console and --ledger: expected one');
  const named = flags.console ?? (namesTable ? undefined : env[ENV_CONSOLE]);
  return named ? readOrigin(named) : undefined;
}

export const canUseConsole = (origin: string, { env }: Pick<TerminalIo, 'env'>): boolean =>
  Boolean(env[ENV_ID_TOKEN]) || readSession(origin, env) !== undefined;

/** @throws {UsageError} without a sign-in there. */
export function consoleClient(
  origin: string,
  { env }: Pick<TerminalIo, 'env'>,
  send: typeof fetch = commandFetch({ env }),
): ApiClient {
  const session = env[ENV_ID_TOKEN] || readSession(origin, env);
  if (session === undefined)
    throw new UsageError(
      `not signed in; expected tollgate login ${origin} before, or a job's id_token in $${ENV_ID_TOKEN}`,
    );
  return apiClient({
    origin,
    session,
    // The console does not redirect; never send the session elsewhere.
    fetch: async (input, init) => {
      const signal = AbortSignal.timeout(CONSOLE_TIMEOUT_MS);
      const response = await send(input, { ...init, redirect: 'manual', signal });
      const isPage = /html/.test(response.headers.get('content-type') ?? '');
      if (isPage || (response.status >= 300 && response.status < 400))
        throw new Error(
          `${origin} answered with ${isPage ? 'a web page' : 'a redirect'} (${response.status}). Check the console's address, and that no sign-in page stands in front of its API.`,
        );
      return response;
    },
  });
}

async function directorySeen(api: ApiClient) {
  const groups = new Map<number, DirectoryGroup>();
  let cursor: string | undefined;
  let currency = '';
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = { sort: 'name' as const, max: PAGE_GROUPS, ...(cursor !== undefined && { cursor }) };
    const seen = await readInProcess(api.groups.$get({ query }));
    for (const { groupId: id, parentId, path, personal } of seen.rows)
      if (id !== undefined)
        groups.set(id, { id, path, personal, ...(parentId !== undefined && { parentId }) });
    ({ currency, next: cursor } = seen);
    if (cursor === undefined) break;
  }
  // Visible groups may have invisible parents.
  const directory = indexDirectory(
    [...groups.values()].map(({ parentId, ...group }) =>
      parentId !== undefined && groups.has(parentId) ? { ...group, parentId } : group,
    ),
  );
  return { currency, directory };
}
