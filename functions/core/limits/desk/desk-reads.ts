/** What the desk reads before it does anything: the live set, the set of a base, the groups. */
import type { Directory } from '../../../../policies/place/directory.ts';
import type { LimitPointer } from '../limit-table.ts';
import { LimitsError } from '../limits-error.ts';
import { readLimits } from '../publish-limits.ts';
import type { LimitsDeskDeps } from './contract.ts';
import type { LiveLimits } from './live-limits.ts';
import { type Read, readDocument } from './plan.ts';

export const TIMEOUT_MS = 5_000;

export class DeskReads {
  readonly #deps: LimitsDeskDeps;
  /** A set never changes once it is written, and pages ask for the live one again and again. */
  #last: LiveLimits | undefined;
  #packed: Read | undefined;

  constructor(deps: LimitsDeskDeps) {
    this.#deps = deps;
  }

  async live(): Promise<LiveLimits | undefined> {
    const pointer = await this.pointer();
    if (pointer === undefined) return undefined;
    if (this.#last?.pointer.set === pointer.set) return this.#last;
    const { change, document } = await readLimits(pointer.set, this.#deps.table);
    this.#last = { pointer, change, ...readDocument(document, pointer.set, this.#deps.policy) };
    return this.#last;
  }

  pointer(): Promise<LimitPointer | undefined> {
    return this.#deps.table.getPointer({ timeoutMs: TIMEOUT_MS });
  }

  directory(): Promise<Directory | undefined> {
    return this.#deps.directory();
  }

  /** What edits of a base start from. @throws {LimitsError} `limits_unreadable`: it is gone, or was never written. */
  async base(set: string | undefined): Promise<Read> {
    const { table, policy, packed = {} } = this.#deps;
    if (set === undefined) {
      this.#packed ??= readDocument(packed, 'packed', policy);
      return this.#packed;
    }
    if (this.#last?.pointer.set === set) return this.#last;
    return readDocument((await readLimits(set, table)).document, set, policy);
  }

  /** The same for what is only told beside: undefined where it cannot be read any more. */
  async baseIfThere(set: string | undefined): Promise<Read | undefined> {
    try {
      return await this.base(set);
    } catch (error) {
      if (error instanceof LimitsError && error.code === 'limits_unreadable') return undefined;
      throw error;
    }
  }
}
