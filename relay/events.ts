/**
 * Everything that a relay reports about itself. Parts take a {@link RelayObserver}; `main.ts` subscribes the log, Prometheus and
 * CloudWatch metrics, and local runs the terminal. No event carries a token, a variable or an undecoded byte.
 */
import type { Decision } from '../policies/decision.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import type { RouterResponse } from './exchange.ts';
import type { RouterFailure } from './router/router.ts';
import type { WireSchema } from './wire/schema.ts';
import type { SchemaState } from './wire/schema-proof.ts';

export type RelayEvent =
  | { readonly type: 'streams'; readonly open: number; readonly waiting: number; readonly wanted: number }
  | (RouterFailure & {
      readonly type: 'stream_ended';
      readonly asked: boolean;
      /** The router refused the stream or lost it. @default false */
      readonly failed?: boolean;
      readonly answered?: RouterResponse['outcome'] | undefined;
    })
  | (RouterFailure & { readonly type: 'backing_off'; readonly attempt: number; readonly delayMs: number })
  /** `again`: after a loss of all streams, not at the start. */
  | { readonly type: 'connected'; readonly downMs: number; readonly again: boolean }
  | { readonly type: 'registered' }
  | (RouterFailure & { readonly type: 'registration_failed' })
  | { readonly type: 'request' }
  /** Fields that the schema does not explain, e.g. `job_info.21:varint`. */
  | { readonly type: 'unknown_fields'; readonly fields: readonly string[] }
  | { readonly type: 'unreadable'; readonly problem: string; readonly sizeBytes: number }
  | { readonly type: 'implausible'; readonly jobId: number; readonly why: 'impossible' | 'against_directory' }
  | { readonly type: 'suspicious'; readonly jobId: number; readonly fields: readonly string[] }
  | { readonly type: 'batch'; readonly roots: number; readonly jobs: number; readonly waiters: number }
  | { readonly type: 'waiting'; readonly jobs: number }
  | {
      readonly type: 'answered';
      readonly answer: RouterResponse;
      readonly via: 'ledger' | 'fallback';
      readonly cause?: string | undefined;
      readonly batch?: string | undefined;
      readonly latencyMs: number;
      readonly waitedMs?: number | undefined;
      /** False if the router went before it had the answer, or may have. */
      readonly heard: boolean;
      readonly request?: AdmissionRequest | undefined;
      readonly decision?: Decision | undefined;
    }
  /** A whole call of the admit function failed. `details` never quotes a response. */
  | {
      readonly type: 'admit_failed';
      readonly code: 'admit_unreachable' | 'admit_throttled' | 'admit_refused';
      readonly details: string;
    }
  | (Pick<WireSchema, 'source' | 'hash' | 'placeholder'> & {
      readonly type: 'schema';
      readonly state: SchemaState;
    })
  | { readonly type: 'rejection_withheld'; readonly state: SchemaState; readonly code?: string | undefined }
  | { readonly type: 'answer_refused'; readonly outcome: RouterResponse['outcome']; readonly refusal: string }
  /** Fields that rules need and GitLab does not send any more, at the start and at every change. */
  | { readonly type: 'fields'; readonly missing: readonly string[] }
  | {
      readonly type: 'own_fault';
      readonly place: FaultPlace;
      readonly error: string;
      readonly frames: readonly string[];
    }
  | { readonly type: 'breaker'; readonly state: 'closed' | 'open' | 'half_open' }
  | {
      readonly type: 'directory';
      readonly ageMs: number;
      readonly groups: number;
      problem?: string | undefined;
    }
  /** After each read of the policy in force: the version in use, and for how long another one has been current. */
  | { readonly type: 'rules'; version?: string | undefined; behindMs: number; problem?: string | undefined }
  | { readonly type: 'not_written'; readonly where: 'journal' | 'headroom'; readonly error: string }
  | {
      readonly type: 'unmetered';
      /** Not delivered yet, those on their way included. */
      readonly queued: number;
      readonly posted: number;
      readonly journaled?: number;
      readonly dropped: number;
      readonly lost?: { readonly why: UnmeteredLoss; readonly jobIds: readonly number[] };
    };

export type EventOf<Type extends RelayEvent['type']> = Extract<RelayEvent, { readonly type: Type }>;

/** `refused`: the service takes others and never this one. `stopping`: there was no time left. */
export type UnmeteredLoss = 'queue_full' | 'refused' | 'stopping';

/** A fixed set, because a metric has it as label. */
export type FaultPlace =
  | 'read'
  | 'decide'
  | 'fallback'
  | 'stream'
  /** After the answer: request accounting, log and metrics. */
  | 'report'
  | 'batch';

const FRAMES_MAX = 8;

/** Leaves out the message of the error, which may quote input. */
export const ownFault = (place: FaultPlace, error: unknown): EventOf<'own_fault'> => ({
  type: 'own_fault',
  place,
  error: nameOf(error),
  frames: framesOf(error),
});

export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

export const framesOf = (error: unknown): readonly string[] =>
  error instanceof Error && error.stack !== undefined
    ? error.stack
        .split('\n')
        .filter((line) => /^\s+at /.test(line))
        .slice(0, FRAMES_MAX)
        .map((line) => line.trim())
    : [];

export type RelayObserver = (event: RelayEvent) => void;

/** Returns an observer for several. If one throws, the others still run: an observer must not stop an answer. */
export function observeAll(
  observers: readonly RelayObserver[],
  failed: (error: unknown) => void,
): RelayObserver {
  return (event) => {
    for (const observe of observers) {
      try {
        observe(event);
      } catch (error) {
        failed(error);
      }
    }
  };
}
