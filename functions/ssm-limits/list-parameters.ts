/** Lists all parameters of limits, as far as the time allows; the next run goes on where this one ended. */

import { withoutAbsent } from '../../policies/without-absent.ts';
import type { RetriedAsk } from './asking.ts';
import type { ListingPass } from './marks.ts';
import type { Parameters, StoredParameter } from './parameters.ts';
import { SsmLimitsError } from './ssm-limits-error.ts';

export interface ParameterListing {
  /** Those of this run, by group. */
  readonly found: ReadonlyMap<number, StoredParameter>;
  /** Names below the path that are no group's id. */
  readonly strangers: readonly string[];
  /** All groups that have a parameter; undefined: the listing did not come to its end. */
  readonly all: ReadonlySet<number> | undefined;
  /** For the caller to remember. */
  readonly pass: ListingPass;
}

/** Parameter Store has room for 10 000 without extra cost, 100 000 with; a page may hold none. */
const PAGES_MAX = 20_000;
const STRANGERS_MAX = 100;

/**
 * @param path - `/tollgate/prod/limits`
 * @param nowMs - Unix ms.
 * @throws {SsmLimitsError}
 */
export async function listParameters(
  path: string,
  before: ListingPass,
  nowMs: number,
  { parameters, ask }: { readonly parameters: Parameters; readonly ask: RetriedAsk },
): Promise<ParameterListing> {
  const found = new Map<number, StoredParameter>();
  const strangers: string[] = [];
  let { fromMs, token, seen } = startOf(before, nowMs);
  const { completeFromMs } = before;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const from = token;
    const page = await ask(() => parameters.page(path, from)).catch((error: unknown) => {
      // A token of an earlier run may be too old: begin anew, with what is there now.
      if (pages === 0 && from !== undefined && isMisread(error)) return 'stale token' as const;
      throw error;
    });
    if (page === 'stale token') {
      ({ fromMs, token, seen } = startOf({}, nowMs));
      continue;
    }
    if (page === undefined) break;
    for (const parameter of page.parameters) {
      const group = groupOf(parameter.name, path);
      if (group !== undefined) {
        seen.add(group);
        found.set(group, parameter);
      } else if (strangers.length < STRANGERS_MAX) strangers.push(parameter.name);
    }
    token = page.next;
    if (token === undefined) return { found, strangers, all: seen, pass: { completeFromMs: fromMs } };
  }
  const unfinished = token === undefined ? undefined : { fromMs, token, seen: [...seen] };
  return {
    found,
    strangers,
    all: undefined,
    pass: withoutAbsent({ completeFromMs, unfinished }),
  };
}

interface Start {
  readonly fromMs: number;
  readonly token: string | undefined;
  readonly seen: Set<number>;
}

const startOf = ({ unfinished }: ListingPass, nowMs: number): Start =>
  unfinished === undefined
    ? { fromMs: nowMs, token: undefined, seen: new Set() }
    : { fromMs: unfinished.fromMs, token: unfinished.token, seen: new Set(unfinished.seen) };

const isMisread = (error: unknown): boolean =>
  error instanceof SsmLimitsError && error.code === 'parameters_misread';

/** `/tollgate/prod/limits/101`: 101. GitLab's ids begin with 1 and have no zeros before them. */
function groupOf(name: string, path: string): number | undefined {
  const last = name.slice(path.length + 1);
  const group = Number(last);
  return /^[1-9]\d{0,15}$/.test(last) && Number.isSafeInteger(group) ? group : undefined;
}
