/** The router as the relay sees it: open a call, answer it, register. `router-client.ts` is the one over gRPC. */
export interface Router {
  /** Opens one AdmitJob call; the listener hears everything that happens to it, and `onEnd` last and once. */
  admitJob(listener: AdmitCallListener): AdmitCall;
  /** Looks whether the token is another one than that of the last call; cheap enough for every second. */
  tokenReplaced(): boolean;
  /** Calls that a full connection (MAX_CONCURRENT_STREAMS) holds back in this process, unseen by the router. */
  queuedCalls(): number;
  /** Announces this process. @throws {RouterStatus} */
  register(instanceId: bigint): Promise<void>;
  /** Takes the announcement back, where the service can. @throws {RouterStatus} */
  unregister(instanceId: bigint): Promise<void>;
  close(): void;
}

export interface AdmitCall {
  /**
   * Sends the answer and half-closes. False when the call has already ended. `sent` runs later, once the operating system
   * has taken the bytes; that the router read them is only known from how the call ends.
   */
  answer(bytes: Uint8Array, sent?: () => void): boolean;
  cancel(): void;
}

export interface AdmitCallListener {
  /**
   * The call is on a live connection, where the router may pick it; also before `admitJob` returns. It is not yet
   * proof that the router accepted it: a server that waits may send nothing before its question.
   */
  onWaiting(): void;
  onQuestion(bytes: Uint8Array): void;
  /** A question beyond the message limit. It cannot be answered; `onEnd` follows. */
  onOversized(sizeBytes: number): void;
  /** `code` is a gRPC status; 0 with no question before it is a stream that came of age. `details`: address and cause. */
  onEnd(code: number, details: string, remedy?: string): void;
}

/** A gRPC status as an error, for the unary calls. */
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
