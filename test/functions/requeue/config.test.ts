import { expect, test } from 'vitest';
import { readRequeueConfig } from '../../../functions/requeue/config.ts';

test('every setting that is missing is named', () => {
  expect(() => readRequeueConfig({})).toThrow(/TOLLGATE_GITLAB_URL.*TOLLGATE_REQUEUE_TOKENS_PATH/s);
});
