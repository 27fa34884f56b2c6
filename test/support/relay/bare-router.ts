/** A job router of `node:http2` alone: it can end an answered stream in every way that HTTP/2 knows, gRPC or not. */
import { once } from 'node:events';
import { createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { fromBinary } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { encodeKnown, loadSchema } from '../../../relay/wire/schema.ts';

const schema = loadSchema();

/** How a stream ends once its answer is there. */
export interface Ending {
  readonly status: number;
  readonly message?: string;
}

const OK: Ending = { status: 0 };

export type BareRouter = Awaited<ReturnType<typeof bareRouter>>;

export async function bareRouter() {
  const waiting: ServerHttp2Stream[] = [];
  const finders: ((stream: ServerHttp2Stream) => void)[] = [];
  const sessions = new Set<Http2Session>();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session.on('close', () => sessions.delete(session)).on('error', () => {}));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    if (headers[':path'] !== schema.admitJobPath) {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' });
      stream.end();
      return;
    }
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    const finder = finders.shift();
    if (finder === undefined) waiting.push(stream);
    else finder(stream);
    stream.on('close', () => {
      const at = waiting.indexOf(stream);
      if (at >= 0) waiting.splice(at, 1);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const next = (): Promise<ServerHttp2Stream> => {
    const stream = waiting.shift();
    return stream === undefined ? new Promise((found) => finders.push(found)) : Promise.resolve(stream);
  };

  return {
    url: `grpc://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Asks about a job on a stream that waits, or on the next one. */
    ask: async (job: Readonly<Record<string, unknown>>, ending = OK) => {
      // A relay may leave a stream just as it is asked; then another one is.
      for (;;) {
        const stream = await next();
        stream.write(framed(encodeKnown(schema.request, job)));
        const answer = await answerOn(stream);
        if (answer === undefined) continue;
        end(stream, ending);
        return answer;
      }
    },
    close: async (): Promise<void> => {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function end(stream: ServerHttp2Stream, ending: Ending): void {
  stream.on('wantTrailers', () =>
    stream.sendTrailers({ 'grpc-status': String(ending.status), 'grpc-message': ending.message ?? '' }),
  );
  stream.end();
}

/** A gRPC frame: not compressed, four bytes of length. */
function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** The variants that were set and the reason of a rejection; undefined if the relay left without an answer. */
async function answerOn(stream: ServerHttp2Stream) {
  let bytes = Buffer.alloc(0);
  while (bytes.length < 5 || bytes.length < 5 + bytes.readUInt32BE(1)) {
    const [data] = await Promise.race([once(stream, 'data'), once(stream, 'close')]);
    if (data === undefined) return undefined;
    bytes = Buffer.concat([bytes, data]);
  }
  const answer = reflect(schema.answer, fromBinary(schema.answer, bytes.subarray(5)));
  const arms = schema.answer.fields.filter((field) => answer.isSet(field));
  const rejected = arms.find(({ name }) => name === 'rejected');
  const reason = rejected?.message?.fields.find(({ name }) => name === 'reason');
  return {
    arms: arms.map(({ name }) => name).join(),
    reason: reason === undefined ? '' : String((answer.get(rejected as never) as ReflectMessage).get(reason)),
  };
}
