import { expect, test } from 'vitest';
import { readDoctorConfig } from '../../../functions/doctor/config.ts';
import * as names from '../../../functions/names.ts';

const ENV = {
  [names.ENV_LEDGER_TABLE]: 'tollgate-prod',
  [names.ENV_GITLAB_INSTANCE]: 'gitlab.example.com',
  [names.ENV_RULES_FILE]: '/var/task/rules.json',
  [names.ENV_GITLAB_URL]: 'https://gitlab.example.com',
  [names.ENV_GITLAB_TOKEN_PARAMETER]: '/tollgate/prod/gitlab-token',
  [names.ENV_WEBHOOK_URL]: 'https://hooks.example.com/v1/gitlab/jobs',
};

test('a look starts without a controller’s number or a version of the descriptors', () => {
  const { controllerId, descriptorsVersion, zone } = readDoctorConfig(ENV);
  expect({ controllerId, descriptorsVersion, zone }).toEqual({
    ...{ controllerId: undefined, descriptorsVersion: undefined, zone: 'UTC' },
  });
  expect(readDoctorConfig({ ...ENV, [names.ENV_CONTROLLER_ID]: '7' }).controllerId).toBe(7);
});

test('all mistakes are told at once', () => {
  const wrong = {
    [names.ENV_CONTROLLER_ID]: 'seven',
    [names.ENV_ROLLUP_ZONE]: 'Mars',
    [names.ENV_WEBHOOK_URL]: '',
  };
  expect(() => readDoctorConfig({ ...ENV, ...wrong })).toThrow(
    /\[config_invalid\] .*WEBHOOK_URL is not set.*"Mars".*"seven"; expected the number/,
  );
});
