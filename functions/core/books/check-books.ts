/**
 * Compares what counters say of an epoch that is over with what its records changed. Each epoch is looked at twice; what differs twice
 * in the same way is drift.
 */
import { isDeepStrictEqual } from 'node:util';
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import {
  type Counter,
  decodeCounter,
  EPOCH_MS,
  EPOCH_SLOTS,
  epochAt,
  isSameWeight,
  type SlotSums,
  slotSums,
} from '../ledger/index.ts';
import {
  answered,
  type BatchGetDeps,
  batchGet,
  type InstanceTable,
  type LedgerKeys,
  ledgerKeys,
  singleItem,
  unavailable,
} from '../store/index.ts';
import type { CounterMemory, KnownOfSubject, KnownSums } from './counter-memory.ts';
import type { SumLog } from './sum-log.ts';

interface CheckBooksDeps extends InstanceTable, BatchGetDeps {
  readonly log: Pick<SumLog, 'read'>;
  readonly memory: CounterMemory;
}

/** What a look at one or more epochs found. */
interface BooksCheck {
  /** Those that moved in these epochs, as they were read. */
  readonly counters: readonly Counter[];
  /** Counters that were looked at. */
  readonly compared: number;
  readonly drifting: readonly CounterKey[];
  /** Counters of epochs that could not be compared in time: the stream had not told all of them. */
  readonly passedOver: number;
}

export interface BooksReport extends BooksCheck {
  /** The last of the epochs that were looked at. */
  readonly lastEpoch: number;
  /** When a check last found drift or passed something over, Unix ms: a recount that began later has looked. */
  readonly doubtedAtMs?: number;
}

/** Clocks differ, transactions are tried again, and the stream takes some seconds. */
const SETTLED_MS = 180_000;
const TIMEOUT_MS = 10_000;
const SUBJECTS_AT_ONCE = 100;
/** As long as the stream's reader may be late. */
const LATE_EPOCHS = 96;
/** The epoch of a slot that is taken as it is found. */
const UNKNOWN = -1;
/** More of them are one fault, not as many. */
const OPEN_MAX = 2_000;

/** What differed when it was first looked at: counter's partition and epoch, and how. */
interface OpenDifferences {
  readonly since: number;
  readonly doubtedAtMs?: number;
  readonly differences: ReadonlyMap<string, string>;
}

interface CounterSums {
  readonly pk: string;
  readonly key: CounterKey;
  moved: number;
  weight: number;
}

/** @throws {LedgerError} `ledger_unavailable`: the next check looks again. */
export async function checkBooks(deps: CheckBooksDeps): Promise<BooksReport> {
  const nowMs = deps.clock.nowMs();
  const current = epochAt(nowMs);
  const kept = dynamoOpenDifferences(deps);
  const open = (await kept.read()) ?? { since: current, differences: new Map<string, string>() };
  const still = new Map<string, string>();
  const sum = { compared: 0, drifting: new Map<string, CounterKey>(), passedOver: 0 };
  const counters: Counter[] = [];
  const epochs = [current - 2, ...(nowMs % EPOCH_MS < SETTLED_MS ? [] : [current - 1])];
  for (const epoch of epochs) {
    const look = new EpochLook(epoch, { open, still, isLast: epoch === current - 2 }, deps);
    const found = await look.compare();
    sum.compared += found.compared;
    sum.passedOver += found.passedOver;
    counters.push(...found.counters);
    for (const key of found.drifting) sum.drifting.set(counterName(key), key);
  }
  const doubtedAtMs = sum.drifting.size + sum.passedOver > 0 ? nowMs : open.doubtedAtMs;
  const doubted = doubtedAtMs === undefined ? {} : { doubtedAtMs };
  const differences = new Map([...still].slice(0, OPEN_MAX));
  await kept.write({ since: open.since, ...doubted, differences });
  const lastEpoch = Math.max(...epochs);
  return { ...sum, ...doubted, counters, lastEpoch, drifting: [...sum.drifting.values()] };
}

interface LookOptions {
  readonly open: OpenDifferences;
  /** Filled with what is to be looked at again. */
  readonly still: Map<string, string>;
  /** Its slots are another epoch's soon. */
  readonly isLast: boolean;
}

class EpochLook {
  readonly #epoch: number;
  readonly #slot: number;
  readonly #options: LookOptions;
  readonly #deps: CheckBooksDeps;
  readonly #keys: LedgerKeys;
  readonly #drifting: CounterKey[] = [];
  readonly #counters: Counter[] = [];
  #compared = 0;
  #passedOver = 0;
  /** Sums by counter's partition, by epoch. */
  readonly #read = new Map<number, ReadonlyMap<string, CounterSums>>();
  #heardLater: Promise<boolean> | undefined;

  constructor(epoch: number, options: LookOptions, deps: CheckBooksDeps) {
    this.#epoch = epoch;
    this.#slot = epoch % EPOCH_SLOTS;
    this.#options = options;
    this.#deps = deps;
    this.#keys = ledgerKeys(deps.instance);
  }

  async compare(): Promise<BooksCheck> {
    const sums = await this.#sumsOf(this.#epoch);
    const bySubject = Map.groupBy(sums.values(), ({ key }) => key.subject);
    const subjects = [...bySubject];
    for (let from = 0; from < subjects.length; from += SUBJECTS_AT_ONCE)
      await this.#compareSubjects(subjects.slice(from, from + SUBJECTS_AT_ONCE));
    const found = { counters: this.#counters, drifting: this.#drifting };
    return { ...found, compared: this.#compared, passedOver: this.#passedOver };
  }

  async #sumsOf(epoch: number): Promise<ReadonlyMap<string, CounterSums>> {
    const read = this.#read.get(epoch);
    if (read !== undefined) return read;
    const { lines, odd } = await this.#deps.log.read(epoch);
    const sums = new Map<string, CounterSums>();
    const of = (pk: string): CounterSums => {
      const known = sums.get(pk) ?? { pk, key: this.#keys.counterOf(pk), moved: 0, weight: 0 };
      sums.set(pk, known);
      return known;
    };
    for (const key of odd) of(this.#keys.counter(key).pk);
    for (const [, , changes] of lines) {
      for (const [pk, weight] of changes) {
        const counter = of(pk);
        counter.moved += 1;
        counter.weight += weight;
      }
    }
    this.#read.set(epoch, sums);
    return sums;
  }

  async #compareSubjects(subjects: readonly (readonly [string, readonly CounterSums[]])[]): Promise<void> {
    const { table, memory } = this.#deps;
    const all = subjects.flatMap(([, counters]) => counters);
    const [known, items] = await Promise.all([
      memory.read(subjects.map(([subject]) => subject)),
      answered('read counters', unavailable(table), () =>
        batchGet(
          all.map(({ key }) => this.#keys.counter(key)),
          TIMEOUT_MS,
          this.#deps,
        ),
      ),
    ]);
    const itemOf = new Map(all.map(({ pk }, index) => [pk, items[index]]));
    for (const [index, [subject, counters]] of subjects.entries()) {
      const before: KnownOfSubject = known[index] ?? new Map();
      const after = new Map(before);
      for (const sums of counters) {
        const item = itemOf.get(sums.pk);
        // Garbage collection took it.
        if (item === undefined) continue;
        const name = `${sums.key.limit}|${sums.key.period}`;
        const counter = decodeCounter(item, this.#keys);
        this.#counters.push(counter);
        const slots = slotSums(item, counter);
        const knows = before.get(name);
        after.set(name, await this.#after(sums, slots, knows));
      }
      if (!isDeepStrictEqual(after, before)) await memory.write(subject, after);
    }
  }

  /** What is known of the counter after this look. */
  async #after(sums: CounterSums, slots: SlotSums, knows: KnownSums | undefined): Promise<KnownSums> {
    this.#compared += 1;
    // These sums begin with a round of the slots that nobody compares.
    const begins = this.#epoch < this.#options.open.since + EPOCH_SLOTS;
    if (knows === undefined) return this.#adopted(slots, sums);
    if (begins) return this.#withSlot(slots, { ...knows, unexplained: slots.unexplained });
    const isRight = await this.#isRight(sums, slots, knows);
    return {
      ...(isRight ? this.#withSlot(slots, knows) : knows),
      unexplained: this.#isExplained(sums, slots, knows) ? slots.unexplained : knows.unexplained,
    };
  }

  /** Whether what the slot gained is what its records changed, or nobody can tell any more, or it was found to be drift. */
  async #isRight(sums: CounterSums, slots: SlotSums, knows: KnownSums): Promise<boolean> {
    const slot = this.#slot;
    const [moved, added] = [slots.moved[slot] ?? 0, slots.added[slot] ?? 0];
    const [movedBefore, addedBefore, since] = [
      knows.moved[slot] ?? 0,
      knows.added[slot] ?? 0,
      knows.epochs[slot] ?? 0,
    ];
    if (since === UNKNOWN || moved < movedBefore) return true;
    const agrees = (of: Pick<CounterSums, 'moved' | 'weight'>): boolean =>
      moved - movedBefore === of.moved && isSameWeight(added - addedBefore, of.weight);
    const counted = since === this.#epoch ? { moved: 0, weight: 0 } : sums;
    if (agrees(counted)) return true;
    const all = await this.#sinceCompared(sums, since);
    if (agrees(all)) return true;
    const difference = `${moved - movedBefore - all.moved} ${added - addedBefore - all.weight}`;
    if (this.#isSeenAgain(`${sums.pk} ${this.#epoch}`, difference) && (await this.#hasHeardLater())) {
      this.#drifting.push(sums.key);
      return true;
    }
    // Its sums are in the log for the slot's next epoch.
    if (this.#options.isLast) this.#passedOver += 1;
    return false;
  }

  /** Whether its amounts are what its slots and what was done by hand come to, or that was found to be drift. */
  #isExplained({ pk, key }: CounterSums, slots: SlotSums, knows: KnownSums): boolean {
    if (isSameWeight(slots.unexplained, knows.unexplained)) return true;
    if (!this.#isSeenAgain(`${pk} amounts`, String(slots.unexplained))) return false;
    this.#drifting.push(key);
    return true;
  }

  #isSeenAgain(at: string, difference: string): boolean {
    const { open, still } = this.#options;
    if (open.differences.get(at) === difference) return true;
    still.set(at, difference);
    return false;
  }

  /** With what the stream told of the slot's earlier epochs after they were looked at. */
  async #sinceCompared(sums: CounterSums, since: number): Promise<Pick<CounterSums, 'moved' | 'weight'>> {
    let { moved, weight } = since === this.#epoch ? { moved: 0, weight: 0 } : sums;
    for (
      let epoch = this.#epoch - EPOCH_SLOTS;
      epoch > Math.max(since, this.#epoch - LATE_EPOCHS);
      epoch -= EPOCH_SLOTS
    ) {
      const late = (await this.#sumsOf(epoch)).get(sums.pk);
      moved += late?.moved ?? 0;
      weight += late?.weight ?? 0;
    }
    return { moved, weight };
  }

  /** One that is met for the first time; the slots of one that is older than these sums are taken as they are. */
  #adopted(slots: SlotSums, sums: CounterSums): KnownSums {
    const isBorn =
      slots.moved[this.#slot] === sums.moved &&
      [2, 3].every((ago) => slots.moved[(this.#slot + ago) % EPOCH_SLOTS] === 0);
    const none = { moved: [], added: [], epochs: slots.moved.map(() => (isBorn ? 0 : UNKNOWN)) };
    return this.#withSlot(slots, { ...none, unexplained: slots.unexplained });
  }

  /** Else it is the stream that is late. */
  #hasHeardLater(): Promise<boolean> {
    this.#heardLater ??= (async () => {
      for (const later of [this.#epoch + 1, this.#epoch + 2])
        if ((await this.#sumsOf(later)).size > 0) return true;
      return false;
    })();
    return this.#heardLater;
  }

  /** Other slots stay as they were known: their epochs have a look of their own. */
  #withSlot(slots: SlotSums, knows: KnownSums): KnownSums {
    const only = (now: number | undefined, before: readonly number[]): readonly number[] =>
      slots.moved.map((_, slot) => (slot === this.#slot ? (now ?? 0) : (before[slot] ?? 0)));
    return {
      moved: only(slots.moved[this.#slot], knows.moved),
      added: only(slots.added[this.#slot], knows.added),
      epochs: only(this.#epoch, knows.epochs),
      unexplained: knows.unexplained,
    };
  }
}

const OPEN = 'op';

/** One item, which each check replaces. */
export function dynamoOpenDifferences({ table, instance }: InstanceTable) {
  const key = ledgerKeys(instance).sumsOpen;
  const item = singleItem({ table, key, name: 'what differed', consistent: true });
  return {
    async read(): Promise<OpenDifferences | undefined> {
      const text = (await item.read())?.[OPEN]?.S;
      if (text === undefined) return undefined;
      const { differences, ...open } = JSON.parse(text) as Omit<OpenDifferences, 'differences'> & {
        readonly differences: readonly (readonly [string, string])[];
      };
      return { ...open, differences: new Map(differences) };
    },
    write: ({ differences, ...open }: OpenDifferences) =>
      item.write({ [OPEN]: { S: JSON.stringify({ ...open, differences: [...differences] }) } }),
  };
}
