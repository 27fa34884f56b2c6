import type { MiddlewareHandler } from 'hono';
import type { SignInEnv } from '../../core/signin/user.ts';
import type { Reader } from './frame.tsx';
import { mayOpen } from './page-access.ts';
import type { PagesDeps } from './pages-deps.ts';

/** Lets each page of who decides requests say how many wait. The page comes all the same if there is no answer. */
export const countWaiting =
  ({ read, log }: Pick<PagesDeps, 'read' | 'log'>): MiddlewareHandler<SignInEnv> =>
  async (c, next) => {
    const { user } = c.var;
    if (!mayOpen('POST /requests/:id', user.roles)) return next();
    try {
      const reader: Reader = { ...user, waiting: await read.waiting(user) };
      c.set('user', reader);
    } catch (error) {
      log.warn('requests not counted', { error: error instanceof Error ? error.name : 'unknown' });
    }
    return next();
  };
