/**
 * The limits in the admit function: only the roots it needs, at most five seconds old, and checked again
 * before a rejection. One per process.
 */
import { parseLimitsPart } from '../../../policies/document/parse-limits.ts';
import { problemText } from '../../../policies/document/reading.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import type { LimitSet, Rollout } from '../../../policies/limits/limits.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { LedgerClock, Log } from '../environment/environment.ts';
import { LedgerError } from '../store/table-failure.ts';
import {
  chunkOfRoot,
  type LimitsDocument,
  SHARED,
  type SharedChunk,
  unpackedLimits,
  unpackedShared,
} from './limit-set.ts';
import { LimitsError, type LimitTable, type OpeningEntry } from './limit-table.ts';
import { type PreviousCounters, type TimedLimits, withOpenings } from './period-openings.ts';

interface LimitStoreDeps {
  readonly table: LimitTable;
  readonly policy: Policy;
  readonly packed: LimitSet;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  readonly previous: PreviousCounters;
  readonly log: Log;
  /** Called if limits cannot be read or no longer fit the policy. @default ignored */
  readonly onUnreadable?: (() => void) | undefined;
}

/** A change of the limits is in force everywhere within this time. */
const POINTER_AGE_MS_MAX = 5_000;
/** An admission has two seconds in all, and takes the last valid limits rather than wait. */
const READ_TIMEOUT_MS = 800;

/** A set as far as it was needed. Never edited once another one is live. */
interface Loaded {
  readonly set: string;
  readonly shared: SharedChunk;
  readonly stored: ReadonlySet<number>;
  readonly roots: Set<number>;
  limits: LimitSet;
  inForce: TimedLimits | undefined;
}

export class LimitStore {
  readonly #deps: LimitStoreDeps;
  readonly #openings = new Map<string, OpeningEntry>();
  #loaded: Loaded | undefined;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;
  #waiting: Promise<void> | undefined;

  constructor(deps: LimitStoreDeps) {
    this.#deps = deps;
  }

  /**
   * The limits these subjects may meet, with what was carried over; perhaps others', too.
   *
   * @param subjects - subject keys: at least `group/<root id>` of every request. Keys of the groups in between and the
   * project find limits also right after a group was moved to another root.
   * @throws {LimitsError} if the first set, or a root's part that was not needed so far, cannot be read: not to know a
   * limit is not the same as having none. What was read before stays in force.
   */
  async limitsFor(subjects: Iterable<string>): Promise<LimitSet> {
    const { clock } = this.#deps;
    if (clock.monotonicMs() - this.#checkedAtMs >= POINTER_AGE_MS_MAX) await (this.#running ?? this.#check());
    const loaded = this.#loaded;
    if (loaded === undefined) return this.#deps.packed;
    await this.#load(loaded, subjects).catch((error: unknown) => {
      this.#deps.onUnreadable?.();
      throw error;
    });
    return this.#inForce(loaded);
  }

  /**
   * Checks before a rejection if another set than `version` is live; then the job must be evaluated again.
   * Reads the pointer after the call; false if it cannot be read.
   */
  async recheck(version: string): Promise<boolean> {
    await this.#check();
    return (this.#loaded?.set ?? this.#deps.packed.version) !== version;
  }

  /** Reads the pointer, always after the call began. Concurrent callers share the next read. */
  #check(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#look().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    const next = (): Promise<void> => {
      this.#waiting = undefined;
      return this.#check();
    };
    this.#waiting ??= this.#running.then(next, next);
    return this.#waiting;
  }

  async #look(): Promise<void> {
    const { table, clock } = this.#deps;
    const startedMs = clock.monotonicMs();
    try {
      const pointer = await table.getPointer({ timeoutMs: READ_TIMEOUT_MS });
      if (pointer !== undefined && pointer.set !== this.#loaded?.set)
        this.#loaded = await this.#adopt(pointer.set);
    } catch (error) {
      this.#deps.onUnreadable?.();
      // The last valid set stays, and is looked for again after the usual time.
      if (!isExpected(error) || this.#checkedAtMs === Number.NEGATIVE_INFINITY) throw error;
      this.#deps.log.error('limits not read', { cause: error.message, set: this.#loaded?.set });
    }
    this.#checkedAtMs = startedMs;
  }

  /** Whole or not at all: every root in use is read before the new set counts. */
  async #adopt(set: string): Promise<Loaded> {
    const [bytes] = await this.#deps.table.readChunks(set, [SHARED], { timeoutMs: READ_TIMEOUT_MS });
    const shared = unpackedShared(bytes);
    const limits = this.#parsed(shared.document, set, SHARED);
    const loaded: Loaded = {
      set,
      shared,
      stored: new Set(shared.roots),
      roots: new Set(),
      limits,
      inForce: undefined,
    };
    const inUse = [...(this.#loaded?.roots ?? [])].map((root) => `group/${root}`);
    await this.#load(loaded, inUse);
    return loaded;
  }

  async #load(loaded: Loaded, subjects: Iterable<string>): Promise<void> {
    const missing = new Set<number>();
    for (const subject of subjects) {
      const root = loaded.shared.homes[subject] ?? rootOf(subject);
      if (root !== undefined && loaded.stored.has(root) && !loaded.roots.has(root)) missing.add(root);
    }
    if (missing.size === 0) return;
    const roots = [...missing];
    const names = roots.map(chunkOfRoot);
    const chunks = await this.#deps.table.readChunks(loaded.set, names, { timeoutMs: READ_TIMEOUT_MS });
    const parts = names.map((name, index) =>
      this.#parsed(unpackedLimits(name, chunks[index]), loaded.set, name),
    );
    for (const [index, part] of parts.entries()) {
      const root = roots[index] ?? 0;
      if (loaded.roots.has(root)) continue;
      loaded.roots.add(root);
      loaded.limits = merged(loaded.limits, part);
      loaded.inForce = undefined;
    }
  }

  #parsed(document: LimitsDocument, set: string, name: string): LimitSet {
    const parsed = parseLimitsPart(document, set, this.#deps.policy);
    if (parsed.ok) return parsed.value;
    const problems = parsed.problems.map(problemText).join('; ');
    throw new LimitsError('limits_unreadable', `set ${set}, ${name}: no longer fits the policy: ${problems}`);
  }

  async #inForce(loaded: Loaded): Promise<LimitSet> {
    const { clock, table, previous, log } = this.#deps;
    const nowMs = clock.nowMs();
    if (loaded.inForce !== undefined && nowMs < loaded.inForce.untilMs) return loaded.inForce.limits;
    const { limits } = loaded;
    try {
      const inForce = await withOpenings(limits, nowMs, this.#openings, {
        table,
        previous,
        timeoutMs: READ_TIMEOUT_MS,
      });
      if (loaded.limits === limits) loaded.inForce = inForce;
      return inForce.limits;
    } catch (error) {
      this.#deps.onUnreadable?.();
      if (!isExpected(error)) throw error;
      log.error('openings not read', { cause: error.message, set: loaded.set });
      return loaded.inForce?.limits ?? limits;
    }
  }
}

const isExpected = (error: unknown): error is Error =>
  error instanceof LimitsError || error instanceof LedgerError;

const rootOf = (subject: string): number | undefined => {
  const [kind, id] = subject.split('/');
  return kind === 'group' ? Number(id) : undefined;
};

const merged = (a: LimitSet, b: LimitSet): LimitSet => ({
  ...a,
  bySubject: new Map<string, readonly Limit[]>([...a.bySubject, ...b.bySubject]),
  rollouts: new Map<string, Rollout>([...a.rollouts, ...b.rollouts]),
  ...(b.freezes !== undefined && { freezes: new Map([...(a.freezes ?? []), ...b.freezes]) }),
  ...(b.breakGlasses !== undefined && { breakGlasses: [...(a.breakGlasses ?? []), ...b.breakGlasses] }),
});
