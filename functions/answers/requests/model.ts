import type { LimitRequest } from '../../core/limits/desk/limit-request.ts';
import type { LimitRow } from '../standing/model.ts';

export type RequestRow = LimitRequest & {
  readonly path: string;
  /** The limit as it stands; undefined: it is gone, or not theirs to see. */
  readonly limitNow?: LimitRow;
  /** The viewer may decide it now. */
  readonly mayDecide: boolean;
  /** The viewer filed it. */
  readonly own: boolean;
};
