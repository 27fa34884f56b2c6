import {
  decodeEstimates,
  ESTIMATES_REV,
  encodeEstimates,
  estimatesKey,
  type StoredEstimates,
} from '../estimates/estimates.ts';
import { numberValue, textValue, ttl } from '../ledger/record.ts';
import type { Consistency } from '../ledger/store.ts';
import { type BatchGetDeps, batchGet, itemAt, putItem, putOf, transactItems } from '../store/calls.ts';
import { escapePart, type Key, ROLLUP_SK } from '../store/keys.ts';
import {
  absent,
  atRev,
  type InstanceTable,
  type Item,
  numberIs,
  TimeLimit,
  type UpdateWrite,
  versioned,
} from '../store/operation.ts';
import { answered, isConflict, isThrottle, type TableFailure, unavailable } from '../store/table-failure.ts';
import type { Contribution } from './contribution.ts';
import {
  isQueueName,
  isTallyName,
  queueLine,
  readQueueLine,
  type UsageKey,
  type UsageTally,
} from './usage.ts';

export type RollupStore = Pick<DynamoRollupStore, keyof DynamoRollupStore>;

export interface RollupWrites {
  readonly contributions: readonly {
    readonly after: Contribution;
    readonly replacesRev?: number;
    readonly expiresAtSeconds?: number;
  }[];
  readonly usage: readonly { readonly key: UsageKey; readonly delta: UsageTally }[];
}

/** The jobs of a subject that were rejected last; what there is to say about them is in their records. */
export interface LatestRejections {
  readonly subject: string;
  readonly jobs: readonly { readonly jobId: number; readonly atMs: number }[];
  readonly rev: number;
}

export interface TopProjects {
  readonly key: UsageKey;
  readonly projects: readonly { readonly projectId: number; readonly micros: number }[];
  readonly rev: number;
}

export function rollupKeys(instance: string) {
  const key = (path: string): Key => ({ pk: `${instance}#${path}`, sk: ROLLUP_SK });
  return {
    contribution: (jobId: number): Key => key(`job#${jobId}`),
    usage: ({ subject, day }: UsageKey): Key => key(`usage#${escapePart(subject)}|${day}`),
    top: ({ subject, day }: UsageKey): Key => key(`top#${escapePart(subject)}|${day}`),
    rejections: (subject: string): Key => key(`rejections#${escapePart(subject)}`),
    estimates: (projectId: number): Key => estimatesKey(instance, projectId),
  };
}

const REV = 'r';
/** Two years and a month: a year can be compared with the one before. */
const USAGE_DAYS = 762;
/** A subject without a rejection for so long has no list; records of jobs go after some months, too. */
const REJECTIONS_DAYS = 120;
const DAY_SECONDS = 86_400;

export const usageExpiresAtSeconds = ({ day }: UsageKey): number =>
  Date.parse(`${day}T00:00:00Z`) / 1000 + USAGE_DAYS * DAY_SECONDS;

export function encodeContribution(key: Key, after: Contribution, expiresAtSeconds?: number): Item {
  const queue = queueLine(after.tally);
  const counts = [...after.tally].filter(([name]) => queue === undefined || !isQueueName(name));
  return itemAt(key, {
    [REV]: numberValue(after.rev),
    g: numberValue(after.generation),
    se: { BOOL: after.settled },
    d: textValue(after.day),
    su: textValue(JSON.stringify(after.subjects)),
    t: textValue(JSON.stringify(counts)),
    ...(queue !== undefined && { q: textValue(queue) }),
    ...ttl(expiresAtSeconds),
  });
}

export function decodeContribution(jobId: number, item: Item): Contribution {
  const counts = new Map(JSON.parse(item.t?.S ?? '[]') as readonly (readonly [string, number])[]);
  const queue = item.q?.S;
  return {
    jobId,
    rev: Number(item[REV]?.N),
    generation: Number(item.g?.N),
    settled: item.se?.BOOL === true,
    day: item.d?.S ?? '',
    subjects: JSON.parse(item.su?.S ?? '[]') as readonly string[],
    tally: queue === undefined ? counts : new Map([...counts, ...readQueueLine(queue, counts)]),
  };
}

const decodeTally = (item: Item | undefined): UsageTally =>
  new Map(
    Object.entries(item ?? {}).flatMap(([name, value]) => {
      const count = isTallyName(name) ? Number(value.N) : 0;
      return count === 0 ? [] : [[name, count] as const];
    }),
  );

/** The second number of a pair is a cost or an instant. */
type Pairs = readonly (readonly [number, number])[];
const pairsIn = (text = '[]'): Pairs => JSON.parse(text) as Pairs;

const encodeTop = (key: Key, top: TopProjects): Item =>
  itemAt(key, {
    [REV]: numberValue(top.rev),
    p: textValue(JSON.stringify(top.projects.map(({ projectId, micros }) => [projectId, micros]))),
    ...ttl(usageExpiresAtSeconds(top.key)),
  });

const decodeTop = (key: UsageKey, item: Item | undefined): TopProjects => ({
  key,
  projects: pairsIn(item?.p?.S).map(([projectId, micros]) => ({ projectId, micros })),
  rev: Number(item?.[REV]?.N ?? 0),
});

const encodeRejections = (key: Key, { jobs, rev }: LatestRejections): Item =>
  itemAt(key, {
    [REV]: numberValue(rev),
    j: textValue(JSON.stringify(jobs.map(({ jobId, atMs }) => [jobId, atMs]))),
    ...ttl(Math.ceil((jobs[0]?.atMs ?? 0) / 1000) + REJECTIONS_DAYS * DAY_SECONDS),
  });

const decodeRejections = (subject: string, item: Item | undefined): LatestRejections => ({
  subject,
  jobs: pairsIn(item?.j?.S).map(([jobId, atMs]) => ({ jobId, atMs })),
  rev: Number(item?.[REV]?.N ?? 0),
});

/** The rollup runs in the background; a batch has minutes. */
const READ_TIMEOUT_MS = 3_000;
const WRITE_TIMEOUT_MS = 3_000;

/** Eventual reads cost half; a write after a stale read is refused. @throws {LedgerError} `ledger_unavailable` */
export class DynamoRollupStore {
  readonly #deps: BatchGetDeps & InstanceTable;
  readonly #keys: ReturnType<typeof rollupKeys>;
  readonly #failure: TableFailure;

  constructor(options: BatchGetDeps & InstanceTable) {
    this.#deps = options;
    this.#keys = rollupKeys(options.instance);
    this.#failure = unavailable(options.table);
  }

  readContributions(jobIds: readonly number[], consistency?: Consistency) {
    return this.#read(
      jobIds,
      this.#keys.contribution,
      (jobId, item) => item && decodeContribution(jobId, item),
      consistency,
    );
  }

  /** `contended`: retry the whole; another write was concurrent, or the table is busy. */
  async commit({ contributions, usage }: RollupWrites): Promise<'committed' | 'contended'> {
    const writes = [
      ...contributions.map(({ after, replacesRev, expiresAtSeconds }) =>
        putOf(
          encodeContribution(this.#keys.contribution(after.jobId), after, expiresAtSeconds),
          replacesRev === undefined ? absent() : numberIs(REV, '=', replacesRev),
        ),
      ),
      ...usage.map(
        ({ key, delta }): UpdateWrite => ({
          kind: 'update',
          key: this.#keys.usage(key),
          setIfAbsent: versioned,
          set: ttl(usageExpiresAtSeconds(key)),
          add: Object.fromEntries(delta),
        }),
      ),
    ];
    const { outcome } = await answered(`write ${writes.length} items`, this.#failure, () =>
      transactItems(this.#deps.table, writes, new TimeLimit(WRITE_TIMEOUT_MS)),
    );
    return outcome === 'written' ? 'committed' : 'contended';
  }

  readUsage(keys: readonly UsageKey[]): Promise<readonly UsageTally[]> {
    return this.#read(keys, this.#keys.usage, (_, item) => decodeTally(item));
  }

  readEstimates(projectIds: readonly number[], consistency?: Consistency) {
    return this.#read(
      projectIds,
      this.#keys.estimates,
      (_, item) => decodeEstimates(item ?? {}),
      consistency,
    );
  }

  writeEstimates(projectId: number, { history, rev }: StoredEstimates, nowMs: number): Promise<boolean> {
    const item = encodeEstimates(this.#keys.estimates(projectId), { history, rev: rev + 1 }, nowMs);
    return this.#put(item, ESTIMATES_REV, rev);
  }

  readTop(keys: readonly UsageKey[], consistency?: Consistency): Promise<readonly TopProjects[]> {
    return this.#read(keys, this.#keys.top, decodeTop, consistency);
  }

  writeTop(top: TopProjects): Promise<boolean> {
    return this.#put(encodeTop(this.#keys.top(top.key), { ...top, rev: top.rev + 1 }), REV, top.rev);
  }

  readRejections(subjects: readonly string[], consistency?: Consistency) {
    return this.#read(subjects, this.#keys.rejections, decodeRejections, consistency);
  }

  writeRejections(latest: LatestRejections): Promise<boolean> {
    const item = encodeRejections(this.#keys.rejections(latest.subject), { ...latest, rev: latest.rev + 1 });
    return this.#put(item, REV, latest.rev);
  }

  #put(item: Item, revName: string, rev: number): Promise<boolean> {
    return answered('write an item of usage', this.#failure, async () => {
      const limit = new TimeLimit(WRITE_TIMEOUT_MS);
      try {
        const { outcome } = await putItem(this.#deps.table, item, limit, atRev(revName, rev));
        return outcome === 'written';
      } catch (error) {
        if (isConflict(error) || isThrottle(error)) return false;
        throw error;
      }
    });
  }

  async #read<Name, Value>(
    names: readonly Name[],
    keyOf: (name: Name) => Key,
    decode: (name: Name, item: Item | undefined) => Value,
    consistency: Consistency = 'consistent',
  ): Promise<readonly Value[]> {
    const items = await answered(`read ${names.length} items of usage`, this.#failure, () =>
      batchGet(names.map(keyOf), READ_TIMEOUT_MS, this.#deps, { consistent: consistency === 'consistent' }),
    );
    return names.map((name, index) => decode(name, items[index]));
  }
}
