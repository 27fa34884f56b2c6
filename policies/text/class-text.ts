import type { Terms } from '../decision.ts';
import { oneLine } from './plain-text.ts';

/** `runner class small`, or that the job's tags belong to none and which one stands in. */
export const classText = ({ runnerClass, unclassed }: Pick<Terms, 'runnerClass' | 'unclassed'>): string =>
  unclassed ? `no runner class, taken as ${oneLine(runnerClass)}` : `runner class ${oneLine(runnerClass)}`;

/** The same where a table has a column for it. */
export const classColumn = ({ runnerClass, unclassed }: Pick<Terms, 'runnerClass' | 'unclassed'>): string =>
  unclassed ? `none (${runnerClass})` : runnerClass;
