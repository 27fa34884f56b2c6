import { createServer, type IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';
import { newJob } from '../../../support/hook-bench.ts';

const SIGNING_TOKEN = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

test('a delivery over HTTP verifies with the library that receivers use', async () => {
  const received: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const local = createLocalGitLab({
    random: seededRandom(1),
    token: 'glpat-local',
    hookUrl: `http://127.0.0.1:${port}/`,
    signingToken: SIGNING_TOKEN,
  });
  try {
    local.create(newJob(1));
    await local.hooksIdle();
    expect(local.counters.hooks).toMatchObject({ delivered: 2, failed: 0 });
    for (const { headers, body } of received) {
      const verified = new Webhook(SIGNING_TOKEN).verify(body, headers as Record<string, string>);
      expect(verified).toMatchObject({ object_kind: 'build', build_id: 1 });
    }
  } finally {
    local.stop();
    server.closeAllConnections();
    server.close();
  }
});
