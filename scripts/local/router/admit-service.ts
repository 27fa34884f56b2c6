/** The router's side of AdmitJob and its registration: identifies callers, and opens streams for controllers. */
import { fromBinary } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import {
  type handleBidiStreamingCall,
  type handleUnaryCall,
  type Metadata,
  Server,
  type ServerErrorResponse,
  status,
} from '@grpc/grpc-js';
import { STATUS } from '../../../relay/router/router.ts';
import type { WireSchema } from '../../../relay/wire/schema.ts';
import {
  AdmitStream,
  allControllers,
  type CallRefusal,
  poolOf,
  type RegisteredController,
  type RouterState,
} from './admission.ts';
import { GET_JOB_PATH } from './messages.ts';

const unauthenticated = (details: string): CallRefusal => ({ code: STATUS.UNAUTHENTICATED, details });

function identify(state: RouterState, metadata: Metadata): RegisteredController | CallRefusal {
  if (metadata.get('gitlab-agent-type')[0] !== 'runnerc')
    return unauthenticated('metadata gitlab-agent-type is not "runnerc"');
  const token = bearerToken(metadata);
  if (token === undefined) return unauthenticated('metadata authorization carries no bearer token');
  const known = allControllers(state).find(({ tokens }) => tokens.includes(token));
  return known ?? unauthenticated('the token is unknown or was revoked');
}

function bearerToken(metadata: Metadata): string | undefined {
  const [header] = metadata.get('authorization');
  return typeof header === 'string' && header.startsWith('Bearer ')
    ? header.slice('Bearer '.length)
    : undefined;
}

type Bytes = Uint8Array;
/** Messages stay bytes on this level: the schema is input. */
const asBuffer = (bytes: Bytes): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
const asBytes = (buffer: Buffer): Bytes => buffer;

/** @param getJob - the runner's side of the router; undefined: it has none. */
export function admitService(
  state: RouterState,
  getJob: ((runnerToken: string) => Promise<Bytes | undefined>) | undefined,
  options: Readonly<Record<string, number>>,
): Server {
  const { schema, counters, faults, gitlab, conditions } = state;
  const server = new Server({ 'grpc.enable_channelz': 0, ...options });

  const admit: handleBidiStreamingCall<Bytes, Bytes> = (call) => {
    const controller = faults.takeRefusal('admit') ?? identify(state, call.metadata);
    if (isRefusal(controller)) {
      counters.streams.refused += 1;
      call.emit('error', asError(controller));
      return;
    }
    counters.streams.opened += 1;
    gitlab?.tokenUsed(bearerToken(call.metadata) ?? '');
    poolOf(state, controller.id).add(new AdmitStream(call, state));
    conditions.look();
  };
  server.register(schema.admitJobPath, admit, asBuffer, asBytes, 'bidi');

  const unary = (path: string, handle: handleUnaryCall<Bytes, Bytes>) =>
    server.register(path, handle, asBuffer, asBytes, 'unary');
  const registration = (path: string | undefined, record: (instanceId: bigint, id: number) => void): void => {
    if (path === undefined) return;
    const readInstanceId = instanceIdReader(schema, path);
    unary(path, (call, callback) => {
      const controller = faults.takeRefusal('register') ?? identify(state, call.metadata);
      if (isRefusal(controller)) {
        callback(asError(controller));
        return;
      }
      record(readInstanceId(call.request), controller.id);
      conditions.look();
      callback(null, new Uint8Array());
    });
  };
  registration(schema.registerPath, (instanceId, id) => void state.registered.set(instanceId, id));
  registration(schema.unregisterPath, (instanceId) => void state.registered.delete(instanceId));

  if (getJob !== undefined)
    unary(GET_JOB_PATH, (call, callback) => {
      const refusal = faults.takeRefusal('get_job');
      const [type] = call.metadata.get('gitlab-agent-type');
      if (refusal !== undefined) callback(asError(refusal));
      else if (type !== 'runner') callback(asError(UNKNOWN_RUNNER));
      else
        getJob(bearerToken(call.metadata) ?? '').then(
          (job) => (job === undefined ? callback(asError(UNKNOWN_RUNNER)) : callback(null, job)),
          (error: unknown) => callback(asError({ code: status.INTERNAL, details: String(error) })),
        );
    });
  return server;
}

const UNKNOWN_RUNNER = unauthenticated('no runner has this token');

const isRefusal = (found: RegisteredController | CallRefusal): found is CallRefusal => 'code' in found;

const asError = ({ code, details }: CallRefusal): ServerErrorResponse =>
  Object.assign(new Error(details), { code, details });

function instanceIdReader(schema: WireSchema, methodPath: string): (bytes: Uint8Array) => bigint {
  const [, service = '', method = ''] = methodPath.split('/');
  const methods = schema.registry.getService(service)?.methods;
  const desc = methods?.find(({ name }) => name === method)?.input;
  const field = desc?.fields.find(({ name }) => name === 'instance_id');
  if (desc === undefined || field === undefined) return () => 0n;
  return (bytes) => BigInt(String(reflect(desc, fromBinary(desc, bytes)).get(field)));
}
