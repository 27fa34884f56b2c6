/** A token is revoked and replaced: how soon the relay is back with the new one, wherever it is kept. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parameterToken } from '../../../relay/aws/secrets.ts';
import { systemRelayClock } from '../../../relay/relay.ts';
import { fileToken, type TokenSource } from '../../../relay/token.ts';
import { patientRouter } from '../../support/flow/patient-router.ts';
import { relayBefore } from '../../support/relay/relay-before.ts';

const OLD = 'glrct-old';
const NEW = 'glrct-new';
/** Pauses of a refused token grow to a minute; a relay that is back within this has not waited for the end of one. */
const BACK_MS_MAX = 20_000;

interface KeptToken {
  readonly source: TokenSource;
  replace(): void;
}

function inFile(): KeptToken {
  const dir = mkdtempSync(join(tmpdir(), 'token-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'token');
  writeFileSync(path, OLD);
  return { source: fileToken(path), replace: () => writeFileSync(path, NEW) };
}

async function inParameter(): Promise<KeptToken> {
  let value = OLD;
  const source = await parameterToken('/tollgate/prod/router-token', {
    parameter: async () => value,
    clock: systemRelayClock,
    random: Math.random,
    failed: () => {},
  });
  return {
    source,
    replace() {
      value = NEW;
    },
  };
}

test.each([
  { transport: 'grpc', kept: 'a file', keep: inFile },
  { transport: 'ws', kept: 'a file', keep: inFile },
  { transport: 'grpc', kept: 'a parameter', keep: inParameter },
  { transport: 'ws', kept: 'a parameter', keep: inParameter },
] as const)('over $transport a new token in $kept ends the pause', async ({ transport, keep }) => {
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [OLD], state: 'enabled' }] });
  onTestFinished(() => router.close());
  const { source, replace } = await keep();
  await using relay = relayBefore((transport === 'ws' ? router.wsUrl : router.grpcUrl) ?? '', {
    token: source,
  });
  await router.until(() => router.waitingStreams() === 8, { what: 'eight waiting streams' });
  router.changeController(1, { tokens: [NEW] });
  router.resetConnections();
  await relay.until(() => relay.ofType('backing_off').some(({ code }) => code === 16), 'the refusal');
  expect(relay.pool.status().open).toBe(0);
  replace();
  await router.until(() => router.waitingStreams() === 8, {
    what: 'eight streams with the new token',
    timeoutMs: BACK_MS_MAX,
  });
});
