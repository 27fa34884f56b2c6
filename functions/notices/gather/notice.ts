import type { CounterKey } from '../../../policies/claim.ts';
import type { Recipient } from '../../core/notify/recipient.ts';
import type { AlertedLevel } from '../../core/thresholds/alert-records.ts';

/** What an owner is told of. */
export type NoticeKind =
  | 'request-waiting'
  | 'break-glass-review'
  | 'jobs-rejected'
  | 'jobs-warned'
  | 'break-glass-used'
  | 'break-glass-opened'
  | 'break-glass-changed'
  | 'limit-loosened'
  | 'limit-tightened'
  | 'limit-described'
  | 'grant-given'
  | 'grant-changed'
  | 'grant-ending'
  | 'forecast-reached'
  | 'freeze-set'
  | 'freeze-changed'
  | 'freeze-lifted'
  | 'request-decided';

/** One thing that happened, as one owner is told of it. */
export interface Notice {
  readonly to: Recipient;
  /** The same if it has to be told again: receivers know repeats by it. */
  readonly id: string;
  readonly kind: NoticeKind;
  /** As in edits: `group/101`. */
  readonly subject: string;
  /** What a person calls it: `group acme/payments`. */
  readonly label: string;
  /** What happened, with the numbers: one line, more under it where they say more. */
  readonly lines: readonly [string, ...string[]];
  /** Path in the console. */
  readonly page: string;
  /** Jobs to look at, first ones first. */
  readonly examples?: readonly Example[];
  /** The numbers for programs. */
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
  /** The level of a limit it is about: beside the counter it is noted what became of the message. */
  readonly alert?: { readonly key: CounterKey; readonly level: AlertedLevel };
  /** How far its telling goes, where that is kept one by one. */
  readonly passes?: readonly NoticeMark[];
}

/** What is kept of one subject's day or one break-glass once it was told. */
export type NoticeMark =
  | { readonly kind: 'tally'; readonly day: string; readonly subject: string; readonly tally: ToldTally }
  | { readonly kind: 'break-glass'; readonly id: string; readonly used: number };

/** Jobs of a subject and day that its owner was told of. */
export interface ToldTally {
  readonly rejected?: number;
  /** Keyed by rule. */
  readonly warned?: Readonly<Record<string, number>>;
}

/** A job and where it is explained. */
export interface Example {
  readonly text: string;
  readonly page: string;
}
