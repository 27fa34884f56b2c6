import type { Directory } from '../../../policies/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type Caller, type ReadContext, readPlaces } from '../reading/context.ts';
import { formatSubjectLabel } from '../reading/scope.ts';
import { type DaySpan, type DayUsage, dayText, dayTexts, lastDays, readDays } from '../reading/usage-days.ts';
import { COUNTED, type Rejections, type UsageDaysView, type UsageView } from './model.ts';

const DAYS = { usual: 31, max: 92 };

export const usageDaysOf =
  (reading: ReadContext) =>
  async (
    { subject, days }: { readonly subject: string; readonly days?: number },
    caller: Caller,
  ): Promise<UsageDaysView | undefined> => {
    const { directory, scope } = await readPlaces(reading, caller);
    if (!scope.sees(subject)) return undefined;
    const { zone, policy } = reading;
    const span = lastDays(zone, reading.clock.nowMs(), days, DAYS);
    const usage = await readDays([subject], span, reading.usage);
    return {
      ...{ subject, path: formatSubjectLabel(subject, directory), currency: policy.currency, zone },
      days: (usage.get(subject) ?? []).map((day) => ({
        ...{ day: day.day, admitted: day.admitted },
        ...countsOf([day]),
      })),
    };
  };

type Counts = Pick<DayUsage, (typeof COUNTED)[number]>;

const countsOf = (days: readonly Counts[]): Counts =>
  Object.fromEntries(COUNTED.map((name) => [name, days.reduce((sum, day) => sum + day[name], 0)])) as Counts;

/** A day's list has fifty projects: their sums over these days are right for those at the top. */
const TOP_MAX = 20;
/** Lists are read per day; a quarter is enough. */
const TOP_DAYS_MAX = 92;

/** @param days - the subject's days, which include the span */
export async function usageView(
  subject: string,
  days: readonly DayUsage[],
  span: DaySpan,
  directory: Directory,
  { usage, policy }: Pick<ReadContext, 'usage' | 'policy'>,
): Promise<Omit<UsageView, 'rejections'> & { readonly rejections: Omit<Rejections, 'latest'> }> {
  const inSpan = days.filter(({ number }) => number >= span.from && number <= span.to);
  const counts = countsOf(inSpan);
  const topProjects = await topProjectsOf(subject, span, directory, usage);
  const together = counts.settledMicros + counts.heldMicros;
  return {
    ...{ ...dayTexts(span), ...counts },
    topProjects,
    otherProjectsMicros: topProjects.reduce((left, { micros }) => left - micros, together),
    rejections: {
      byRule: jobsByRuleOf('rejectedBy', inSpan, policy),
      watchedByRule: jobsByRuleOf('watchedBy', inSpan, policy),
    },
  };
}

export function jobsByRuleOf(
  field: 'rejectedBy' | 'ranRejectedBy' | 'watchedBy',
  days: readonly DayUsage[],
  { rules }: Policy,
): Rejections['byRule'] {
  const jobs = new Map<string, number>();
  for (const day of days)
    for (const [rule, count] of day[field]) jobs.set(rule, (jobs.get(rule) ?? 0) + count);
  return [...jobs]
    .filter(([, count]) => count > 0)
    .sort(([ruleA, a], [ruleB, b]) => b - a || (ruleA < ruleB ? -1 : 1))
    .map(([rule, count]) => {
      const kind = rules.find(({ id }) => id === rule)?.kind;
      return { rule, ...withoutAbsent({ kind }), jobs: count };
    });
}

async function topProjectsOf(
  subject: string,
  { from, to }: DaySpan,
  directory: Directory,
  usage: ReadContext['usage'],
): Promise<UsageView['topProjects']> {
  if (subject !== 'instance' && !subject.startsWith('group/')) return [];
  const first = Math.max(from, to - TOP_DAYS_MAX + 1);
  const days = Array.from({ length: to - first + 1 }, (_, index) => dayText(first + index));
  const costs = new Map<number, number>();
  for (const { projects } of await usage.readTop(days.map((day) => ({ subject, day }))))
    for (const { projectId, micros } of projects) costs.set(projectId, (costs.get(projectId) ?? 0) + micros);
  return [...costs]
    .sort(([idA, a], [idB, b]) => b - a || idA - idB)
    .slice(0, TOP_MAX)
    .map(([projectId, micros]) => ({
      ...{ projectId, path: formatSubjectLabel(`project/${projectId}`, directory) },
      micros,
    }));
}
