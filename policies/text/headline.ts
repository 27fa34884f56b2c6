import type { Reason } from '../reason.ts';
import { cut } from './fitting.ts';
import type { HeadlineContext } from './reason-text.ts';
import { textsFor } from './reason-texts.ts';

/** The first line: what stopped the job, complete on its own, at most `HEADLINE_CHARACTERS_MAX`. */
export const headline = (reason: Reason, context: HeadlineContext): string =>
  cut(textsFor(reason).headline(reason, context));

/** The same where no level and no number may be told. */
export const discreetHeadline = (reason: Reason): string => cut(textsFor(reason).discreetHeadline(reason));
