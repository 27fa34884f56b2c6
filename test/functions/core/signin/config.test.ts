import { expect, test } from 'vitest';
import { readSignInConfig } from '../../../../functions/core/signin/config.ts';

const WELL = {
  TOLLGATE_GITLAB_URL: 'https://gitlab.example.com',
  TOLLGATE_GITLAB_TOKEN_PARAMETER: '/tollgate/prod/gitlab-token',
  TOLLGATE_CONSOLE_URL: 'https://budget.example.com/',
  TOLLGATE_SIGNIN_CLIENT_ID: 'abc',
  TOLLGATE_SIGNIN_SECRET_PARAMETER: '/tollgate/prod/signin-secret',
};

test('the settings of a deployment are read; without groups nobody is admin or finance', () => {
  expect(readSignInConfig(WELL)).toEqual({
    config: {
      gitlabUrl: 'https://gitlab.example.com',
      gitlabTokenParameter: '/tollgate/prod/gitlab-token',
      clientId: 'abc',
      clientSecretParameter: '/tollgate/prod/signin-secret',
      redirectUrl: 'https://budget.example.com/signin/callback',
      roles: {},
    },
  });
  const groups = { TOLLGATE_ADMIN_GROUP_ID: '7', TOLLGATE_FINANCE_GROUP_ID: '8' };
  const levels = { TOLLGATE_OWNERS_FROM: 'owner', TOLLGATE_VIEWERS_FROM: 'guest' };
  expect(readSignInConfig({ ...WELL, ...groups, ...levels })).toMatchObject({
    config: { roles: { adminGroupId: 7, financeGroupId: 8, ownersFrom: 'owner', viewersFrom: 'guest' } },
  });
});

test('a start without settings names all of them', () => {
  const problems = Object.keys(WELL).map((name) => `${name} is not set`);
  expect(readSignInConfig({})).toEqual({ problems: expect.arrayContaining(problems) });
});

test.each([
  ['TOLLGATE_ADMIN_GROUP_ID', 'company/admins'],
  ['TOLLGATE_FINANCE_GROUP_ID', '0'],
  ['TOLLGATE_FINANCE_GROUP_ID', '8,9'],
  ['TOLLGATE_OWNERS_FROM', 'developer'],
  ['TOLLGATE_VIEWERS_FROM', 'everybody'],
  ['TOLLGATE_CONSOLE_URL', 'http://budget.example.com'],
  ['TOLLGATE_CONSOLE_URL', 'https://budget.example.com/below'],
])('%s = "%s" is refused by name', (name, value) => {
  expect(readSignInConfig({ ...WELL, [name]: value })).toEqual({
    problems: [expect.stringContaining(`${name} is`)],
  });
});
