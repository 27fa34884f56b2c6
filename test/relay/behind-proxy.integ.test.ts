/** The relay as a process: by a proxy with a password, to a job router whose certificate a private authority signed. */
import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import { loopbackPort } from '../../scripts/local/loopback.ts';
import { TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { PROXY_CREDENTIALS, startPrivateNetwork } from '../support/private-network.ts';
import { KEYS, startAwsEmulation } from '../support/relay/aws-emulation.ts';
import { spawnRelay } from '../support/relay/relay-process.ts';

const aPort = async (): Promise<string> => String(await loopbackPort());

test.each(['wss', 'grpcs'] as const)('the relay reaches its router over %s', async (scheme) => {
  const router = await patientRouter({ controllers: [{ id: 7, tokens: [TOKEN], state: 'enabled' }] });
  onTestFinished(() => router.close());
  const plain = (scheme === 'wss' ? router.wsUrl : router.grpcUrl) ?? '';
  const network = await startPrivateNetwork(Number(new URL(plain.replace(/^\w+/, 'http')).port));
  onTestFinished(() => network.close());
  const aws = await startAwsEmulation(new Hono());
  onTestFinished(() => aws.close());
  aws.parameters.set('/t/token', TOKEN).set('/t/ca', network.ca).set('/t/proxy', PROXY_CREDENTIALS);
  const relay = spawnRelay({
    TOLLGATE_ROUTER_URL: `${scheme}://${network.host}`,
    TOLLGATE_ROUTER_TOKEN_PARAMETER: '/t/token',
    TOLLGATE_CA_PARAMETER: '/t/ca',
    TOLLGATE_PROXY_PARAMETER: '/t/proxy',
    https_proxy: network.proxyUrl,
    no_proxy: '127.0.0.1',
    TOLLGATE_ADMIT_URL: aws.url,
    TOLLGATE_HEALTH_PORT: await aPort(),
    AWS_REGION: KEYS.region,
    AWS_ENDPOINT_URL_SSM: aws.url,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${aws.url}/credentials`,
  });
  onTestFinished(relay.kill);
  await router.until(() => router.waitingStreams() > 0);
  expect(new Set(network.targets)).toEqual(new Set([network.host]));
  relay.kill();
  const { stdout, stderr } = await relay.closed;
  expect(`${stdout}${stderr}`).not.toContain('p@ss');
});
