/** See run.ts. Here prices, limits, grants, groups and clocks change and days and months end on the way. */
import { modelTest } from './model-test.ts';

modelTest('whatever is edited and whenever a period ends, a job is charged by the rules of its admission', {
  together: 2,
  edits: 3,
  trouble: 1,
  faults: 1,
  deaths: 1,
});
