/**
 * Spend of every group as a FOCUS 1.2 dataset, CSV. A group is one charge of the period at the average price
 * of its minutes, for its own projects; subgroups have their own charges.
 */
import { csv } from '../statement/csv-text.ts';
import { type FocusFields, focusCharge } from '../statement/focus-charge.ts';
import type { SpendLine, SpendList } from './model.ts';

/** Leaves out uncharged groups. @param isFirst - adds the header line */
export function spendFocusCsv(list: SpendList, isFirst: boolean): string {
  const columns = Object.keys(focusFields(NOTHING, list));
  const charged = list.lines.filter(({ micros, seconds }) => micros !== 0 || seconds !== 0);
  const rows = charged.map((line) => focusFields(line, list));
  return csv([...(isFirst ? [columns] : []), ...rows.map((row) => columns.map((name) => row[name] ?? ''))]);
}

function focusFields(line: SpendLine, list: SpendList): FocusFields {
  const { micros, seconds, jobs, groupId, path, rootId, rootPath } = line;
  const { instance, currency, startMs, endMs, fromDay, toDay } = list;
  // Jobs with an unknown end are charged without seconds, so there is no price per minute.
  const isPriced = seconds > 0;
  return {
    ...focusCharge({
      ...{ micros, seconds, jobs, isPriced, instance, currency },
      ...{ billing: { startMs, endMs }, charged: { startMs, endMs } },
      account: { ...(rootId !== undefined && { id: rootId }), name: rootPath ?? 'All groups' },
      ...(groupId !== undefined && { subAccount: { id: groupId, name: path } }),
      category: isPriced ? 'Usage' : 'Adjustment',
      description: `Runner minutes: ${jobs === 1 ? '1 job' : `${jobs} jobs`} from ${fromDay} to ${toDay}`,
    }),
    x_JobsRejected: String(line.rejected),
    x_JobsNeverRan: String(line.neverRan),
  };
}

const NOTHING: SpendLine = {
  ...{ path: '', withBelowMicros: 0, beforeMicros: 0, micros: 0, heldMicros: 0, jobs: 0, seconds: 0 },
  ...{ rejected: 0, ranRejected: 0, neverRan: 0, endUnknown: 0, unmetered: 0, bypass: 0, exempt: 0 },
  ...{ estimated: 0, overEstimate: 0, ran: 0, retriesKnown: 0, retries: 0, retryMicros: 0 },
  ...{ queuedKnown: 0, queuedSeconds: 0 },
};
