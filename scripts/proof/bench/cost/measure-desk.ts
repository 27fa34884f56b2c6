import type { DeskUnits } from '../../../cli/cost/desk-units.ts';
import { type DeskOptions, sampleDesk } from './sample-desk.ts';
import { measureNoticesRun, measureParameterRun } from './sample-runs.ts';
import { measureVisit } from './sample-visit.ts';

/** What owning limits costs the table: counted on the program that is deployed. */
export async function measureDesk(options: DeskOptions): Promise<DeskUnits> {
  const sample = await sampleDesk(options);
  const visit = await measureVisit(sample);
  const noticesRun = await measureNoticesRun(sample);
  return { visit, noticesRun, parameterRun: await measureParameterRun(sample, options.parameters) };
}
