/**
 * The least that answers the router for a ledger: raw HTTP/2, a generic protobuf decoder, one signed POST with what names the
 * job, one line of log. No fallback, no batch, no pool, no schema proof, no metrics.
 */
import { connect } from 'node:http2';
import { fromBinary } from '@bufbuild/protobuf';
import { encodeResponse, loadSchema } from '../../../relay/wire/schema.ts';
import { signedPost } from './floor-post.ts';

const FRAME_BYTES = 5;
const WINDOW_BYTES = 1024 * 1024;

interface RouterRequest {
  readonly jobInfo: Readonly<Record<'id' | 'projectId' | 'namespaceId' | 'rootNamespaceId', bigint>> & {
    readonly name: string;
  };
  readonly image: { readonly name: string };
}

export function startFloorClient(streams: number) {
  const { BENCH_ROUTER = '', BENCH_TOKEN = '', BENCH_ADMIT = '' } = process.env;
  const schema = loadSchema();
  const session = connect(BENCH_ROUTER.replace('grpc:', 'http:'), {
    settings: { initialWindowSize: WINDOW_BYTES },
  });
  session.on('connect', () => session.setLocalWindowSize(WINDOW_BYTES));
  const headers = {
    ':method': 'POST',
    ':path': schema.admitJobPath,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${BENCH_TOKEN}`,
    'gitlab-agent-type': 'runnerc',
  };
  const admitted = framed(encodeResponse(schema, { outcome: 'admitted' }));
  const post = signedPost(`${BENCH_ADMIT}/v1/admissions`, 'lambda', { 'content-type': 'application/json' });

  function open(): void {
    const call = session.request(headers, { endStream: false });
    let bytes: Buffer = Buffer.alloc(0);
    call.on('data', async (chunk: Buffer) => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      if (bytes.length < FRAME_BYTES || bytes.length < FRAME_BYTES + bytes.readUInt32BE(1)) return;
      open();
      const message = fromBinary(schema.request, bytes.subarray(FRAME_BYTES)) as unknown as RouterRequest;
      const { jobInfo, image } = message;
      const job = {
        ...{ jobId: Number(jobInfo.id), projectId: Number(jobInfo.projectId) },
        ...{ namespaceId: Number(jobInfo.namespaceId), rootNamespaceId: Number(jobInfo.rootNamespaceId) },
        ...{ jobName: jobInfo.name, image: image.name },
      };
      await post(JSON.stringify({ requests: [job] }));
      call.end(admitted);
      const time = new Date().toISOString();
      process.stdout.write(`${JSON.stringify({ level: 'info', time, ...job, outcome: 'admitted' })}\n`);
    });
    call.on('error', fail);
  }
  for (let index = 0; index < streams; index += 1) open();
  return {};
}

function framed(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(FRAME_BYTES + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, FRAME_BYTES);
  return frame;
}

const fail = (error: Error): void => {
  // A router that ends takes its streams along.
  if (process.connected) throw error;
};
