import type { Disclosure } from '../disclosure.ts';
import type { Reason } from '../reason.ts';
import { plain } from './plain-text.ts';
import { textsFor } from './reason-texts.ts';

/** Whether and when a retry helps, and what else does. */
export const retryAdvice = (reason: Reason, disclosure: Disclosure, nowMs: number): readonly string[] =>
  textsFor(reason).advice(reason, { disclosure, nowMs }).map(plain);
