/** The floors of what a relay can cost: clients that answer every question "admitted" without looking at it. */
import { connect } from 'node:http2';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { encodeAdmitted, type WireSchema } from '../../../relay/wire/schema.ts';

interface FloorClient {
  /** `grpc://127.0.0.1:1234` */
  readonly url: string;
  readonly token: string;
  readonly schema: WireSchema;
  /** Calls kept open. */
  readonly streams: number;
  /** What is done before an answer. @default nothing */
  readonly decide?: () => Promise<void>;
}

/** Raw grpc-js: no decoding, no pool, no ledger. */
export function startBareClient({ url, token, schema, streams, decide }: FloorClient): void {
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
      after(decide, () => {
        call.write(admitted);
        call.end();
      });
    });
    call.on('error', () => {});
  };
  for (let index = 0; index < streams; index += 1) open();
}

/** Raw HTTP/2: the frames of gRPC and nothing of its library. */
export function startHttp2Client({ url, token, schema, streams, decide }: FloorClient): void {
  const session = connect(url.replace('grpc://', 'http://'));
  const admitted = framed(encodeAdmitted(schema));
  const headers = {
    ':method': 'POST',
    ':path': schema.admitJobPath,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${token}`,
    'gitlab-agent-type': 'runnerc',
  };
  const open = (): void => {
    const stream = session.request(headers, { endStream: false });
    let bytes = 0;
    let wanted = Number.POSITIVE_INFINITY;
    stream.on('data', (chunk: Buffer) => {
      if (bytes === 0) wanted = PREFIX_BYTES + chunk.readUInt32BE(1);
      bytes += chunk.length;
      if (bytes < wanted) return;
      wanted = Number.POSITIVE_INFINITY;
      open();
      after(decide, () => stream.end(admitted));
    });
    stream.on('error', () => {});
  };
  session.on('connect', () => {
    for (let index = 0; index < streams; index += 1) open();
  });
}

/** A flag, and the length in four bytes. */
const PREFIX_BYTES = 5;

function framed(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(PREFIX_BYTES + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

function after(decide: FloorClient['decide'], answer: () => void): void {
  if (decide === undefined) answer();
  else void decide().then(answer);
}
