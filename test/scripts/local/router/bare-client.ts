import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ClientDuplexStream, type ClientOptions, credentials, Metadata } from '@grpc/grpc-js';
import { createWebSocketStream, WebSocket } from 'ws';
import {
  encodeAdmitted,
  encodeKnown,
  encodeRejected,
  type WireSchema,
} from '../../../../relay/wire/schema.ts';

/** A client with no cleverness at all, so that the router is what these tests test. */
export interface BareClient {
  open(): BareStream;
  register(instanceId: bigint): Promise<void>;
  unregister(instanceId: bigint): Promise<void>;
  close(): void;
}

export interface BareStream {
  readonly call: ClientDuplexStream<Uint8Array, Uint8Array>;
  /** The question, once. Rejects when the stream ends without one. */
  readonly question: Promise<Uint8Array>;
  /** The status the stream ended with. */
  readonly ended: Promise<{ code: number; details: string }>;
  readonly questions: Uint8Array[];
  admit(): void;
  reject(reason: string): void;
}

export interface BareClientOptions {
  readonly schema: WireSchema;
  readonly token?: string;
  readonly agentType?: string;
  /** PEM of the server's certificate. */
  readonly ca?: string;
  readonly grpc?: ClientOptions;
}

export function bareClient(url: string, options: BareClientOptions): BareClient {
  const { protocol, host } = new URL(url);
  if (protocol === 'grpc:') return clientOn(host, credentials.createInsecure(), options, () => {});
  if (protocol === 'grpcs:') {
    const grpc = { ...options.grpc, 'grpc.ssl_target_name_override': 'localhost' };
    return clientOn(
      host,
      credentials.createSsl(Buffer.from(options.ca ?? '')),
      { ...options, grpc },
      () => {},
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'bare-'));
  const path = join(folder, 's');
  const splice = spliceTo(url, options);
  splice.listen(path);
  return clientOn(`unix:${path}`, credentials.createInsecure(), options, () => {
    splice.close();
    rmSync(folder, { recursive: true, force: true });
  });
}

function spliceTo(url: string, options: BareClientOptions): Server {
  return createServer((socket) => {
    const tunnel = new WebSocket(url, ['ws-tunnel'], {
      headers: { Authorization: `Bearer ${options.token}` },
      ...(options.ca !== undefined && { ca: options.ca }),
    });
    const stream = createWebSocketStream(tunnel);
    stream.on('error', () => socket.destroy());
    socket.on('error', () => stream.destroy());
    stream.on('close', () => socket.destroy());
    socket.on('close', () => stream.destroy());
    socket.pipe(stream).pipe(socket);
  });
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
const asBytes = (buffer: Buffer): Uint8Array => buffer;

function clientOn(
  target: string,
  channel: ReturnType<typeof credentials.createInsecure>,
  options: BareClientOptions,
  onClose: () => void,
): BareClient {
  const { schema } = options;
  const client = new Client(target, channel, {
    'grpc.initial_reconnect_backoff_ms': 20,
    // Two clients, two connections, even to one address.
    'grpc.use_local_subchannel_pool': 1,
    ...options.grpc,
  });
  const metadata = () => {
    const sent = new Metadata();
    if (options.token !== undefined) sent.set('authorization', `Bearer ${options.token}`);
    sent.set('gitlab-agent-type', options.agentType ?? 'runnerc');
    return sent;
  };
  const unary = (path: string | undefined, instanceId: bigint) =>
    new Promise<void>((resolve, reject) => {
      if (path === undefined || schema.registerRequest === undefined)
        return reject(new Error('no such method'));
      const request = encodeKnown(schema.registerRequest, { instance_id: instanceId });
      client.makeUnaryRequest(path, asBuffer, asBytes, request, metadata(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
  return {
    open: () =>
      bareStream(client.makeBidiStreamRequest(schema.admitJobPath, asBuffer, asBytes, metadata()), schema),
    register: (instanceId) => unary(schema.registerPath, instanceId),
    unregister: (instanceId) => unary(schema.unregisterPath, instanceId),
    close() {
      client.close();
      onClose();
    },
  };
}

function bareStream(call: ClientDuplexStream<Uint8Array, Uint8Array>, schema: WireSchema): BareStream {
  const questions: Uint8Array[] = [];
  const answer = (bytes: Uint8Array) => {
    call.write(bytes);
    call.end();
  };
  const ended = new Promise<{ code: number; details: string }>((resolve) => {
    call.on('status', ({ code, details }) => resolve({ code, details }));
  });
  const question = new Promise<Uint8Array>((resolve, reject) => {
    call.on('data', (bytes: Uint8Array) => {
      questions.push(bytes);
      resolve(bytes);
    });
    ended.then(({ code, details }) => reject(new Error(`ended without a question: ${code} ${details}`)));
  });
  question.catch(() => {});
  call.on('error', () => {});
  return {
    call,
    question,
    ended,
    questions,
    admit: () => answer(encodeAdmitted(schema)),
    reject: (reason) => answer(encodeRejected(schema, reason)),
  };
}
