import { Agent, request as sendRequest } from 'node:http';
import { json } from 'node:stream/consumers';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { encodeResponse, loadSchema } from '../../../relay/wire/schema.ts';

const MESSAGE_BYTES_MAX = 10 * 1024 * 1024;
const BODY = JSON.stringify({
  requests: [{ jobId: 11, jobName: 'integration test: [postgres]', projectId: 3000, timeoutSeconds: 3_600 }],
  remainingMs: 2_000,
});
const POST = {
  method: 'POST',
  agent: new Agent({ keepAlive: true }),
  headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(BODY) },
};

const post = (url: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    sendRequest(url, POST, (response) => resolve(json(response)))
      .on('error', reject)
      .end(BODY);
  });

/** Raw grpc-js: no decoding, no pool, no ledger. It posts to BENCH_ADMIT before it admits, if that is set. */
export function startBareClient(streams: number) {
  const { BENCH_ROUTER = '', BENCH_TOKEN = '', BENCH_ADMIT } = process.env;
  const schema = loadSchema();
  const client = new Client(BENCH_ROUTER.replace('grpc://', ''), credentials.createInsecure(), {
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
  });
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${BENCH_TOKEN}`);
  metadata.set('gitlab-agent-type', 'runnerc');
  const admitted = Buffer.from(encodeResponse(schema, { outcome: 'admitted' }));
  const bytes = (buffer: Buffer): Buffer => buffer;
  const open = (): void => {
    const call = client.makeBidiStreamRequest<Buffer, Buffer>(schema.admitJobPath, bytes, bytes, metadata);
    call.on('data', async () => {
      open();
      if (BENCH_ADMIT !== undefined) await post(BENCH_ADMIT);
      call.write(admitted);
      call.end();
    });
    call.on('error', () => {});
  };
  for (let index = 0; index < streams; index += 1) open();
  return {};
}
