/** Reads for an edit: the published set, the base set, the groups. */

import type { LimitSet } from '../../../../policies/limits/limits.ts';
import type { Directory } from '../../../../policies/place/directory.ts';
import type { LimitsDocument } from '../limit-set.ts';
import type { LimitPointer } from '../limit-table.ts';
import { LimitsError } from '../limits-error.ts';
import { readLimitSet } from '../publish-limits.ts';
import type { LimitsDesk, LimitsDeskDeps } from './contract.ts';
import type { LiveLimits } from './live-limits.ts';
import { type ReadLimitSet, readDocument } from './plan.ts';

export const TIMEOUT_MS = 5_000;

export class DeskReader {
  readonly #deps: LimitsDeskDeps;
  /** A set never changes once it is written, and pages ask for the live one again and again. */
  #last: LiveLimits | undefined;
  #packed: ReadLimitSet | undefined;

  constructor(deps: LimitsDeskDeps) {
    this.#deps = deps;
  }

  async live(): Promise<LiveLimits | undefined> {
    const pointer = await this.pointer();
    if (pointer === undefined) return undefined;
    if (this.#last?.pointer.set === pointer.set) return this.#last;
    const { change, document } = await readLimitSet(pointer.set, this.#deps.table);
    this.#last = { pointer, change, ...readDocument(document, pointer.set, this.#deps.policy) };
    return this.#last;
  }

  pointer(): Promise<LimitPointer | undefined> {
    return this.#deps.table.getPointer({ timeoutMs: TIMEOUT_MS });
  }

  directory(): Promise<Directory | undefined> {
    return this.#deps.directory();
  }

  /** Reads the base of edits. @throws {LimitsError} `limits_unreadable`: it is gone, or never existed. */
  async base(set: string | undefined): Promise<ReadLimitSet> {
    const { table, policy, packed = {} } = this.#deps;
    if (set === undefined) {
      this.#packed ??= readDocument(packed, 'packed', policy);
      return this.#packed;
    }
    if (this.#last?.pointer.set === set) return this.#last;
    return readDocument((await readLimitSet(set, table)).document, set, policy);
  }

  /** The same for optional information: undefined if it cannot be read any more. */
  async baseIfThere(set: string | undefined): Promise<ReadLimitSet | undefined> {
    try {
      return await this.base(set);
    } catch (error) {
      if (error instanceof LimitsError && error.code === 'limits_unreadable') return undefined;
      throw error;
    }
  }
}

/** Stands for the set where none is live yet: in `If-Match`, and in the column `version` of a file. */
export const NO_SET = 'none';

/** The content of a limits file, and its base. */
interface ExportedLimits {
  readonly document: LimitsDocument;
  readonly limits: LimitSet;
  /** Undefined: none is live, and these are the limits packed with the deployment. */
  readonly set: string | undefined;
  /** 0: none was ever made. */
  readonly edit: number;
}

/** The limits in force. @throws {LimitsError} */
export async function exportedLimits(desk: Pick<LimitsDesk, 'live' | 'at'>): Promise<ExportedLimits> {
  const live = await desk.live();
  if (live !== undefined) {
    const { document, limits, pointer } = live;
    return { document, limits, set: pointer.set, edit: pointer.edit };
  }
  const packed = await desk.at(undefined);
  if (packed === undefined) throw new Error('the desk has no limits packed with the code');
  return { document: packed.document, limits: packed.limits, set: undefined, edit: 0 };
}

/** The set the rows of a file are edits of: the one they name, else the one in force. */
export const baseOfFile = (version: string | undefined, inForce: string | undefined): string | undefined =>
  version === NO_SET ? undefined : (version ?? inForce);
