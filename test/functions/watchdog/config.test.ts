import { expect, test } from 'vitest';
import { readWatchdogConfig } from '../../../functions/watchdog/config.ts';

const WELL = {
  TOLLGATE_LEDGER_TABLE: 'tollgate-prod',
  TOLLGATE_GITLAB_INSTANCE: 'gitlab.example.com',
  TOLLGATE_GITLAB_URL: 'https://gitlab.example.com',
  TOLLGATE_CONTROLLER_ID: '7',
  TOLLGATE_CONTROLLER_TOKEN_PARAMETER: '/tollgate/prod/controller-token',
  TOLLGATE_PAGE_TOPIC: 'arn:aws:sns:eu-central-1:123456789012:pages',
};

test('the settings of a deployment are read', () => {
  expect(readWatchdogConfig(WELL)).toMatchObject({ controllerId: 7, dynamodbEndpoint: undefined });
});

test('a start without settings names all of them', () => {
  for (const name of Object.keys(WELL)) expect(() => readWatchdogConfig({})).toThrow(`${name} is not set`);
});

test.each(['seven', '0', '-1', '1.5'])('controller "%s" is no number of GitLab', (id) => {
  expect(() => readWatchdogConfig({ ...WELL, TOLLGATE_CONTROLLER_ID: id })).toThrow(
    `TOLLGATE_CONTROLLER_ID is "${id}"`,
  );
});
