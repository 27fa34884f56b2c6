import { expect, test } from 'vitest';
import { readNoticesConfig } from '../../../functions/notices/config.ts';

const ENV = {
  ...{ TOLLGATE_LEDGER_TABLE: 'ledger', TOLLGATE_GITLAB_INSTANCE: 'gitlab.example.com' },
  ...{ TOLLGATE_RULES_FILE: 'rules.json', TOLLGATE_THRESHOLDS_TOPIC: 'arn:aws:sns:eu-central-1:1:owners' },
};

test('merge requests are told only where tokens are kept, and then GitLab’s address is needed', () => {
  expect(readNoticesConfig(ENV).notes).toBeUndefined();
  const kept = { ...ENV, TOLLGATE_NOTE_TOKENS_PATH: '/tollgate/prod/notes' };
  expect(() => readNoticesConfig(kept)).toThrow('TOLLGATE_GITLAB_URL');
  expect(readNoticesConfig({ ...kept, TOLLGATE_GITLAB_URL: 'https://gitlab.example.com' }).notes).toEqual({
    ...{ gitlabUrl: 'https://gitlab.example.com', tokensPath: '/tollgate/prod/notes' },
  });
});
