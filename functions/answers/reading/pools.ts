import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { type Oversubscription, oversubscriptionOf } from '../../core/limits/index.ts';
import { subjectLabelOf } from './scope.ts';

/** Children are named by their paths. */
type Pool = Pick<Oversubscription, 'childrenAmount' | 'children' | 'unlimited' | 'larger'>;

/** Keyed by {@link poolKey}; a limit that is no pool is not there. */
export type Pools = ReadonlyMap<string, Pool>;

export const poolKey = (subject: string, limit: string): string => `${subject}|${limit}`;

/** Pools may be a minute old. */
const AGE_MS_MAX = 60_000;

/** Every pool of the instance, kept while limits and groups are the same. */
export function poolsNow(clock: { nowMs(): number }): (limits: LimitSet, directory: Directory) => Pools {
  let known:
    | {
        readonly limits: LimitSet;
        readonly directory: Directory;
        readonly atMs: number;
        readonly pools: Pools;
      }
    | undefined;
  return (limits, directory) => {
    const nowMs = clock.nowMs();
    if (known?.limits !== limits || known.directory !== directory || nowMs >= known.atMs + AGE_MS_MAX) {
      const all = oversubscriptionOf(limits, directory, nowMs);
      const pools = new Map(all.map((each) => [poolKey(each.subject, each.limit), noteOf(each, directory)]));
      known = { limits, directory, atMs: nowMs, pools };
    }
    return known.pools;
  };
}

const noteOf = (
  { childrenAmount, children, unlimited, larger }: Oversubscription,
  directory: Directory,
): Pool => ({
  childrenAmount,
  children,
  unlimited,
  larger: larger.map((subject) => subjectLabelOf(subject, directory)),
});
