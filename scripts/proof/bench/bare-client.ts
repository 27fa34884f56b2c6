import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { encodeAdmitted, type WireSchema } from '../../../relay/wire/schema.ts';

/**
 * The floor of what a relay can cost: raw grpc-js that keeps `streams` calls open and answers every question
 * "admitted" without looking at it. No decoding, no pool, no ledger.
 */
export function startBareClient(url: string, token: string, schema: WireSchema, streams: number): void {
  const client = new Client(url.replace('grpc://', ''), credentials.createInsecure(), {
    'grpc.max_receive_message_length': 10 * 1024 * 1024,
  });
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  metadata.set('gitlab-agent-type', 'runnerc');
  const admitted = Buffer.from(encodeAdmitted(schema));
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
}
