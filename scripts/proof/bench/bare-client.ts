import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { encodeResponse, loadSchema } from '../../../relay/wire/schema.ts';

const MESSAGE_BYTES_MAX = 10 * 1024 * 1024;

/** Raw grpc-js: no decoding, no pool, no ledger. */
export function startBareClient(streams: number) {
  const { BENCH_ROUTER = '', BENCH_TOKEN = '' } = process.env;
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
    call.on('data', () => {
      open();
      call.write(admitted);
      call.end();
    });
    call.on('error', () => {});
  };
  for (let index = 0; index < streams; index += 1) open();
  return {};
}
