import { expect, test } from 'vitest';
import { selfLockout } from '../../policies/self-lockout.ts';
import { aDirectory, aPolicy, NOW_MS, someLimits } from './documents.ts';

const PLATFORM = { groups: [102], projects: [1], job: { image: 'good/deploy:1', tags: ['large'] } };

function lockout(rules: readonly object[], limits: object = {}, platform: object | undefined = PLATFORM) {
  const policy = aPolicy({ ...(platform && { platform }), rules });
  return selfLockout(policy, someLimits(limits, policy), aDirectory, NOW_MS);
}
const images = { id: 'images', kind: 'image', mode: 'enforce', allow: ['other/**'] };
const budgets = { id: 'budgets', kind: 'budget', mode: 'enforce' };
const blocked = { limits: [{ on: { group: 100 }, money: 0, per: 'month' }] };

test('the platform is not locked out by rules that exempt it', () => {
  expect(lockout([images, budgets], blocked)).toEqual([]);
});

test('a rule that binds the platform and would reject its job is named, with whom it rejects', () => {
  expect(lockout([{ ...images, binds_platform: true }])).toEqual([
    'rule images would reject project acme/payments/cards/api: IMAGE_NOT_ALLOWED',
    'rule images would reject group acme/platform: IMAGE_NOT_ALLOWED',
  ]);
});

test('a limit that blocks the platform is named', () => {
  expect(lockout([{ ...budgets, binds_platform: true }], blocked)).toContain(
    'rule budgets would reject group acme/platform: EXCEEDS_LIMIT_ALONE, limit money-month of group acme',
  );
});

test('a rule that rejects for want of a field says what the probe should name', () => {
  const strict = { ...images, binds_platform: true, on_missing: 'reject' };
  expect(lockout([strict], {}, { groups: [102] })).toEqual([
    'rule images would reject group acme/platform: it needs image, which platform.job does not name',
  ]);
});
