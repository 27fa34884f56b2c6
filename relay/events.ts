import type { Decision, NoticeOrder } from '../policies/decision.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import type { RouterAnswer } from './exchange.ts';
import type { OwnFault } from './own-fault.ts';
import type { SchemaState } from './wire/schema-proof.ts';

/**
 * Everything worth telling that happens in a relay. Parts take an `RelayObserver` and say what they did; `main.ts`
 * subscribes metrics, the log and (locally) the terminal. No event carries a token, a variable or an undecoded byte.
 */
export type RelayEvent =
  /** The pool changed: `open` streams are at the router, `waiting` of them without a question. */
  | {
      readonly type: 'streams';
      readonly open: number;
      readonly waiting: number;
      readonly wanted: number;
    }
  /** One stream ended. Code 0 is a clean end: age or drain. `asked`: it had carried a question. */
  | {
      readonly type: 'stream_ended';
      readonly code: number;
      readonly details: string;
      readonly remedy?: string;
      readonly asked: boolean;
      /** The router refused the stream or lost it. @default false */
      readonly failed?: boolean;
      /** What it was answered, if it was. */
      readonly answered?: RouterAnswer['outcome'];
    }
  /** The pool waits before it opens streams again. `remedy` says what an operator can do, where they can. */
  | {
      readonly type: 'backing_off';
      readonly code: number;
      /** Address and cause. */
      readonly details: string;
      readonly attempt: number;
      readonly delayMs: number;
      readonly remedy?: string;
    }
  /** The first stream after a time without any. */
  | { readonly type: 'connected'; readonly downMs: number }
  | { readonly type: 'registered' }
  | {
      readonly type: 'registration_failed';
      readonly code: number;
      readonly details: string;
      readonly remedy?: string;
    }
  | { readonly type: 'question' }
  /** Fields the schema does not explain: `job_info.21:varint`. Counted, never fatal. */
  | { readonly type: 'unknown_fields'; readonly fields: readonly string[] }
  /** A question that could not be read: answered by the fallback. */
  | {
      readonly type: 'unreadable';
      readonly problem: string;
      readonly sizeBytes: number;
    }
  /** A question that was read, and cannot be true as it was read. */
  | {
      readonly type: 'implausible';
      readonly jobId: number;
      readonly why: 'impossible' | 'against_directory';
    }
  /** Identity variables that contradict each other. */
  | {
      readonly type: 'suspicious';
      readonly jobId: number;
      readonly fields: readonly string[];
    }
  | {
      readonly type: 'batch';
      readonly id?: string;
      /** A root of its own, roots that share one, or what fights for the same counter. */
      readonly lane: string;
      readonly jobs: number;
      readonly waiters: number;
    }
  /** So many jobs wait for room now. */
  | { readonly type: 'waiting'; readonly jobs: number }
  | {
      readonly type: 'answered';
      readonly answer: RouterAnswer;
      /** Who decided: the ledger's decision, or the relay's own fallback with its cause. */
      readonly via: 'ledger' | 'fallback';
      readonly cause?: string;
      /** The batch in which the job went to the admit function, as that function logs it. */
      readonly batch?: string;
      /** From question to answer; the event itself comes once the stream has ended. */
      readonly latencyMs: number;
      /** Part of that: how long the job was kept waiting for room. Absent: not at all. */
      readonly waitedMs?: number;
      /** False when the router had gone before it was told, or went in a way that leaves it open. */
      readonly heard: boolean;
      readonly request?: AdmissionRequest;
      readonly decision?: Decision;
    }
  /** The function that decides failed, as a whole call. `details` never quotes an answer. */
  | {
      readonly type: 'admit_failed';
      readonly code: 'admit_unreachable' | 'admit_throttled' | 'admit_refused';
      readonly details: string;
    }
  /** How far the schema is trusted: told at the start and at every change. */
  | {
      readonly type: 'schema';
      readonly standing: SchemaState;
      /** File of the descriptors, and their hash. */
      readonly source: string;
      readonly hash: string;
      readonly placeholder: boolean;
    }
  /** A rejection that was not sent, because the schema is not proven: the job was admitted. */
  | {
      readonly type: 'rejection_withheld';
      readonly standing: SchemaState;
      /** The code of the rejection's first violation; absent where none is known. */
      readonly code?: string;
    }
  /** The router did not accept an answer; `refusal` is what it says. */
  | {
      readonly type: 'answer_refused';
      readonly outcome: RouterAnswer['outcome'];
      readonly refusal: string;
    }
  /** Fields of a request that rules need and no question has any more: told at the start and at every change. */
  | { readonly type: 'fields'; readonly missing: readonly string[] }
  | OwnFault
  | {
      readonly type: 'breaker';
      readonly state: 'closed' | 'open' | 'half_open';
    }
  /** The directory was asked for. `problem`: what went wrong, and the one before goes on getting older. */
  | {
      readonly type: 'directory';
      readonly ageMs: number;
      readonly groups: number;
      readonly problem?: string;
    }
  /** Fallback decisions, or headroom, were not written into the table; they are in memory. */
  | {
      readonly type: 'not_written';
      readonly where: 'journal' | 'rooms';
      /** The error's name, e.g. `AccessDeniedException`. */
      readonly error: string;
    }
  | {
      readonly type: 'unmetered';
      /** Not told yet, those on their way included. */
      readonly queued: number;
      /** Told to the function. */
      readonly posted: number;
      /** Written into the journal, which the function is not needed for. @default 0 */
      readonly journaled?: number;
      /** Lost, for whatever reason: the ledger never hears of these from this relay. */
      readonly dropped: number;
      /** Why some are lost, and at most `LOST_NAMED_MAX` of their job ids. */
      readonly lost?: { readonly why: UnmeteredLoss; readonly jobIds: readonly number[] };
    };

/** `queue_full`: others came. `refused`: the service takes others and never this one. `stopping`: there was no time left. */
export type UnmeteredLoss = 'queue_full' | 'refused' | 'stopping';

export type RelayObserver = (event: RelayEvent) => void;

/**
 * One observer that tells several. Whoever watches must not be able to stop an answer: what one of them throws is
 * given to `failed` and the others are told all the same.
 */
export function tellAll(
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

/**
 * Whether people are to be told of a rejection. Who decided may not say, or say what is no word of ours: rather told
 * twice than never.
 */
export function noticeOf({
  answer,
  decision,
}: Extract<RelayEvent, { readonly type: 'answered' }>): NoticeOrder | undefined {
  if (answer.outcome !== 'rejected') return undefined;
  return decision?.outcome === 'rejected' && decision.notice === 'repeat' ? 'repeat' : 'first';
}

/** How long it took to decide: waiting for room is no slowness. */
export const decisionMs = ({
  latencyMs,
  waitedMs = 0,
}: Extract<RelayEvent, { readonly type: 'answered' }>): number => Math.max(0, latencyMs - waitedMs);
