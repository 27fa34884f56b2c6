/** See run.ts. Here the table conflicts, throttles, is slow and loses answers, and programs die between any two steps. */
import { modelTest } from './model-test.ts';

modelTest(
  'whatever becomes of the table and of programs, in the end nothing is held and spent is what GitLab ran',
  { together: 1, edits: 0, trouble: 1, faults: 1, deaths: 2 },
);
