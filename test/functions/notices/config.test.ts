import { expect, test } from 'vitest';
import { readNoticesConfig } from '../../../functions/core/environment/settings.ts';

const ENV = {
  ...{ TOLLGATE_LEDGER_TABLE: 'ledger', TOLLGATE_GITLAB_INSTANCE: 'gitlab.example.com' },
  ...{ TOLLGATE_RULES_FILE: 'rules.json', TOLLGATE_THRESHOLDS_TOPIC: 'arn:aws:sns:eu-central-1:1:owners' },
};

test('one error names every missing or wrong setting', () => {
  expect(() => readNoticesConfig({ TOLLGATE_ROLLUP_ZONE: 'Mars' })).toThrow(
    /TOLLGATE_LEDGER_TABLE is not set; .*TOLLGATE_THRESHOLDS_TOPIC is not set; TOLLGATE_ROLLUP_ZONE is "Mars"/,
  );
});

test('notes in merge requests need the path of the tokens, and GitLab’s address with it', () => {
  expect(readNoticesConfig(ENV).notes).toBeUndefined();
  const kept = { ...ENV, TOLLGATE_NOTE_TOKENS_PATH: '/tollgate/prod/notes' };
  expect(() => readNoticesConfig(kept)).toThrow('TOLLGATE_GITLAB_URL');
  expect(readNoticesConfig({ ...kept, TOLLGATE_GITLAB_URL: 'https://gitlab.example.com' }).notes).toEqual({
    ...{ gitlabUrl: 'https://gitlab.example.com', tokensPath: '/tollgate/prod/notes' },
  });
});
