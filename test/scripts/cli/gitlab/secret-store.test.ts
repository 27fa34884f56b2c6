import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutParameterCommand } from '@aws-sdk/client-ssm';
import { expect, test } from 'vitest';
import { openSecretStore } from '../../../../scripts/cli/gitlab/secret-store.ts';
import { aProject } from '../desk-run.ts';
import { memoryParameters } from './setup-bench.ts';

test('a writer that died between the note and the value leaves the old value with the old note', async () => {
  const root = aProject();
  const store = openSecretStore('secrets', root);
  await store.write('router-token', 'glrct-one', 'controller 7, token 1');
  await store.write('router-token', 'glrct-two', 'controller 7, token 2');
  writeFileSync(join(root, 'secrets/router-token'), 'glrct-one\n');
  expect(await store.read('router-token')).toEqual({ value: 'glrct-one', note: 'controller 7, token 1' });
  writeFileSync(join(root, 'secrets/router-token'), 'glrct-by-hand\n');
  expect(await store.read('router-token')).toEqual({ value: 'glrct-by-hand', note: undefined });
  expect(readFileSync(join(root, 'secrets/.router-token.notes'), 'utf8')).not.toContain('glrct');
});

test('a parameter has its note as description, and a value somebody else put there has none', async () => {
  const { known } = memoryParameters();
  const store = openSecretStore('ssm:/tollgate/prod', '/');
  expect(await store.read('router-token')).toBeUndefined();
  await store.write('router-token', 'glrct-one', 'controller 7, token 1');
  expect(await store.read('router-token')).toEqual({ value: 'glrct-one', note: 'controller 7, token 1' });
  const kept = known.get('/tollgate/prod/router-token');
  expect(kept?.Description).not.toContain('glrct');
  known.set('/tollgate/prod/router-token', { ...kept, Value: 'glrct-by-hand' });
  expect(await store.read('router-token')).toEqual({ value: 'glrct-by-hand', note: undefined });
});

test('what AWS refuses names the parameter and never the value', async () => {
  const { ssm } = memoryParameters();
  const refusal = Object.assign(new Error('glrct-one may not be written'), { name: 'AccessDeniedException' });
  ssm.on(PutParameterCommand).rejects(refusal);
  const store = openSecretStore('ssm:/tollgate/prod', '/');
  const failure: unknown = await store
    .write('router-token', 'glrct-one', 'token 1')
    .catch((error: unknown) => error);
  expect(String(failure)).toContain(
    '/tollgate/prod/router-token could not be written (AccessDeniedException)',
  );
  expect(String(failure)).not.toContain('glrct-one');
});
