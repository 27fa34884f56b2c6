import { fromBinary } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import {
  type handleBidiStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  type ServerErrorResponse,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import type { WireSchema } from '../../../relay/wire/schema.ts';
import { AdmitStream, type StreamSurroundings } from './admit-stream.ts';
import {
  bearerToken,
  type CallRefusal,
  type Controllers,
  type RegisteredController,
  unauthenticated,
} from './controllers.ts';
import type { RouterCounters } from './counters.ts';
import { GET_JOB_PATH } from './get-job.ts';

interface ServiceParts {
  readonly schema: WireSchema;
  readonly controllers: Controllers;
  /** The controller that registered an instance, by instance id. */
  readonly registered: Map<bigint, number>;
  readonly counters: RouterCounters;
  readonly surroundings: StreamSurroundings;
  /** Sends response headers when the call is accepted; otherwise with the question, as grpc-go does. */
  readonly headersAtOnce: boolean;
  readonly serverOptions: Readonly<Record<string, number>>;
  onStream(controller: RegisteredController, stream: AdmitStream, token: string): void;
  /** Absent: the router has no such method. @returns undefined for an unknown token */
  readonly getJob: ((runnerToken: string) => Promise<Bytes | undefined>) | undefined;
  onRegistered(): void;
}

type Bytes = Uint8Array;
/** Messages stay bytes on this level: the schema is input. */
const asBuffer = (bytes: Bytes): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
const asBytes = (buffer: Buffer): Bytes => buffer;

/** The gRPC server behind every listener: AdmitJob, Register and Unregister under the schema's own names. */
export function admitService(parts: ServiceParts): Server {
  const { schema, surroundings } = parts;
  const server = new Server({ 'grpc.enable_channelz': 0, ...parts.serverOptions });

  const admit: handleBidiStreamingCall<Bytes, Bytes> = (call) => {
    const refusal = surroundings.faults.takeRefusal('admit');
    const controller = refusal ?? parts.controllers.identify(call.metadata);
    if (isRefusal(controller)) {
      parts.counters.streams.refused += 1;
      const refuse = () => call.emit('error', asError(controller));
      if (controller.afterMs === undefined || controller.afterMs === 0) refuse();
      else surroundings.clock.after(controller.afterMs, refuse);
      return;
    }
    parts.counters.streams.opened += 1;
    if (parts.headersAtOnce) call.sendMetadata(new Metadata());
    parts.onStream(controller, new AdmitStream(call, surroundings), bearerToken(call.metadata) ?? '');
  };
  server.register(schema.admitJobPath, admit, asBuffer, asBytes, 'bidi');
  registerUnary(schema.registerPath, (controllerId, id) => void parts.registered.set(id, controllerId));
  registerUnary(schema.unregisterPath, (_controllerId, id) => void parts.registered.delete(id));
  const { getJob } = parts;
  if (getJob !== undefined) server.register(GET_JOB_PATH, jobHandler(getJob), asBuffer, asBytes, 'unary');
  return server;

  function jobHandler(get: NonNullable<typeof getJob>): handleUnaryCall<Bytes, Bytes> {
    return (call, callback) => {
      const refusal = surroundings.faults.takeRefusal('get_job');
      const [type] = call.metadata.get('gitlab-agent-type');
      if (refusal !== undefined) callback(asError(refusal));
      else if (type !== 'runner') callback(asError(UNKNOWN_RUNNER));
      else
        get(bearerToken(call.metadata) ?? '').then(
          (job) => (job === undefined ? callback(asError(UNKNOWN_RUNNER)) : callback(null, job)),
          (error: unknown) => callback(asError({ code: status.INTERNAL, details: String(error) })),
        );
    };
  }

  function registerUnary(
    path: string | undefined,
    record: (controllerId: number, instanceId: bigint) => void,
  ): void {
    if (path === undefined) return;
    const readInstanceId = instanceIdReader(schema, path);
    const handle: handleUnaryCall<Bytes, Bytes> = (call, callback: sendUnaryData<Bytes>) => {
      const controller =
        surroundings.faults.takeRefusal('register') ?? parts.controllers.identify(call.metadata);
      if (isRefusal(controller)) {
        callback(asError(controller));
        return;
      }
      record(controller.id, readInstanceId(call.request));
      parts.onRegistered();
      // Both responses are empty messages.
      callback(null, new Uint8Array());
    };
    server.register(path, handle, asBuffer, asBytes, 'unary');
  }
}

const UNKNOWN_RUNNER = unauthenticated('no runner has this token');

const isRefusal = (found: RegisteredController | CallRefusal): found is CallRefusal => 'code' in found;

const asError = ({ code, details }: CallRefusal): ServerErrorResponse =>
  Object.assign(new Error(details), { code, details });

/** Returns a reader of the instance id in a Register or Unregister message; it reads 0 if the schema has none. */
function instanceIdReader(schema: WireSchema, methodPath: string): (bytes: Uint8Array) => bigint {
  const [, service = '', method = ''] = methodPath.split('/');
  const methods = schema.registry.getService(service)?.methods;
  const desc = methods?.find(({ name }) => name === method)?.input;
  const field = desc?.fields.find(({ name }) => name === 'instance_id');
  if (desc === undefined || field === undefined) return () => 0n;
  return (bytes) => BigInt(String(reflect(desc, fromBinary(desc, bytes)).get(field)));
}
