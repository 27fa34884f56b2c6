/** Which keys a subject and a period have no report by, and what to ask for instead. Pure. */
import type { Directory } from '../../../policies/place/directory.ts';
import { USER_SHEET_DAYS } from '../../core/sheets/index.ts';
import { rowIdOf } from '../reading/read-sums.ts';
import type { Places } from '../reading/scope.ts';
import { dayText } from '../reading/usage-days.ts';
import { SPEND_KEYS, type SpendKey } from './model.ts';
import { periodBefore, type ReportPeriod } from './report-period.ts';

const DAYS_BY_DAY_MAX = 92;

interface KeyAsk {
  readonly subject: string;
  readonly period: ReportPeriod;
  readonly places: Places;
  readonly today: number;
  /** Finance and administrators. */
  readonly seesAll: boolean;
}

/** Undefined: there is such a report. */
export function keyRefusal(by: SpendKey, ask: KeyAsk): string | undefined {
  const { from, to } = ask.period;
  const first = firstDayOfUsers(ask.today);
  if (by === 'day' && to - from >= DAYS_BY_DAY_MAX)
    return `expected at most ${DAYS_BY_DAY_MAX} days; by month there may be more`;
  if (by === 'user' && ask.seesAll && from < first)
    return `users are kept for ${USER_SHEET_DAYS} days; expected a period from ${dayText(first)} on`;
  return refusalEver(by, ask);
}

type PlaceAsk = Pick<KeyAsk, 'subject' | 'places' | 'seesAll'>;

/** Keys available to a viewer for a subject. */
export const spendKeysOf = (ask: PlaceAsk): readonly SpendKey[] =>
  SPEND_KEYS.filter((by) => refusalEver(by, ask) === undefined);

/** For any period. */
function refusalEver(by: SpendKey, { subject, places, seesAll }: PlaceAsk): string | undefined {
  if ((by === 'group' || by === 'project') && subject.startsWith('project/'))
    return 'a project has no groups and projects below it; ask by day or month';
  if (by === 'hour' && subject !== 'instance') {
    const [root] = places.directory.chainById.get(groupAbove(subject, places.directory)) ?? [];
    if (subject !== `group/${root?.id}`)
      return `hours are kept of the whole GitLab and of top-level groups: ask for ${root?.path ?? 'one'}, or by another key`;
  }
  if (by === 'user' && !seesAll)
    return 'users are told to finance and administrators only; ask by another key';
  return undefined;
}

/** The previous period; undefined: no data that old. */
export function keptPeriodBefore(
  by: SpendKey,
  { period, today }: Pick<KeyAsk, 'period' | 'today'>,
): ReportPeriod | undefined {
  const before = periodBefore(period);
  return by === 'user' && before.from < firstDayOfUsers(today) ? undefined : before;
}

const firstDayOfUsers = (today: number): number => today - USER_SHEET_DAYS + 1;

/** Its own, where it is a group. */
const groupAbove = (subject: string, { projectById }: Directory): number => {
  const id = rowIdOf(subject);
  return subject.startsWith('group/') ? id : (projectById.get(id)?.groupId ?? 0);
};
