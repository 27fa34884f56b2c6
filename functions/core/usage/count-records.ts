import type { JobRecord } from '../ledger/index.ts';
import { type ApplyDeps, type ApplyReport, applyRecords } from './apply-records.ts';
import { noteRejections } from './latest-rejections.ts';
import { type LearnDeps, learnRuns } from './learn-runs.ts';
import { updateTopProjects } from './top-projects.ts';

export interface CountRecordsDeps extends ApplyDeps, LearnDeps {
  readonly clock: ApplyDeps['clock'] & LearnDeps['clock'];
  /** Called before `placeOf` is asked about these; never throws. */
  readonly knowPlaces?: (records: readonly JobRecord[]) => Promise<void>;
}

/** Records into usage, estimates, top lists and lists of rejections. Doing it twice changes nothing. */
export async function countRecords(
  records: readonly JobRecord[],
  deps: CountRecordsDeps,
): Promise<ApplyReport> {
  if (records.length > 0) await deps.knowPlaces?.(records);
  const applied = await applyRecords(records, deps);
  await learnRuns(applied.changes, deps);
  await updateTopProjects(applied.changes, deps);
  await noteRejections(applied.changes, deps);
  return applied;
}
