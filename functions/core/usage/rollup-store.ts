import { systemClock } from '../environment/environment.ts';
import {
  decodeEstimates,
  ESTIMATES_REV,
  encodeEstimates,
  estimatesKey,
  type StoredEstimates,
} from '../estimates/estimates-item.ts';
import type { Consistency } from '../ledger/store.ts';
import { type BatchGetDeps, batchGet, putItem, putOf, transactItems } from '../store/calls.ts';
import { escapePart, type Key, ROLLUP_SK, unescapePart } from '../store/keys.ts';
import { MemoryTable } from '../store/memory-table.ts';
import {
  absent,
  atRev,
  type InstanceTable,
  type Item,
  keyOf,
  numberIs,
  PK,
  SK,
  TimeLimit,
  TTL_ATTRIBUTE,
  type UpdateWrite,
  versioned,
} from '../store/operation.ts';
import { answered, isConflict, isThrottle, LedgerError } from '../store/table-failure.ts';
import type { Contribution } from './contribution.ts';
import {
  isQueueName,
  isTallyName,
  queueLine,
  readQueueLine,
  type UsageKey,
  type UsageTally,
  usageName,
} from './usage.ts';

export type RollupStore = Pick<DynamoRollupStore, keyof DynamoRollupStore>;

export interface RollupWrites {
  readonly contributions: readonly {
    readonly after: Contribution;
    /** The counted `rev`; absent: nothing is counted yet. */
    readonly replacesRev?: number;
    /** When garbage collection may take it, Unix seconds; absent: never. */
    readonly expiresAtSeconds?: number;
  }[];
  /** Each `delta` is added to what is there. */
  readonly usage: readonly { readonly key: UsageKey; readonly delta: UsageTally }[];
}

/** The jobs of a subject that were rejected last; what there is to say about them is in their records. */
export interface LatestRejections {
  readonly subject: string;
  /** Latest first. */
  readonly jobs: readonly { readonly jobId: number; readonly atMs: number }[];
  /** 0: there is no item yet. */
  readonly rev: number;
}

/** The projects of a subject and day that cost most. */
export interface TopProjects {
  readonly key: UsageKey;
  /** Most first. */
  readonly projects: readonly { readonly projectId: number; readonly micros: number }[];
  /** 0: there is no item yet. */
  readonly rev: number;
}

// Converts the rollup's data to DynamoDB items and back. All have the sort key `rollup`, which no ledger
// item has.

export interface RollupKeys {
  /** `gitlab.example.com#job#4711`, `rollup`: next to the job's record. */
  contribution(jobId: number): Key;
  /** `gitlab.example.com#usage#group/101|2026-11-21`, `rollup` */
  usage(key: UsageKey): Key;
  /** `gitlab.example.com#top#group/101|2026-11-21`, `rollup` */
  top(key: UsageKey): Key;
  /** `gitlab.example.com#rejections#group/101`, `rollup` */
  rejections(subject: string): Key;
  estimates(projectId: number): Key;
}

export const rollupKeys = (instance: string): RollupKeys => {
  const named = (kind: string, { subject, day }: UsageKey): Key => ({
    pk: `${instance}#${kind}#${escapePart(subject)}|${day}`,
    sk: ROLLUP_SK,
  });
  return {
    contribution: (jobId) => ({ pk: `${instance}#job#${jobId}`, sk: ROLLUP_SK }),
    usage: (key) => named('usage', key),
    top: (key) => named('top', key),
    rejections: (subject) => ({ pk: `${instance}#rejections#${escapePart(subject)}`, sk: ROLLUP_SK }),
    estimates: (projectId) => estimatesKey(instance, projectId),
  };
};

const CONTRIBUTION_REV = 'r';
const TOP_REV = 'r';
const REJECTIONS_REV = 'r';
/** Two years and a month: a year can be compared with the one before. */
const USAGE_DAYS = 762;
/** A subject without a rejection for so long has no list; records of jobs go after some months, too. */
const REJECTIONS_DAYS = 120;
const DAY_SECONDS = 86_400;

/** Unix seconds. */
export const usageExpiresAtSeconds = ({ day }: UsageKey): number =>
  Date.parse(`${day}T00:00:00Z`) / 1000 + USAGE_DAYS * DAY_SECONDS;

const text = (value: string) => ({ S: value });
const number = (value: number) => ({ N: String(value) });
const keyed = ({ pk, sk }: Key): Item => ({ [PK]: text(pk), [SK]: text(sk), ...versioned });

export function encodeContribution(key: Key, after: Contribution, expiresAtSeconds?: number): Item {
  const queue = queueLine(after.tally);
  const counts = [...after.tally].filter(([name]) => queue === undefined || !isQueueName(name));
  return {
    ...keyed(key),
    [CONTRIBUTION_REV]: number(after.rev),
    g: number(after.generation),
    se: { BOOL: after.settled },
    d: text(after.day),
    su: text(JSON.stringify(after.subjects)),
    t: text(JSON.stringify(counts)),
    ...(queue === undefined ? {} : { q: text(queue) }),
    ...(expiresAtSeconds === undefined ? {} : { [TTL_ATTRIBUTE]: number(expiresAtSeconds) }),
  };
}

export function decodeContribution(jobId: number, item: Item): Contribution {
  const counts = new Map(JSON.parse(item.t?.S ?? '[]') as readonly (readonly [string, number])[]);
  const queue = item.q?.S;
  return {
    jobId,
    rev: Number(item[CONTRIBUTION_REV]?.N),
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

const encodeTop = (key: Key, top: TopProjects): Item => ({
  ...keyed(key),
  [TOP_REV]: number(top.rev),
  p: text(JSON.stringify(top.projects.map(({ projectId, micros }) => [projectId, micros]))),
  [TTL_ATTRIBUTE]: number(usageExpiresAtSeconds(top.key)),
});

function decodeTop(key: UsageKey, item: Item | undefined): TopProjects {
  const projects = JSON.parse(item?.p?.S ?? '[]') as readonly (readonly [number, number])[];
  return {
    key,
    projects: projects.map(([projectId, micros]) => ({ projectId, micros })),
    rev: Number(item?.[TOP_REV]?.N ?? 0),
  };
}

const encodeRejections = (key: Key, { jobs, rev }: LatestRejections): Item => ({
  ...keyed(key),
  [REJECTIONS_REV]: number(rev),
  j: text(JSON.stringify(jobs.map(({ jobId, atMs }) => [jobId, atMs]))),
  [TTL_ATTRIBUTE]: number(Math.ceil((jobs[0]?.atMs ?? 0) / 1000) + REJECTIONS_DAYS * DAY_SECONDS),
});

function decodeRejections(subject: string, item: Item | undefined): LatestRejections {
  const jobs = JSON.parse(item?.j?.S ?? '[]') as readonly (readonly [number, number])[];
  return {
    subject,
    jobs: jobs.map(([jobId, atMs]) => ({ jobId, atMs })),
    rev: Number(item?.[REJECTIONS_REV]?.N ?? 0),
  };
}

// The rollup in the ledger's table. Lost races and throttles are values; everything else is `ledger_unavailable`.

/** The rollup runs in the background; a batch has minutes. */
const READ_TIMEOUT_MS = 3_000;
const WRITE_TIMEOUT_MS = 3_000;

/**
 * The rollup in the ledger's table. Eventual reads cost half; a write after a stale read is refused. Every method throws
 * `ledger_unavailable` if the table does not answer.
 */
export class DynamoRollupStore {
  readonly #deps: BatchGetDeps & InstanceTable;
  readonly #keys: RollupKeys;

  constructor(options: BatchGetDeps & InstanceTable) {
    this.#deps = options;
    this.#keys = rollupKeys(options.instance);
  }

  async readContributions(jobIds: readonly number[], consistency?: Consistency) {
    const items = await this.#read(
      jobIds.map((jobId) => this.#keys.contribution(jobId)),
      consistency,
    );
    return jobIds.map((jobId, index) => {
      const item = items[index];
      return item && decodeContribution(jobId, item);
    });
  }

  /** `contended`: retry the whole; another write was concurrent, or the table is busy. */
  async commit({ contributions, usage }: RollupWrites): Promise<'committed' | 'contended'> {
    const writes = [
      ...contributions.map(({ after, replacesRev, expiresAtSeconds }) =>
        putOf(
          encodeContribution(this.#keys.contribution(after.jobId), after, expiresAtSeconds),
          replacesRev === undefined ? absent() : numberIs(CONTRIBUTION_REV, '=', replacesRev),
        ),
      ),
      ...usage.map(({ key, delta }) => this.#addUsage(key, delta)),
    ];
    const { outcome } = await this.#answered(`write ${writes.length} items to`, () =>
      transactItems(this.#deps.table, writes, new TimeLimit(WRITE_TIMEOUT_MS)),
    );
    return outcome === 'written' ? 'committed' : 'contended';
  }

  async readUsage(keys: readonly UsageKey[]): Promise<readonly UsageTally[]> {
    return (await this.#read(keys.map((key) => this.#keys.usage(key)))).map(decodeTally);
  }

  async readEstimates(
    projectIds: readonly number[],
    consistency?: Consistency,
  ): Promise<readonly StoredEstimates[]> {
    const items = await this.#read(
      projectIds.map((projectId) => this.#keys.estimates(projectId)),
      consistency,
    );
    return items.map((item) => decodeEstimates(item ?? {}));
  }

  writeEstimates(projectId: number, { history, rev }: StoredEstimates, nowMs: number): Promise<boolean> {
    const item = encodeEstimates(this.#keys.estimates(projectId), { history, rev: rev + 1 }, nowMs);
    return this.#put(item, ESTIMATES_REV, rev);
  }

  async readTop(keys: readonly UsageKey[], consistency?: Consistency): Promise<readonly TopProjects[]> {
    const items = await this.#read(
      keys.map((key) => this.#keys.top(key)),
      consistency,
    );
    return keys.map((key, index) => decodeTop(key, items[index]));
  }

  writeTop(top: TopProjects): Promise<boolean> {
    return this.#put(encodeTop(this.#keys.top(top.key), { ...top, rev: top.rev + 1 }), TOP_REV, top.rev);
  }

  async readRejections(
    subjects: readonly string[],
    consistency?: Consistency,
  ): Promise<readonly LatestRejections[]> {
    const items = await this.#read(
      subjects.map((subject) => this.#keys.rejections(subject)),
      consistency,
    );
    return subjects.map((subject, index) => decodeRejections(subject, items[index]));
  }

  writeRejections(latest: LatestRejections): Promise<boolean> {
    const item = encodeRejections(this.#keys.rejections(latest.subject), { ...latest, rev: latest.rev + 1 });
    return this.#put(item, REJECTIONS_REV, latest.rev);
  }

  #addUsage(usageKey: UsageKey, delta: UsageTally): UpdateWrite {
    return {
      kind: 'update',
      key: this.#keys.usage(usageKey),
      setIfAbsent: versioned,
      set: { [TTL_ATTRIBUTE]: { N: String(usageExpiresAtSeconds(usageKey)) } },
      add: Object.fromEntries(delta),
    };
  }

  #put(item: Item, revName: string, rev: number): Promise<boolean> {
    return this.#answered('put an item into', async () => {
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

  #read(
    keys: readonly Key[],
    consistency: Consistency = 'consistent',
  ): Promise<readonly (Item | undefined)[]> {
    return this.#answered(`read ${keys.length} items of`, () =>
      batchGet(keys, READ_TIMEOUT_MS, this.#deps, { consistent: consistency === 'consistent' }),
    );
  }

  #answered<T>(doing: string, call: () => Promise<T>): Promise<T> {
    return answered(
      doing,
      (what, why) =>
        new LedgerError(
          'ledger_unavailable',
          `could not ${what} table ${this.#deps.table.tableName} (${why})`,
        ),
      call,
    );
  }
}

// The rollup's store on a table in memory, with the faults a real one has.

/** `lost-before`: never applied; `lost-after`: applied, and the answer is lost. */
export type RollupFault = 'contended' | 'lost-before' | 'lost-after';

export class MemoryRollupStore extends DynamoRollupStore {
  readonly #fault: () => RollupFault | undefined;
  readonly #table: MemoryTable;
  readonly #usagePrefix: string;

  /** @param options.fault - asked once per commit. */
  constructor({
    instance,
    fault,
  }: { readonly instance: string; readonly fault?: () => RollupFault | undefined }) {
    const table = new MemoryTable();
    super({ table, instance, clock: systemClock, random: () => 0 });
    this.#table = table;
    this.#usagePrefix = rollupKeys(instance).usage({ subject: '', day: '' }).pk.slice(0, -1);
    this.#fault = fault ?? (() => undefined);
  }

  override async commit(writes: RollupWrites): Promise<'committed' | 'contended'> {
    const fault = this.#fault();
    if (fault === 'contended') return 'contended';
    if (fault === 'lost-before') throw lost();
    const outcome = await super.commit(writes);
    if (fault === 'lost-after') throw lost();
    return outcome;
  }

  /** Everything counted, by `usageName`; what came to nothing is left out. */
  usage(): ReadonlyMap<string, UsageTally> {
    return new Map(
      this.#table.items().flatMap((item) => {
        const { pk } = keyOf(item);
        if (!pk.startsWith(this.#usagePrefix)) return [];
        const path = pk.slice(this.#usagePrefix.length);
        const end = path.lastIndexOf('|');
        const key = { subject: unescapePart(path.slice(0, end)), day: path.slice(end + 1) };
        const tally = decodeTally(item);
        return tally.size === 0 ? [] : [[usageName(key), tally] as const];
      }),
    );
  }
}

const lost = (): LedgerError =>
  new LedgerError('ledger_unavailable', 'commit: no answer from the in-memory rollup (injected fault)');
