/** What every store of sessions must do. Run on the one in memory and on DynamoDB Local. */
import { expect, test } from 'vitest';
import type { SessionStore } from '../../../../functions/core/signin/dynamo-session-store.ts';
import type { Session } from '../../../../functions/core/signin/model.ts';

export const SESSION: Session = {
  userId: 42,
  username: 'fin',
  name: 'Fin Anz ☃',
  roles: { admin: false, finance: true, ownedGroupIds: [], viewerGroupIds: [101, 2_147_483_648] },
  rolesReadAtMs: 1_795_262_400_000,
  seenAtMs: 1_795_262_400_001,
  endsAtMs: 1_795_298_400_000,
};

export function sessionStoreContract(newStore: (instance: string) => SessionStore): void {
  let stores = 0;
  const build = (): SessionStore => {
    stores += 1;
    return newStore(`sessions-${stores}.example.com`);
  };

  test('a session comes back as it was written, under its own hash only', async () => {
    const store = build();
    await store.create('a', SESSION);
    expect(await store.read('a')).toEqual(SESSION);
    expect(await store.read('b')).toBeUndefined();
  });

  test('a change leaves what it does not name, and the end where it was', async () => {
    const store = build();
    await store.create('a', SESSION);
    expect(await store.change('a', { seenAtMs: 7 })).toBe(true);
    const roles = { admin: true, finance: false, ownedGroupIds: [1], viewerGroupIds: [1] };
    expect(await store.change('a', { roles, rolesReadAtMs: 8, username: 'fin2' })).toBe(true);
    expect(await store.read('a')).toEqual({
      ...SESSION,
      seenAtMs: 7,
      roles,
      rolesReadAtMs: 8,
      username: 'fin2',
    });
  });

  test('a session that was removed is not brought back by a change that was on its way', async () => {
    const store = build();
    await store.create('a', SESSION);
    await store.remove('a');
    await store.remove('a');
    expect(await store.change('a', { seenAtMs: 7 })).toBe(false);
    expect(await store.read('a')).toBeUndefined();
  });

  test('a user has the sessions that were made for them, and no other', async () => {
    const store = build();
    await store.create('a', SESSION);
    await store.create('b', { ...SESSION, terminal: true });
    await store.create('c', { ...SESSION, userId: 43 });
    await store.create('d', SESSION);
    await store.remove('d');
    const of = async (userId: number) =>
      (await store.ofUser(userId)).map(({ idHash, session }) => [idHash, session.terminal]).sort();
    expect(await of(42)).toEqual([
      ['a', undefined],
      ['b', true],
    ]);
    expect(await of(43)).toEqual([['c', undefined]]);
    expect(await of(44)).toEqual([]);
  });
}
