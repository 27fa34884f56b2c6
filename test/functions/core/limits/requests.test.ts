import { expect, test } from 'vitest';
import type { GrantAsk } from '../../../../functions/core/limits/edit-model.ts';
import type { Asker } from '../../../../functions/core/limits/edit-outcomes.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { aLiveDesk, FINANCE, type TestDesk } from './desk.ts';

const DAY_MS = 86_400_000;
const asked: GrantAsk = {
  subject: 'group/101',
  limit: 'money-month',
  amount: '+400',
  from: '2026-11-21',
  until: '2026-11-30',
  reason: 'release week',
};
const dev: Asker = { actor: 'dev', rights: [{ role: 'viewer', groups: [100] }] };
const zoe: Asker = { actor: 'zoe', rights: FINANCE };

async function filed({ desk }: TestDesk, by = dev) {
  const outcome = await desk.request(asked, by);
  if (outcome.outcome !== 'filed') throw new Error(outcome.outcome);
  return outcome.request;
}

test('who asks is told no number and changes none; who approves gives the grant, with both names on it', async () => {
  const made = await aLiveDesk();
  const { desk } = made;
  const request = await filed(made);
  expect((await desk.live())?.document.grants).toBeUndefined();
  expect(await desk.decide(request.id, { verdict: 'approve', note: 'go' }, zoe)).toMatchObject({
    outcome: 'approved',
    request: { state: 'approved', granted: true, decidedBy: 'zoe', note: 'go' },
    pointer: { edit: 2 },
  });
  expect((await desk.live())?.document.grants).toMatchObject([
    { id: request.id, amount: '+400', requested_by: 'dev', approved_by: 'zoe', by: 'zoe' },
  ]);
  expect(await desk.decide(request.id, { verdict: 'approve' }, zoe)).toMatchObject({ outcome: 'decided' });
  expect((await desk.history({ max: 1 })).entries).toMatchObject([
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
  const { desk } = made;
  const request = await filed(made);
  isLost = true;
  await expect(desk.decide(request.id, { verdict: 'approve' }, zoe)).rejects.toThrow();
  isLost = false;
  for (let edit = 1; edit <= 105; edit += 1)
    await desk.apply(
      [{ kind: 'set', subject: 'group/101', limit: 'money-month', owner: `${edit}` }],
      await made.by(),
    );
  expect(await desk.decide(request.id, { verdict: 'approve' }, zoe)).toMatchObject({
    outcome: 'approved',
    pointer: { edit: 2 },
  });
  expect((await desk.live())?.document.grants).toHaveLength(1);
});

test('nobody asks for groups they do not see, or sees their requests', async () => {
  const made = await aLiveDesk();
  const stranger: Asker = { actor: 'eve', rights: [{ role: 'viewer', groups: [102] }] };
  expect(await made.desk.request(asked, stranger)).toMatchObject({ outcome: 'forbidden', act: 'ask' });
  await filed(made);
  expect(await made.desk.requests(stranger)).toEqual([]);
  expect(await made.desk.requests(dev)).toHaveLength(1);
  expect(await made.desk.requests(zoe)).toHaveLength(1);
});

test('five wait for an answer per person, and room is made when one is declined or a month is over', async () => {
  const made = await aLiveDesk();
  const { desk, pass } = made;
  const first = await filed(made);
  for (let more = 1; more < 5; more += 1) await filed(made);
  expect(await desk.request(asked, dev)).toMatchObject({ outcome: 'too_many', whose: 'yours', max: 5 });
  expect(await desk.decide(first.id, { verdict: 'decline', note: 'no' }, zoe)).toMatchObject({
    outcome: 'declined',
  });
  await filed(made);
  expect((await desk.request(asked, dev)).outcome).toBe('too_many');
  pass(30 * DAY_MS);
  expect(await desk.requests(zoe)).toEqual([]);
  expect(await desk.decide(first.id, { verdict: 'approve' }, zoe)).toEqual({ outcome: 'unknown' });
});

test('a grant that no longer fits leaves the request waiting', async () => {
  const made = await aLiveDesk();
  const request = await filed(made);
  const lead: Asker = { actor: 'lead', rights: FINANCE };
  const remove = { kind: 'remove', subject: 'group/101', limit: 'money-month' } as const;
  const asking = await made.desk.apply([remove], await made.by());
  if (asking.outcome !== 'needs_approval' || asking.request === undefined) throw new Error(asking.outcome);
  await made.desk.decide(asking.request.id, { verdict: 'approve' }, lead);
  expect(await made.desk.decide(request.id, { verdict: 'approve' }, lead)).toMatchObject({
    outcome: 'invalid',
  });
  expect(await made.desk.requests(zoe)).toContainEqual(
    expect.objectContaining({ id: request.id, state: 'pending', granted: false }),
  );
});

test('a raise that is requested with the review of a break-glass is approved by another signed-in person', async () => {
  const { desk, by } = await aLiveDesk();
  const ann = { userId: 5 };
  const glass = { subject: 'group/101', users: [5], jobs: 1, until: '2026-11-22', reason: 'outage' };
  await desk.apply([{ kind: 'breakglass', ...glass }], await by(ann));
  const [{ id = '' } = {}] = (await desk.live())?.limits.breakGlasses ?? [];
  const filing = await desk.apply(
    [
      { kind: 'set', subject: 'group/101', limit: 'money-month', amount: 5_000 },
      { kind: 'review-breakglass', breakglass: id, note: 'fine' },
    ],
    await by(ann),
  );
  if (filing.outcome !== 'needs_approval' || filing.request === undefined) throw new Error(filing.outcome);
  expect(await desk.decide(filing.request.id, { verdict: 'approve' }, { ...zoe, userId: 6 })).toMatchObject({
    outcome: 'approved',
  });
});
