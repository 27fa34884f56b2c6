import { expect, test } from 'vitest';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { ledgerPlace } from '../../../../scripts/cli/ledger-flags.ts';
import { openLedger, readOnly } from '../../../../scripts/cli/open-ledger.ts';
import { UsageError } from '../../../../scripts/terminal/command.ts';

const NO_ENV = { env: {} };

test('without a flag it is the ledger of npm start', () => {
  expect(ledgerPlace({}, NO_ENV)).toEqual({ kind: 'local' });
  expect(ledgerPlace({ ledger: 'local', instance: 'kas.example.com' }, NO_ENV)).toEqual({
    kind: 'local',
    instance: 'kas.example.com',
  });
});

test('the GitLab a table is about is told by flag, or as the function has it, or remembered', () => {
  const env = { TOLLGATE_GITLAB_INSTANCE: 'gitlab.example.com' };
  expect(ledgerPlace({ ledger: 'tollgate', region: 'eu-west-1' }, { env })).toEqual({
    kind: 'table',
    tableName: 'tollgate',
    instance: 'gitlab.example.com',
    region: 'eu-west-1',
  });
  expect(ledgerPlace({ ledger: 'tollgate' }, NO_ENV)).toEqual({ kind: 'table', tableName: 'tollgate' });
});

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

test('a local ledger that was never made is not made now', async () => {
  await expect(openLedger({}, { env: {}, root: '/nowhere/' })).rejects.toThrow(/npm start makes it/);
});

test('the desk cannot write, whatever it tries', async () => {
  const store = new MemoryStore({ instance: 'gitlab.example.com' });
  const desk = readOnly(store);
  await expect(desk.transact([], { token: 't', timeoutMs: 1 })).rejects.toThrow(/never writes/);
  const said = { key: 'x', atMs: 0, untilMs: 1 };
  await expect(desk.announce(said, { timeoutMs: 1 })).rejects.toThrow(/never writes/);
  expect([...store.dump()]).toEqual([]);
});
