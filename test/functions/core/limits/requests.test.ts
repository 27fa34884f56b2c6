import { expect, test } from 'vitest';
import type { GrantRequestInput } from '../../../../functions/core/limits/edit-model.ts';
import type { Requester } from '../../../../functions/core/limits/edit-outcomes.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { aLiveDesk, FINANCE, type TestDesk } from './desk.ts';

const DAY_MS = 86_400_000;
const asked: GrantRequestInput = {
  subject: 'group/101',
  limit: 'money-month',
  amount: '+400',
  from: '2026-11-21',
  until: '2026-11-30',
  reason: 'release week',
};
const dev: Requester = { actor: 'dev', rights: [{ role: 'viewer', groups: [100] }] };
const zoe: Requester = { actor: 'zoe', rights: FINANCE };

async function filed({ limitEdits }: TestDesk, by = dev) {
  const outcome = await limitEdits.request(asked, by);
  if (outcome.outcome !== 'filed') throw new Error(outcome.outcome);
  return outcome.request;
}

test('who asks is told no number and changes none; who approves gives the grant, with both names on it', async () => {
  const made = await aLiveDesk();
  const { limitEdits } = made;
  const request = await filed(made);
  expect((await limitEdits.live())?.document.grants).toBeUndefined();
  expect(await limitEdits.decide(request.id, { decision: 'approve', note: 'go' }, zoe)).toMatchObject({
    outcome: 'approved',
    request: { state: 'approved', granted: true, decidedBy: 'zoe', note: 'go' },
    pointer: { edit: 2 },
  });
  expect((await limitEdits.live())?.document.grants).toMatchObject([
    { id: request.id, amount: '+400', requested_by: 'dev', approved_by: 'zoe', by: 'zoe' },
  ]);
  expect(await limitEdits.decide(request.id, { decision: 'approve' }, zoe)).toMatchObject({
    outcome: 'decided',
  });
  expect((await limitEdits.history({ max: 1 })).entries).toMatchObject([
    { actor: 'zoe', source: `request ${request.id}`, why: 'dev asked for more: release week' },
  ]);
});

test('a grant whose approval was not noted is found below a hundred later edits, and not given again', async () => {
  let isLost = false;
  let puts = 0;
  const table = memoryLimitTable((operation) => {
    if (operation === 'putRequest') puts += 1;
    // Filed, approved, and only then granted.
    return isLost && puts === 3 ? 'lost-before' : undefined;
  });
  const made = await aLiveDesk({ table });
  const { limitEdits } = made;
  const request = await filed(made);
  isLost = true;
  await expect(limitEdits.decide(request.id, { decision: 'approve' }, zoe)).rejects.toThrow();
  isLost = false;
  for (let edit = 1; edit <= 105; edit += 1)
    await limitEdits.apply(
      [{ kind: 'set', subject: 'group/101', limit: 'money-month', owner: `${edit}` }],
      await made.by(),
    );
  expect(await limitEdits.decide(request.id, { decision: 'approve' }, zoe)).toMatchObject({
    outcome: 'approved',
    pointer: { edit: 2 },
  });
  expect((await limitEdits.live())?.document.grants).toHaveLength(1);
});

test('five wait for an answer per person, and room is made when one is declined or a month is over', async () => {
  const made = await aLiveDesk();
  const { limitEdits, pass } = made;
  const first = await filed(made);
  for (let more = 1; more < 5; more += 1) await filed(made);
  expect(await limitEdits.request(asked, dev)).toMatchObject({ outcome: 'too_many', whose: 'yours', max: 5 });
  expect(await limitEdits.decide(first.id, { decision: 'decline', note: 'no' }, zoe)).toMatchObject({
    outcome: 'declined',
  });
  await filed(made);
  expect((await limitEdits.request(asked, dev)).outcome).toBe('too_many');
  pass(30 * DAY_MS);
  expect(await limitEdits.requests(zoe)).toEqual([]);
  expect(await limitEdits.decide(first.id, { decision: 'approve' }, zoe)).toEqual({ outcome: 'unknown' });
});

test('a grant that no longer fits leaves the request waiting', async () => {
  const made = await aLiveDesk();
  const request = await filed(made);
  const lead: Requester = { actor: 'lead', rights: FINANCE };
  const remove = { kind: 'remove', subject: 'group/101', limit: 'money-month' } as const;
  const asking = await made.limitEdits.apply([remove], await made.by());
  if (asking.outcome !== 'needs_approval' || asking.request === undefined) throw new Error(asking.outcome);
  await made.limitEdits.decide(asking.request.id, { decision: 'approve' }, lead);
  expect(await made.limitEdits.decide(request.id, { decision: 'approve' }, lead)).toMatchObject({
    outcome: 'invalid',
  });
  expect(await made.limitEdits.requests(zoe)).toContainEqual(
    expect.objectContaining({ id: request.id, state: 'pending', granted: false }),
  );
});

test('a raise that is requested with the review of a break-glass is approved by another signed-in person', async () => {
  const { limitEdits, by } = await aLiveDesk();
  const ann = { userId: 5 };
  const glass = { subject: 'group/101', users: [5], jobs: 1, until: '2026-11-22', reason: 'outage' };
  await limitEdits.apply([{ kind: 'breakglass', ...glass }], await by(ann));
  const [{ id = '' } = {}] = (await limitEdits.live())?.limits.breakGlasses ?? [];
  const filing = await limitEdits.apply(
    [
      { kind: 'set', subject: 'group/101', limit: 'money-month', amount: 5_000 },
      { kind: 'review-breakglass', breakglass: id, note: 'fine' },
    ],
    await by(ann),
  );
  if (filing.outcome !== 'needs_approval' || filing.request === undefined) throw new Error(filing.outcome);
  expect(
    await limitEdits.decide(filing.request.id, { decision: 'approve' }, { ...zoe, userId: 6 }),
  ).toMatchObject({
    outcome: 'approved',
  });
});
