import { expect, test } from 'vitest';
import { readConsoleConfig } from '../../../functions/console/config.ts';

const ENV = {
  TOLLGATE_LEDGER_TABLE: 'ledger',
  TOLLGATE_GITLAB_INSTANCE: 'gitlab.example.com',
  TOLLGATE_RULES_FILE: '/var/task/rules.json',
  TOLLGATE_GITLAB_URL: 'https://gitlab.example.com',
  TOLLGATE_GITLAB_TOKEN_PARAMETER: '/tollgate/console-token',
  TOLLGATE_CONSOLE_URL: 'https://budget.example.com',
  TOLLGATE_SIGNIN_CLIENT_ID: '2f0a',
  TOLLGATE_SIGNIN_SECRET_PARAMETER: '/tollgate/signin-secret',
};

const messageOf = (env: Record<string, string>): string => {
  try {
    readConsoleConfig(env);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  throw new Error('nothing was refused');
};

test('what is set is taken; days are those of UTC unless a zone is named', () => {
  expect(readConsoleConfig(ENV)).toEqual({
    ledgerTable: 'ledger',
    gitlabInstance: 'gitlab.example.com',
    rulesFile: '/var/task/rules.json',
    zone: 'UTC',
    dynamodbEndpoint: undefined,
    trustedProxies: [],
    signIn: {
      gitlabUrl: 'https://gitlab.example.com',
      gitlabTokenParameter: '/tollgate/console-token',
      clientId: '2f0a',
      clientSecretParameter: '/tollgate/signin-secret',
      redirectUrl: 'https://budget.example.com/signin/callback',
      roles: {},
    },
  });
});

test('everything that is missing is named at once, the sign-in’s too', () => {
  const message = messageOf({});
  expect(message).toMatch(/^\[config_invalid\] /);
  for (const name of Object.keys(ENV)) expect(message).toContain(`${name} is not set`);
});

test('everything that is wrong is named at once, with what is right', () => {
  expect(
    messageOf({
      ...ENV,
      TOLLGATE_ROLLUP_ZONE: 'Berlin',
      TOLLGATE_TRUSTED_PROXIES: '10.0.0.0/33',
      TOLLGATE_CONSOLE_URL: 'http://budget.example.com',
      TOLLGATE_ADMIN_GROUP_ID: 'admins',
    }),
  ).toBe(
    '[config_invalid] TOLLGATE_ROLLUP_ZONE is "Berlin"; expected an IANA zone such as Europe/Berlin; ' +
      'TOLLGATE_TRUSTED_PROXIES has "10.0.0.0/33"; expected an address or a range such as 10.0.0.0/8; ' +
      'TOLLGATE_CONSOLE_URL is not usable; expected one like https://budget.example.com; ' +
      'TOLLGATE_ADMIN_GROUP_ID is "admins"; expected the id GitLab shows for the group',
  );
});
