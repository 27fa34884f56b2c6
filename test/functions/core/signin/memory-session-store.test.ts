import { expect, test } from 'vitest';
import { memorySessionStore } from '../../../../functions/core/signin/memory-session-store.ts';
import { SESSION, sessionStoreContract } from './session-contract.ts';

sessionStoreContract(() => memorySessionStore());

test('more sessions than it keeps sign the oldest out instead of filling the memory', async () => {
  const store = memorySessionStore();
  for (let count = 0; count <= 10_000; count += 1) await store.create(`${count}`, SESSION);
  expect(await store.read('0')).toBeUndefined();
  expect(await store.read('1')).toEqual(SESSION);
  expect(await store.read('10000')).toEqual(SESSION);
});
