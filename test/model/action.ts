/** Everything that can happen, as values: a run is a list of them, and a failing one shrinks to the few that matter. */
import type { StoreFault } from '../../functions/core/ledger/memory-store.ts';
import type { JobPlan, Mood } from './truth.ts';

export type Action =
  /** A relay asks about a batch. `heard`: whether the router gets the answers. */
  | {
      readonly do: 'ask';
      readonly relay: number;
      readonly jobs: readonly number[];
      readonly leftMs: number;
      readonly heard: boolean;
      readonly fallback: 'admitted' | 'rejected';
      readonly dieAfter: number | null;
    }
  | { readonly do: 'postUnmetered'; readonly relay: number; readonly dieAfter: number | null }
  | { readonly do: 'loseRelay'; readonly relay: number }
  /** The router: nobody answered. */
  | { readonly do: 'refuse'; readonly job: number }
  /** One of those that may. */
  | { readonly do: 'start'; readonly pick: number }
  /** One of those that run; `canceled` also of those that wait. */
  | { readonly do: 'end'; readonly pick: number; readonly how: 'success' | 'failed' | 'canceled' }
  | { readonly do: 'remove'; readonly job: number }
  /** A job that was rejected is retried, and its room is kept. From then on it is the new one that is asked about. */
  | {
      readonly do: 'retry';
      readonly job: number;
      readonly keptMinutes: number;
      readonly dieAfter: number | null;
    }
  /** One of the webhooks on their way, in any order. */
  | { readonly do: 'deliver'; readonly pick: number; readonly again: 'no' | 'repeat' | 'resend' }
  | { readonly do: 'lose'; readonly pick: number }
  | { readonly do: 'consume'; readonly count: number; readonly dieAfter: number | null }
  | { readonly do: 'sweep'; readonly by: number; readonly dieAfter: number | null }
  | { readonly do: 'rollUp'; readonly count: number; readonly again: number }
  | { readonly do: 'rebuild' }
  | { readonly do: 'price'; readonly small: number; readonly large: number; readonly inMinutes: number }
  | { readonly do: 'limit'; readonly limit: number; readonly tenths: number | 'unlimited' }
  | { readonly do: 'grant'; readonly limit: number; readonly tenths: number; readonly hours: number }
  | { readonly do: 'move'; readonly what: 'group' | 'project' }
  | { readonly do: 'step'; readonly process: number; readonly minutes: number }
  | { readonly do: 'mood'; readonly mood: Mood }
  /** Our token is replaced by another, between two calls of a program at the earliest. */
  | { readonly do: 'token'; readonly sees: boolean }
  | { readonly do: 'advance'; readonly by: Passing }
  | { readonly do: 'together'; readonly actions: readonly Action[] };

/** Seconds, or to just before the end of the day or month in the company's zone. */
export type Passing = number | 'day' | 'month';

export interface Plan {
  /** Shortly before a month, a year or summer time ends. */
  readonly startMs: number;
  readonly seed: number;
  readonly jobs: readonly JobPlan[];
  readonly actions: readonly Action[];
  /** Taken one by one by the operations of the table. */
  readonly faults: readonly (StoreFault | null)[];
  readonly chargeUnknown: 'hold' | 'nothing';
  /** Whether webhooks still on their way in the end arrive: before the last sweeps, after them, or never. */
  readonly lastWords: 'arrive' | 'arrive late' | 'are lost';
}
