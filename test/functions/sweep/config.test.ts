import { expect, test } from 'vitest';
import {
  ENV_CHARGE_UNKNOWN,
  ENV_GITLAB_INSTANCE,
  ENV_GITLAB_TOKEN_PARAMETER,
  ENV_GITLAB_URL,
  ENV_LEDGER_TABLE,
  ENV_RULES_FILE,
} from '../../../functions/names.ts';
import { readSweepConfig } from '../../../functions/sweep/config.ts';

const env = {
  [ENV_LEDGER_TABLE]: 'ledger',
  [ENV_GITLAB_INSTANCE]: 'gitlab.example.com',
  [ENV_RULES_FILE]: 'rules.json',
  [ENV_GITLAB_URL]: 'https://gitlab.example.com',
  [ENV_GITLAB_TOKEN_PARAMETER]: '/tollgate/token',
};

test('what GitLab does not know any more is charged nothing unless the operator says so', () => {
  expect(readSweepConfig(env).chargeUnknown).toBe('nothing');
  expect(readSweepConfig({ ...env, [ENV_CHARGE_UNKNOWN]: 'hold' }).chargeUnknown).toBe('hold');
});

test('one failed deploy names every setting that is missing or wrong', () => {
  const wrong = { ...env, [ENV_GITLAB_URL]: undefined, [ENV_LEDGER_TABLE]: '', [ENV_CHARGE_UNKNOWN]: 'Hold' };
  expect(() => readSweepConfig(wrong)).toThrow(
    /config_invalid.*LEDGER_TABLE.*GITLAB_URL.*CHARGE_UNKNOWN is "Hold"/,
  );
});
