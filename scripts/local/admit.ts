import { createAdmitApp } from '../../functions/admit/app.ts';
import { admitRoutes } from '../../functions/admit/routes.ts';
import type { Rules } from '../../functions/core/admission/judge.ts';
import { handOutKnown } from '../../functions/core/directory/hand-out.ts';
import { type LedgerClock, silentLog, systemClock } from '../../functions/core/environment/environment.ts';
import type { Ledger } from '../../functions/core/ledger/ledger.ts';
import type { LimitTable } from '../../functions/core/limits/limit-table.ts';
import { rulesInForce } from '../../functions/core/rules.ts';
import { timeoutEstimator } from '../../policies/estimate.ts';
import { subjectKey } from '../../policies/limits/limits.ts';
import type { Fetch } from '../../relay/admit/admit-call.ts';
import { readDirectory, readLimits, readPolicy } from '../policy/read-documents.ts';
import { serveOnLoopback } from './loopback.ts';

export async function serveAdmit(
  ledger: Ledger,
  rules: Rules,
  table: LimitTable,
  clock: LedgerClock = systemClock,
  consoleUrl?: string,
) {
  const { rulesFor, directoryFor, limitsFor } = rulesInForce(rules, { table, ledger, clock, log: silentLog });
  const app = createAdmitApp({
    ...{ ledger, currentRules: rulesFor, consoleUrl, clock, log: silentLog },
    ...(rules.directory !== undefined && { handOutDirectory: handOutKnown(rules.directory) }),
  });
  const groups = [...(rules.directory?.groupById.keys() ?? [])].map((id) =>
    subjectKey({ kind: 'group', id }),
  );
  return { ...(await serveOnLoopback(app)), rulesFor, directoryFor, limits: () => limitsFor(groups) };
}

/** Says at the start that a published set is in force: it outlives runs, and edits of the file have no effect. */
export async function publishedFact(table: LimitTable): Promise<Readonly<Record<string, string>>> {
  const live = await table.getPointer({ timeoutMs: POINTER_TIMEOUT_MS });
  return live === undefined
    ? {}
    : { limits: `published set ${live.set}, edit ${live.edit}, not the file (start over with --fresh)` };
}

const POINTER_TIMEOUT_MS = 5_000;

export const INLINE_URL = 'http://admit.inline';

/** The admit function inside this process: the same routes and contract, without a network. */
export function inlineFetch(deps: Parameters<typeof admitRoutes>[0]): Fetch {
  const answer = admitRoutes(deps);
  return async (url, { method = 'GET', body, signal }) => {
    signal?.throwIfAborted();
    const { pathname: path } = new URL(url);
    const answered = await answer({ method, path, text: String(body ?? '') });
    return Response.json(answered.body, { status: answered.status });
  };
}

export function readLocalRules(files: {
  readonly policyFile: string;
  readonly limitsFile: string;
  readonly directoryFile: string | undefined;
}): Rules {
  const policy = readPolicy(files.policyFile);
  const directory = files.directoryFile === undefined ? undefined : readDirectory(files.directoryFile);
  const limits = readLimits(files.limitsFile, policy, directory);
  return { policy, limits, directory, estimator: timeoutEstimator };
}
