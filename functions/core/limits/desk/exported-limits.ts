import type { LimitSet } from '../../../../policies/limits/limits.ts';
import type { LimitsDocument } from '../limit-set.ts';
import type { LimitsDesk } from './contract.ts';

/** Stands for the set where none is live yet: in `If-Match`, and in the column `version` of a file. */
export const NO_SET = 'none';

/** What a file of limits has, and what it is an edit of. */
export interface ExportedLimits {
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
