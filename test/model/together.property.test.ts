/** See run.ts. Here two relays, two sweeps and settlement meet at the same jobs and the same instant. */
import { modelTest } from './model-test.ts';

modelTest('whoever meets at one instant, in the end nothing is held and spent is what GitLab ran', {
  together: 12,
  edits: 1,
  trouble: 1,
  faults: 1,
  deaths: 1,
});
