/** See run.ts. Here webhooks come in any order, late, twice or never, and GitLab does not always answer. */
import { modelTest } from './model-test.ts';

modelTest('whatever becomes of webhooks, in the end nothing is held and spent is what GitLab ran', {
  together: 2,
  edits: 1,
  trouble: 2,
  faults: 0,
  deaths: 0,
});
