import { expect, test } from 'vitest';
import { readSettleConfig } from '../../../functions/settle/config.ts';

test('every missing setting is named at once', () => {
  expect(() => readSettleConfig({ TOLLGATE_LEDGER_TABLE: 'ledger' })).toThrow(
    '[config_invalid] TOLLGATE_GITLAB_INSTANCE is not set; TOLLGATE_WEBHOOK_SECRETS_PARAMETER is not set',
  );
});

test('plain tokens are taken only where their parameter is named', () => {
  const env = {
    TOLLGATE_LEDGER_TABLE: 'ledger',
    TOLLGATE_GITLAB_INSTANCE: 'gitlab.example.com',
    TOLLGATE_WEBHOOK_SECRETS_PARAMETER: '/tollgate/webhook',
    TOLLGATE_WEBHOOK_TOKENS_PARAMETER: '',
  };
  expect(readSettleConfig(env)).toEqual({
    ledgerTable: 'ledger',
    gitlabInstance: 'gitlab.example.com',
    secretsParameter: '/tollgate/webhook',
    tokensParameter: undefined,
    dynamodbEndpoint: undefined,
  });
});
