import { expect, test } from 'vitest';
import type { User } from '../../../functions/core/signin/model.ts';
import { consoleHouse, LIMITS, USERS } from './house.ts';

const ASKED = {
  subject: 'group/101',
  limit: 'money-month',
  amount: '+400',
  from: '2026-11-01',
  until: '2026-12-31',
  reason: 'release week',
};
const FRITZ = USERS.finance;
const ADA = USERS.admin;

const house = async () => {
  const made = consoleHouse();
  await made.apply(LIMITS);
  const send = (user: User, path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    made.appFor(user).request(`/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const ask = async (user: User): Promise<string> => {
    const answer = await send(user, '/requests', ASKED);
    expect(answer.status).toBe(201);
    return ((await answer.json()) as { id: string }).id;
  };
  const approve = (user: User, id: string) => send(user, `/requests/${id}/decision`, { decision: 'approve' });
  return { ...made, ask, approve };
};

test('whoever renames the account between asking and approving still approves nothing of their own', async () => {
  const { ask, approve, limitEdits } = await house();
  const id = await ask(FRITZ);
  expect((await approve({ ...FRITZ, username: 'somebody-else' }, id)).status).toBe(403);
  expect((await limitEdits.live())?.document.grants).toBeUndefined();
});

test('whoever takes the name that became free is another person, and both are told apart by id', async () => {
  const { ask, approve, limitEdits } = await house();
  const id = await ask(FRITZ);
  expect((await approve({ ...ADA, username: FRITZ.username }, id)).status).toBe(200);
  expect((await limitEdits.live())?.document.grants).toMatchObject([
    { requested_by_user: FRITZ.id, approved_by_user: ADA.id, by_user: ADA.id },
  ]);
  expect((await limitEdits.history({ max: 1 })).entries).toMatchObject([{ userId: ADA.id }]);
});

test('a request stays its requester’s under a new name, and does not become that of who takes the old one', async () => {
  const { ask, read } = await house();
  await ask(FRITZ);
  const rowsOf = async (user: User) =>
    (await read.requests(user)).map(({ own, mayDecide }) => [own, mayDecide]);
  expect(await rowsOf({ ...FRITZ, username: 'somebody-else' })).toEqual([[true, false]]);
  expect(await rowsOf({ ...ADA, username: FRITZ.username })).toEqual([[false, true]]);
  expect(await rowsOf({ ...USERS.none, username: FRITZ.username })).toEqual([]);
});

test('an owner lifts the own freeze under a new name; who takes the old name lifts it not', async () => {
  const { limitEdits } = await house();
  const rights = [{ role: 'owner', groups: [101] }] as const;
  const edit = async (userId: number | undefined, actor: string, lift?: string) =>
    limitEdits.apply(
      [
        lift === undefined
          ? { kind: 'freeze', subject: 'group/101', reason: 'release' }
          : { kind: 'unfreeze', freeze: lift },
      ],
      {
        actor,
        ...(userId !== undefined && { userId }),
        rights,
        why: 'because',
        source: 'test',
        base: (await limitEdits.live())?.pointer.set,
      },
    );
  await edit(31, 'olga');
  const [freeze] = [...((await limitEdits.live())?.limits.freezes?.get('group/101') ?? [])];
  expect(freeze).toMatchObject({ by: 'olga', byUser: 31 });
  const id = freeze?.id ?? '';
  expect((await edit(32, 'olga', id)).outcome).toBe('forbidden');
  expect((await edit(undefined, 'olga', id)).outcome).toBe('forbidden');
  expect((await edit(31, 'new-name', id)).outcome).toBe('live');
});
