import { expect, test } from 'vitest';
import { ledgerPlace } from '../../../../scripts/cli/ledger-flags.ts';
import { readOnly } from '../../../../scripts/cli/open-ledger.ts';
import { UsageError } from '../../../../scripts/terminal/command.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';

const NO_ENV = { env: {} };

test.each([
  [{ ledger: 'a b' }],
  [{ region: 'eu-west-1' }],
  [{ endpoint: 'http://127.0.0.1:8000' }],
  [{ instance: 'https://gitlab.example.com' }],
  [{ ledger: 'tollgate', instance: 'a#b' }],
  [{ ledger: 'tollgate', instance: 'gitlab.example.com', endpoint: 'nowhere' }],
])('%j is wrong usage', (flags) => {
  expect(() => ledgerPlace(flags, NO_ENV)).toThrow(UsageError);
});

test('the desk cannot write, whatever it tries', async () => {
  const store = new MemoryStore({ instance: 'gitlab.example.com' });
  const limitEdits = readOnly(store);
  await expect(limitEdits.transact([], { token: 't', timeoutMs: 1 })).rejects.toThrow(/never writes/);
  const said = { key: 'x', atMs: 0, untilMs: 1 };
  await expect(limitEdits.announce(said, { timeoutMs: 1 })).rejects.toThrow(/never writes/);
  expect([...store.dump()]).toEqual([]);
});
