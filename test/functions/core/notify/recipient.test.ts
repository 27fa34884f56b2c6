import { describe, expect, test } from 'vitest';
import { findRecipient, recipientKey } from '../../../../functions/core/notify/recipient.ts';
import { aPolicy, someLimits } from '../../../policies/documents.ts';
import { DIRECTORY } from '../../console/house.ts';

const money = (on: object, over: object = {}) => ({ on, money: 9, per: 'month', ...over });

const limits = someLimits(
  {
    limits: [
      money({ group: 100 }, { owner: 'acme-leads', contact: 'acme@example.com' }),
      money({ group: 101 }),
      { on: { group: 101 }, jobs: 3, owner: 'slots-team' },
      money({ group: 101 }, { per: 'day', owner: 'Daily team' }),
      money({ group: 200 }, { owner: 'acme-leads' }),
      money({ runner_class: 'large' }, { owner: 'gpu-team' }),
    ],
  },
  aPolicy(),
  DIRECTORY,
);
const ownership = { limits, directory: DIRECTORY };
const find = (subject: string, limit?: string) => findRecipient(subject, limit, ownership);

describe('the recipient of a message', () => {
  test.each<[string, string | undefined, string, string]>([
    ['group/101', 'jobs-now', 'slots-team', 'the owner of the limit goes first'],
    ['group/101', 'money-day', 'Daily team', 'each limit has its own'],
    ['group/104', undefined, 'slots-team', 'then the closest group above'],
    ['project/1', undefined, 'slots-team', 'of a project, too'],
    ['runner-class/large', undefined, 'gpu-team', 'a runner class is in no group'],
    ['instance', undefined, 'finance', 'nor is the instance'],
    ['group/999', undefined, 'finance', 'an unknown group'],
  ])('%s %s: %s (%s)', (subject, limit, owner) => {
    expect(find(subject, limit).owner).toBe(owner);
  });

  test('teams below different top-level groups are different recipients, even with equal names', () => {
    expect(find('group/100')).toMatchObject({ owner: 'acme-leads', root: 100, contact: 'acme@example.com' });
    expect(find('group/200')).toEqual({ owner: 'acme-leads', root: 200 });
    expect(recipientKey(find('group/100'))).not.toBe(recipientKey(find('group/200')));
    expect(recipientKey(find('group/100'))).toBe(recipientKey(find('group/102')));
  });
});
