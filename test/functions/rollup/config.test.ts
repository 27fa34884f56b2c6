import { expect, test } from 'vitest';
import { readRollupConfig } from '../../../functions/rollup/config.ts';

const ENV = {
  TOLLGATE_LEDGER_TABLE: 'ledger',
  TOLLGATE_GITLAB_INSTANCE: 'gitlab.example.com',
  TOLLGATE_RULES_FILE: 'rules.json',
};

test('days are those of UTC unless a zone is named', () => {
  expect(readRollupConfig(ENV).zone).toBe('UTC');
  expect(readRollupConfig({ ...ENV, TOLLGATE_ROLLUP_ZONE: 'Europe/Berlin' }).zone).toBe('Europe/Berlin');
});

test('decisions go out where a bucket is named, and Lambda says in which region', () => {
  expect(readRollupConfig(ENV).export).toBeUndefined();
  const named = { ...ENV, TOLLGATE_EXPORT_BUCKET: 'decisions' };
  expect(readRollupConfig({ ...named, AWS_REGION: 'eu-central-1' }).export).toEqual({
    bucket: 'decisions',
    region: 'eu-central-1',
    endpoint: undefined,
  });
  expect(() => readRollupConfig(named)).toThrow(/AWS_REGION is not set/);
});

test('every wrong setting is named at once', () => {
  expect(() => readRollupConfig({ TOLLGATE_RULES_FILE: 'r', TOLLGATE_ROLLUP_ZONE: '+01:00' })).toThrow(
    /TOLLGATE_LEDGER_TABLE is not set.*TOLLGATE_GITLAB_INSTANCE is not set.*"\+01:00"; expected an IANA zone/,
  );
});
