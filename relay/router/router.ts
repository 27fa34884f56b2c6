import { status as STATUS } from '@grpc/grpc-js';
import {
  networkFailure as connectionFailure,
  PROXY_CREDENTIALS,
} from '../../functions/core/contract/network.ts';

export { STATUS };

/** The port to GitLab's job router. `router-client.ts` implements it over gRPC. */
export interface Router {
  admitJob(listener: AdmitCallListener): AdmitCall;
  register(instanceId: bigint): Promise<void>;
  unregister(instanceId: bigint): Promise<void>;
  close(): void;
}

export interface AdmitCall {
  /** Sends the answer and half-closes. Returns false if the call has ended. Only its end shows that the router read the answer. */
  answer(bytes: Uint8Array): boolean;
  cancel(): void;
}

export interface AdmitCallListener {
  /**
   * The call is on a live connection, where the router may pick it. May run before `admitJob` returns. The router may still
   * refuse the call: a server may send nothing before its request.
   */
  onWaiting(): void;
  onRequest(bytes: Uint8Array): void;
  onOversized(sizeBytes: number): void;
  onEnd(code: number, details: string, remedy?: string): void;
}

export class RouterStatus extends Error {
  override readonly name = 'RouterStatus';
  readonly code: number;
  readonly details: string;
  readonly remedy: string | undefined;
  constructor(code: number, details: string, remedy?: string) {
    super(`[${code}] ${details}`);
    this.code = code;
    this.details = details;
    this.remedy = remedy;
  }
}

// Explains why the router cannot be reached or refuses a call: address, cause and remedy. The log and the doctor use it.

export interface RouterFailure {
  /** A gRPC status. 0 is a clean end, by age or drain. */
  readonly code: number;
  readonly details: string;
  /** An action for the operator. Absent if the relay recovers alone. */
  readonly remedy?: string | undefined;
}

const NOT_WEBSOCKET =
  'this is not a WebSocket endpoint; check the URL, and that proxies on the way let upgrades pass';
const NOT_READY = 'the router or a proxy in front of it is not ready';

/**
 * HTTP statuses that a router, an ingress or a proxy answers instead of opening a connection or a call. Others up to 426 come from
 * a server that knows no WebSocket.
 */
const HTTP_CODES: Readonly<Record<number, number>> = {
  401: STATUS.UNAUTHENTICATED,
  403: STATUS.PERMISSION_DENIED,
  404: STATUS.NOT_FOUND,
  429: STATUS.RESOURCE_EXHAUSTED,
};

const OF_ROUTERS: Readonly<Partial<Record<ReturnType<typeof connectionFailure>['kind'], string>>> = {
  notTls: 'Use the TLS port, or grpc:// or ws:// for a router without TLS.',
  refused: 'Check the port (8150 is grpc, 8154 or 443 usually ws) and that the router runs.',
};

/** Remedies by the status of a call. Statuses that are missing here need no operator. */
export const REMEDIES: Readonly<Record<number, string>> = {
  [STATUS.UNAUTHENTICATED]:
    'check that the token belongs to a runner controller and is not revoked; a new one is used within half a minute',
  [STATUS.PERMISSION_DENIED]: 'GitLab refuses this controller; check its token, state, scopes and licence',
  [STATUS.NOT_FOUND]:
    'GitLab knows no such controller, or nothing answers at this URL; check the token, and the URL against kas.externalUrl of GET /api/v4/metadata',
  [STATUS.RESOURCE_EXHAUSTED]:
    "raise the router's limit of new calls per token and minute or that of a proxy on the way, or run fewer relays per token",
  [STATUS.INVALID_ARGUMENT]:
    'the router refuses our messages; run `tollgate doctor --router`, and `tollgate gitlab descriptors` for the schema of its version',
  [STATUS.UNIMPLEMENTED]:
    'the router does not know this method: update GitLab to 18.9 or newer, or get its schema with `tollgate gitlab descriptors --ref <tag>` and give it with --proto or TOLLGATE_PROTO_FILE',
};

function remedyOfNetwork(error: unknown): string | undefined {
  const { kind, cause, remedy } = connectionFailure(error);
  return remedy === undefined ? undefined : `${cause}. ${OF_ROUTERS[kind] ?? remedy}`;
}

export const networkFailure = (
  address: string,
  { code = '', message }: { readonly code?: string; readonly message: string },
): RouterFailure => ({
  code: STATUS.UNAVAILABLE,
  details: `${address}: ${plain(message)}`,
  remedy: remedyOfNetwork({ code, message }),
});

export function httpFailure(address: string, httpStatus: number, step: string): RouterFailure {
  const code = HTTP_CODES[httpStatus] ?? STATUS.UNAVAILABLE;
  const byProxy = httpStatus === 407 ? `the proxy wants credentials. ${PROXY_CREDENTIALS}` : undefined;
  const remedy = REMEDIES[code] ?? byProxy ?? (httpStatus <= 426 ? NOT_WEBSOCKET : NOT_READY);
  return { code, remedy, details: `${address}: HTTP ${httpStatus} at ${step}` };
}

export function callFailure(
  url: string,
  peer: string,
  { code, details }: { readonly code: number; readonly details: string },
): RouterFailure {
  const connection = /.*Last error: (.*?)(?:\. Resolution note: .*)?$/s.exec(details)?.[1];
  // grpc-js does not pass on what a proxy answered to CONNECT.
  if (connection === 'undefined') {
    const details = `${url} through the proxy ${peer}: it opened no connection`;
    const remedy = `the proxy may want credentials. ${PROXY_CREDENTIALS}`;
    return { code: STATUS.UNAVAILABLE, details, remedy };
  }
  if (connection !== undefined || details.startsWith('Name resolution failed'))
    return networkFailure(url, { message: connection ?? details });
  const address = peer === '' || url.endsWith(`//${peer}`) ? url : `${url} (${peer})`;
  const http = /Received HTTP status code (\d+)/.exec(details)?.[1];
  if (http !== undefined) return { ...httpFailure(address, Number(http), 'the call'), code };
  return {
    code,
    remedy: REMEDIES[code],
    details: `${address}: ${STATUS[code] ?? `status ${code}`}: ${details}`,
  };
}

/** Removes parts that change between tries, and Node's advice about a flag that the relay does not have. */
const plain = (message: string): string =>
  message
    .replace(/^Error: /, '')
    .replace(/; if the root CA is installed locally.*?--use-system-ca/, '')
    .replace(/ \(\d{4}-\d\d-\d\dT[^)]*\)/, '');
