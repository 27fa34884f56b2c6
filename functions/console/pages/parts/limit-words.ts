import type { LimitKind } from '../../../../policies/limits/limit.ts';
import type { PeriodKind } from '../../../../policies/limits/period.ts';
import type { LimitRow } from '../../../answers/view/limit-row.ts';
import { amount, type Telling } from './told.tsx';

export const KIND_WORDS: Readonly<Record<LimitKind, string>> = {
  money: 'Money',
  minutes: 'CI minutes',
  jobs: 'Jobs at once',
  cpu: 'CPU at once',
  memory: 'Memory at once',
  starts: 'Job starts',
};

const PERIOD_WORDS: Readonly<Record<PeriodKind, string>> = {
  minute: 'per minute',
  hour: 'per hour',
  day: 'per day',
  week: 'per week',
  month: 'per month',
  quarter: 'per quarter',
  year: 'per year',
  once: 'once',
};

/** `Money per month` */
export const limitWords = ({ kind, per }: Pick<LimitRow, 'kind' | 'per'>): string =>
  per === undefined ? KIND_WORDS[kind] : `${KIND_WORDS[kind]} ${PERIOD_WORDS[per]}`;

export const limitAmount = (limit: Pick<LimitRow, 'amount' | 'unit'>, telling: Telling): string =>
  limit.amount === 'unlimited' ? 'unlimited' : amount(limit.amount, limit.unit, telling);

/** Below 0 in words: nobody should have to find a minus. */
export const leftText = (limit: Pick<LimitRow, 'left' | 'unit'>, telling: Telling): string =>
  limit.left === undefined
    ? '–'
    : limit.left < 0
      ? `${amount(-limit.left, limit.unit, telling)} over`
      : amount(limit.left, limit.unit, telling);

/** Nothing is rejected for it. */
export const onlyWatches = ({ rolledOutAs, mode }: Pick<LimitRow, 'rolledOutAs' | 'mode'>): boolean =>
  (rolledOutAs ?? mode) !== 'enforce';

/** Colours what is left: red where jobs are rejected, amber where they would be. */
export const leftClass = (limit: LimitRow): string =>
  (limit.left ?? 0) >= 0 ? '' : onlyWatches(limit) ? 'warn-text' : 'bad-text';

/** An amount as limits.yaml has it, for a field that will be read again: `500.25`, `90`, `1500m`, `6Gi`. */
export function writtenAmount(whole: number | 'unlimited', kind: LimitKind): string {
  if (whole === 'unlimited') return whole;
  switch (kind) {
    case 'money':
      return decimal(whole, 1_000_000, 6);
    case 'minutes':
      // Thirds of a minute have no end, so no file can name them: shares and grants come to them. Only shown, never sent.
      return whole % 3 === 0 ? decimal(whole, 60, 2) : (whole / 60).toFixed(2);
    case 'cpu':
      return whole % 1000 === 0 ? String(whole / 1000) : `${whole}m`;
    case 'memory':
      return bytes(whole);
    case 'jobs':
    case 'starts':
      return String(whole);
  }
}

function decimal(whole: number, per: number, places: number): string {
  const rest = String(((whole % per) * 10 ** places) / per).padStart(places, '0');
  const fraction = rest.replace(/0+$/, '');
  return `${Math.floor(whole / per)}${fraction === '' ? '' : `.${fraction}`}`;
}

const BINARY: readonly (readonly [string, number])[] = [
  ['Ti', 2 ** 40],
  ['Gi', 2 ** 30],
  ['Mi', 2 ** 20],
  ['Ki', 2 ** 10],
];

function bytes(whole: number): string {
  const unit = BINARY.find(([, per]) => whole !== 0 && whole % per === 0);
  return unit === undefined ? String(whole) : `${whole / unit[1]}${unit[0]}`;
}
