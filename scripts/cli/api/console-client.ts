import { apiClient } from '../../../functions/console/api/client.ts';
import { type Directory, type DirectoryGroup, directoryOf } from '../../../policies/directory.ts';
import { type TerminalIo, UsageError } from '../../terminal/command.ts';
import { commandFetch } from '../command-fetch.ts';
import { ENV_CONSOLE, ENV_ID_TOKEN, keptSession, originOf } from '../kept-sessions.ts';
import type { LedgerFlags } from '../ledger-flags.ts';
import { type ApiClient, answeredInProcess } from './api-in-process.ts';

/** A month of a large instance takes a while. */
const TIMEOUT_MS = 30_000;
const PAGE_GROUPS = '100';
/** Two thousand groups; others need a GitLab id or --directory. */
const PAGES_MAX = 20;

/** Returns the console's address from flag or variable; undefined: use a table. @throws {UsageError} */
export function consoleAsked(flags: LedgerFlags, { env }: Pick<TerminalIo, 'env'>): string | undefined {
  const namesTable = [flags.ledger, flags.instance, flags.region, flags.endpoint].some(
    (flag) => flag !== undefined,
  );
  if (flags.console !== undefined && namesTable)
    throw new UsageError('--console and --ledger: expected one of them');
  const named = flags.console ?? (namesTable ? undefined : env[ENV_CONSOLE]);
  return named ? originOf(named) : undefined;
}

export const mayAskConsole = (origin: string, { env }: Pick<TerminalIo, 'env'>): boolean =>
  Boolean(env[ENV_ID_TOKEN]) || keptSession(origin, env) !== undefined;

/** @throws {UsageError} without a sign-in there. */
export function consoleClient(
  origin: string,
  { env }: Pick<TerminalIo, 'env'>,
  send: typeof fetch = commandFetch({ env }),
): ApiClient {
  const session = env[ENV_ID_TOKEN] || keptSession(origin, env);
  if (session === undefined)
    throw new UsageError(
      `not signed in; expected tollgate login ${origin} before, or a job's id_token in $${ENV_ID_TOKEN}`,
    );
  return apiClient({
    origin,
    session,
    // The console does not redirect; never send the session elsewhere.
    fetch: async (input, init) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
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

export async function directorySeen(api: ApiClient): Promise<Directory> {
  const groups = new Map<number, DirectoryGroup>();
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = { sort: 'name' as const, max: PAGE_GROUPS, ...(cursor !== undefined && { cursor }) };
    const seen = await answeredInProcess(api.groups.$get({ query }));
    for (const { groupId: id, parentId, path, personal } of seen.rows)
      if (id !== undefined)
        groups.set(id, { id, path, personal, ...(parentId !== undefined && { parentId }) });
    cursor = seen.next;
    if (cursor === undefined) break;
  }
  // Visible groups may have invisible parents.
  return directoryOf(
    [...groups.values()].map(({ parentId, ...group }) =>
      parentId !== undefined && groups.has(parentId) ? { ...group, parentId } : group,
    ),
  );
}
