import type { ShadowFigures } from '../../functions/answers/shadow/shadow-figures.ts';
import { type ShadowOptions, ShadowSimulation } from '../../functions/answers/shadow/shadow-simulation.ts';
import type { JobRecord } from '../../functions/core/ledger/ledger.ts';

/** The figures of records at hand. */
export function simulateShadow(records: Iterable<JobRecord>, options: ShadowOptions): ShadowFigures {
  const simulation = new ShadowSimulation(options);
  for (const record of records) simulation.add(record);
  return simulation.figures();
}
