import type { BacktestAnswer } from '../../../answers/backtest/model.ts';
import type { LimitEdit } from '../../../core/limits/desk/limit-edit.ts';
import type { User } from '../../../core/signin/user.ts';
import type { PagesDeps } from '../pages-deps.ts';
import { COUNT_STEP } from './backtest-part.tsx';
import type { Values } from './form-field.tsx';

/** What the form asks to be counted; undefined: it does not. */
export const countedFor = async (
  { read }: Pick<PagesDeps, 'read'>,
  edits: readonly LimitEdit[],
  base: string | undefined,
  { step }: Values,
  user: User,
): Promise<BacktestAnswer | undefined> =>
  step === COUNT_STEP ? read.backtest(edits, base, user) : undefined;
