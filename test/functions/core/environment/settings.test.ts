import { describe, expect, test } from 'vitest';
import * as settings from '../../../../functions/core/environment/settings.ts';

/** Enough for every program to start. */
const ALL = {
  TOLLGATE_LEDGER_TABLE: 'tollgate-prod',
  TOLLGATE_GITLAB_INSTANCE: 'gitlab.example.com',
  TOLLGATE_RULES_FILE: 'rules.json',
  TOLLGATE_GITLAB_URL: 'https://gitlab.example.com',
  TOLLGATE_GITLAB_TOKEN_PARAMETER: '/tollgate/gitlab-token',
  TOLLGATE_WEBHOOK_SECRETS_PARAMETER: '/tollgate/webhook-secrets',
  TOLLGATE_WEBHOOK_URL: 'https://hooks.example.com/v1/gitlab/jobs',
  TOLLGATE_REQUEUE_TOKENS_PATH: '/tollgate/requeue',
  TOLLGATE_CONTROLLER_ID: '7',
  TOLLGATE_CONTROLLER_TOKEN_PARAMETER: '/tollgate/controller-token',
  TOLLGATE_PAGE_TOPIC: 'arn:aws:sns:eu-central-1:123456789012:pages',
};
const TABLE = ['TOLLGATE_LEDGER_TABLE', 'TOLLGATE_GITLAB_INSTANCE'];
const RULES = 'TOLLGATE_RULES_FILE';
const GITLAB = ['TOLLGATE_GITLAB_URL', 'TOLLGATE_GITLAB_TOKEN_PARAMETER'];
const SECRETS = 'TOLLGATE_WEBHOOK_SECRETS_PARAMETER';

describe.each([
  [settings.readAdmitConfig, [...TABLE, RULES]],
  [settings.readSettleConfig, [...TABLE, SECRETS]],
  [settings.readRequeueConfig, [...TABLE, RULES, 'TOLLGATE_GITLAB_URL', 'TOLLGATE_REQUEUE_TOKENS_PATH']],
  [settings.readDriftConfig, [...TABLE, RULES]],
  [settings.readSweepConfig, [...TABLE, RULES, ...GITLAB]],
  [settings.readRollupConfig, [...TABLE, RULES]],
  [
    settings.readWatchdogConfig,
    [
      ...[...TABLE, 'TOLLGATE_GITLAB_URL', 'TOLLGATE_CONTROLLER_ID'],
      ...['TOLLGATE_CONTROLLER_TOKEN_PARAMETER', 'TOLLGATE_PAGE_TOPIC'],
    ],
  ],
  [settings.readDirectoryConfig, [...TABLE, ...GITLAB]],
  [settings.readDoctorConfig, [...TABLE, RULES, ...GITLAB, 'TOLLGATE_WEBHOOK_URL']],
])('%o', (read, needed) => {
  test('refuses to start with the names of all missing settings', () => {
    const problems = needed.map((name) => `${name} is not set`).join('; ');
    expect(() => read({})).toThrow(`[config_invalid] ${problems}`);
    expect(read(ALL)).toMatchObject({ ledgerTable: 'tollgate-prod', dynamodbEndpoint: undefined });
  });
});

test.each([
  [settings.readSweepConfig, 'TOLLGATE_CHARGE_UNKNOWN', 'Hold'],
  [settings.readSweepConfig, 'TOLLGATE_CONTROLLER_ID', 'seven'],
  [settings.readWatchdogConfig, 'TOLLGATE_CONTROLLER_ID', '0'],
  [settings.readDoctorConfig, 'TOLLGATE_CONTROLLER_ID', '-1'],
  [settings.readDoctorConfig, 'TOLLGATE_CONTROLLER_ID', '1.5'],
  [settings.readDriftConfig, 'TOLLGATE_ROLLUP_ZONE', '+01:00'],
  [settings.readRollupConfig, 'TOLLGATE_ROLLUP_ZONE', 'Mars'],
])('%o refuses a %s of %s', (read, name, value) => {
  expect(() => read({ ...ALL, [name]: value })).toThrow(`${name} is "${value}"; expected`);
});
