import type { JobRecord } from '../../functions/core/ledger/ledger.ts';
import type { ShadowFigures } from '../../scripts/cli/report/shadow-figures.ts';
import { type ShadowOptions, ShadowSimulation } from '../../scripts/cli/report/shadow-simulation.ts';

/** The figures of records at hand. */
export function simulateShadow(records: Iterable<JobRecord>, options: ShadowOptions): ShadowFigures {
  const simulation = new ShadowSimulation(options);
  for (const record of records) simulation.add(record);
  return simulation.figures();
}
