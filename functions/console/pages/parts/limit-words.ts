import { type LimitKind, writtenUnits } from '../../../../policies/units/unit.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { type PageFormat, pageAmount } from './page-format.tsx';

export { alertsText, lastAlertOf, limitWords, nextAlertText } from '../../../answers/status/texts.ts';

export const limitAmountWords = (limit: Pick<LimitRow, 'amount' | 'unit'>, telling: PageFormat): string =>
  limit.amount === 'unlimited' ? 'unlimited' : pageAmount(limit.amount, limit.unit, telling);

/** Stands where the use of a limit would: it has no counter. */
export const NOT_COUNTED = 'not counted';

/** Effect of a limit while it is unreachable. */
export const OUTAGE_TEXTS = {
  admit: 'admits all',
  room: 'admits what was left',
  reject: 'rejects all',
} as const;

/** Negative amounts in words, because a minus is easily missed. */
export const leftText = (limit: Pick<LimitRow, 'left' | 'unit'>, telling: PageFormat): string =>
  limit.left === undefined
    ? '–'
    : limit.left < 0
      ? `${pageAmount(-limit.left, limit.unit, telling)} over`
      : pageAmount(limit.left, limit.unit, telling);

/** Nothing is rejected for it. */
export const onlyWatches = ({ rolledOutAs, mode }: Pick<LimitRow, 'rolledOutAs' | 'mode'>): boolean =>
  (rolledOutAs ?? mode) !== 'enforce';

/** Colours what is left: red where jobs are rejected, amber where they would be. */
export const leftClass = (limit: LimitRow): string =>
  (limit.left ?? 0) >= 0 ? '' : onlyWatches(limit) ? 'warn-text' : 'bad-text';

/** An amount as limits.yaml has it, for a field that will be read again: `500.25`, `90`, `1500m`, `6Gi`. */
export const writtenAmount = (whole: number | 'unlimited', kind: LimitKind): string =>
  whole === 'unlimited' ? whole : writtenUnits(whole, kind);
