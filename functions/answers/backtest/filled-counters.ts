/** What counters showed when a replay begins in the middle of their periods. */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import {
  counterOf,
  type LimitSet,
  limitPeriod,
  limitsOfGroup,
  limitsOn,
} from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Counter, JobRecord, KnownCounter } from '../../core/ledger/index.ts';

/** Twenty requests of a hundred keys. Those of more places begin empty, and the answer is not called complete. */
const FILLED_MAX = 2_000;

interface FillWith {
  /** Unix ms: where the replay begins. */
  readonly fromMs: number;
  /** All of the replay. */
  readonly records: readonly JobRecord[];
  /** The jobs whose counters matter: those that are judged. */
  readonly judged: (record: JobRecord) => boolean;
  readonly limits: LimitSet;
  readonly directory: Directory;
  readonly readCounters: (keys: readonly CounterKey[]) => Promise<readonly Counter[]>;
  /** What a subject had used of a limit that has no counter yet, from the beginning of its period to `fromMs`. Whole units. */
  readonly usedBefore: (limit: Limit, startMs: number) => Promise<number>;
}

interface Filled {
  /** Keyed by `counterName`. */
  readonly counters: ReadonlyMap<string, KnownCounter>;
  readonly complete: boolean;
}

/**
 * A counter holds what all jobs of its period come to now: without what the jobs of the replay count in it, that is what
 * it showed before them. A limit that is new has none, and begins with what was used by then.
 */
export async function filledCounters(using: FillWith): Promise<Filled> {
  const open = openLimits(using);
  const keys = open.map(({ limit }) => counterOf(limit, using.fromMs)).slice(0, FILLED_MAX);
  const counters = keys.length === 0 ? [] : await using.readCounters(keys);
  const own = ownCounts(using.records, new Set(keys.map(counterName)));
  const filled = new Map<string, KnownCounter>();
  for (const [index, key] of keys.entries()) {
    const [counter, at] = [counters[index], open[index]];
    if (at === undefined) continue;
    const name = counterName(key);
    const known =
      counter === undefined || counter.rev === 0
        ? await newCounter(at, using)
        : without(counter, own.get(name) ?? NOTHING);
    filled.set(name, known);
  }
  return { counters: filled, complete: open.length <= FILLED_MAX };
}

interface OpenLimit {
  readonly limit: Limit;
  readonly startMs: number;
}

/** The limits of the judged jobs whose period had begun by then. */
function openLimits({ fromMs, records, judged, limits, directory }: FillWith): readonly OpenLimit[] {
  const places = new Map(records.filter(judged).map((record) => [placeKey(record), record]));
  const subjects = new Set([...places.values()].flatMap((record) => subjectsOf(record, directory)));
  return [...subjects].flatMap((subject) =>
    limitsAt(subject, limits, directory, fromMs).flatMap((limit): OpenLimit[] => {
      const period = limitPeriod(limit, fromMs);
      return period === undefined || period.startMs >= fromMs ? [] : [{ limit, startMs: period.startMs }];
    }),
  );
}

const placeKey = ({ facts: { groupId, rootId, projectId, runnerClass, userId, asked } }: JobRecord): string =>
  [groupId, rootId, projectId, runnerClass, userId, asked?.runnerId].join(' ');

function subjectsOf({ facts }: JobRecord, { chainById }: Directory): readonly string[] {
  const { groupId, rootId, projectId, runnerClass, userId, asked } = facts;
  const chain = groupId === undefined ? undefined : chainById.get(groupId);
  const groups = chain?.map(({ id }) => id) ?? [rootId, groupId];
  return [
    'instance',
    ...groups.map((id) => `group/${id}`),
    `project/${projectId}`,
    `runner-class/${runnerClass}`,
    `runner/${asked?.runnerId}`,
    `user/${userId}`,
  ];
}

function limitsAt(subject: string, limits: LimitSet, directory: Directory, atMs: number): readonly Limit[] {
  const [kind, id] = subject.split('/');
  const group = kind === 'group' ? directory.groupById.get(Number(id)) : undefined;
  return group === undefined ? limitsOn(limits, subject) : limitsOfGroup(limits, group, atMs);
}

const NOTHING: KnownCounter = { committed: 0, fitted: 0, settled: 0 };

function ownCounts(
  records: readonly JobRecord[],
  wanted: ReadonlySet<string>,
): ReadonlyMap<string, KnownCounter> {
  const sums = new Map<string, KnownCounter>();
  for (const { state, claims } of records) {
    for (const { counter, counted, corrected, fitted } of claims) {
      const name = counterName(counter);
      if (!wanted.has(name)) continue;
      const sum = sums.get(name) ?? NOTHING;
      const charged = counted + corrected;
      sums.set(name, {
        committed: sum.committed + charged,
        fitted: sum.fitted + (fitted ? charged : 0),
        settled: sum.settled + (state === 'SETTLED' ? counted : 0) + corrected,
      });
    }
  }
  return sums;
}

const without = (counter: Counter, own: KnownCounter): KnownCounter => ({
  committed: Math.max(0, counter.committed - own.committed),
  fitted: Math.max(0, counter.fitted - own.fitted),
  settled: Math.max(0, counter.settled - own.settled),
});

async function newCounter({ limit, startMs }: OpenLimit, { usedBefore }: FillWith): Promise<KnownCounter> {
  const used = await usedBefore(limit, startMs);
  return { committed: used, fitted: used, settled: used };
}
