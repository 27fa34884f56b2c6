import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import { readDays, today } from '../reading/usage-days.ts';
import type { Viewer } from '../reading/viewer.ts';
import type { UsageDaysView, UsageQuery } from './model.ts';

const DAYS_DEFAULT = 31;
const DAYS_MAX = 92;

/** One read a day. @throws {LedgerError} */
export const usageDaysOf =
  (reading: ReadContext) =>
  async (asked: UsageQuery, viewer: Viewer): Promise<UsageDaysView | undefined> => {
    const { directory } = (await reading.places()) ?? NOWHERE;
    const { subject } = asked;
    if (!scopeOf(viewer.roles, directory).sees(subject)) return undefined;
    const { zone, policy } = reading;
    const to = today(zone, reading.clock.nowMs());
    const length = Math.min(DAYS_MAX, Math.max(1, asked.days ?? DAYS_DEFAULT));
    const usage = await readDays([subject], { from: to - length + 1, to }, reading.usage);
    return {
      subject,
      path: subjectLabelOf(subject, directory),
      currency: policy.currency,
      zone,
      days: (usage.get(subject) ?? []).map((day) => ({
        day: day.day,
        jobs: day.jobs,
        admitted: day.admitted,
        rejected: day.rejected,
        ranRejected: day.ranRejected,
        seconds: day.seconds,
        settledMicros: day.settledMicros,
        heldMicros: day.heldMicros,
        unmetered: day.unmetered,
        bypass: day.bypass,
        exempt: day.exempt,
      })),
    };
  };
