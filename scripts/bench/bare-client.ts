import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { encodeAdmitted, type WireSchema } from '../../relay/wire/schema.ts';
import { BENCH_TOKEN } from './router-process.ts';

/**
 * The floor of what a relay can cost: raw grpc-js that keeps `streams` calls open and answers every question
 * "admitted" without looking at it. No decoding, no pool, no ledger.
 */
export function startBareClient(url: string, schema: WireSchema, streams: number): { stop(): void } {
  const client = new Client(url.replace('grpc://', ''), credentials.createInsecure(), {
    'grpc.max_receive_message_length': 10 * 1024 * 1024,
  });
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${BENCH_TOKEN}`);
  metadata.set('gitlab-agent-type', 'runnerc');
  const admitted = Buffer.from(encodeAdmitted(schema));
  const bytes = (buffer: Buffer): Buffer => buffer;
  const calls = new Set<{ cancel(): void }>();
  let stopped = false;

  const open = (): void => {
    if (stopped) return;
    const call = client.makeBidiStreamRequest<Buffer, Buffer>(schema.admitJobPath, bytes, bytes, metadata);
    calls.add(call);
    call.on('close', () => calls.delete(call));
    call.on('data', () => {
      open();
      call.write(admitted);
      call.end();
    });
    call.on('error', () => {});
  };
  for (let index = 0; index < streams; index += 1) open();

  return {
    stop: () => {
      stopped = true;
      for (const call of calls) call.cancel();
      client.close();
    },
  };
}
