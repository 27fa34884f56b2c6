/** The port to GitLab's job router. `router-client.ts` implements it over gRPC. */
export interface Router {
  /** Opens one AdmitJob call. The listener's `onEnd` runs last and once. */
  admitJob(listener: AdmitCallListener): AdmitCall;
  /** Returns true if the token is not that of the last call. Cheap enough for every second. */
  tokenReplaced(): boolean;
  /** Calls that a full connection (MAX_CONCURRENT_STREAMS) holds back in this process, unseen by the router. */
  queuedCalls(): number;
  /** @throws {RouterStatus} */
  register(instanceId: bigint): Promise<void>;
  /** @throws {RouterStatus}, e.g. if the service does not support it. */
  unregister(instanceId: bigint): Promise<void>;
  close(): void;
}

export interface AdmitCall {
  /**
   * Sends the answer and half-closes. Returns false if the call has ended. `sent` runs once the operating system has the bytes.
   * Only the end of the call shows that the router read them.
   */
  answer(bytes: Uint8Array, sent?: () => void): boolean;
  cancel(): void;
}

export interface AdmitCallListener {
  /**
   * The call is on a live connection, where the router may pick it. May run before `admitJob` returns. The router may still
   * refuse the call: a server may send nothing before its question.
   */
  onWaiting(): void;
  onQuestion(bytes: Uint8Array): void;
  /** A question beyond the message limit cannot be answered. `onEnd` follows. */
  onOversized(sizeBytes: number): void;
  /** @param code - a gRPC status. 0 without a question is an aged stream. @param details - address and cause. */
  onEnd(code: number, details: string, remedy?: string): void;
}

/** A gRPC status as an error, for unary calls. */
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

/** All gRPC statuses (https://grpc.io/docs/guides/status-codes/). */
export const STATUS = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;
