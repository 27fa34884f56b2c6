import type { Context } from 'hono';
import { type RenderNotice, respondWith } from './answers.ts';
import type { SignInError } from './sign-in-error.ts';

export interface Refusals {
  signIn(c: Context, error: SignInError): Promise<Response>;
  signedOut(c: Context): Promise<Response>;
  forged(c: Context): Promise<Response>;
  tooMany(c: Context, waitSeconds: number): Promise<Response>;
  broken(c: Context): Promise<Response>;
  goodbye(c: Context): Promise<Response>;
}

const SIGN_IN = { href: '/signin', text: 'Sign in with GitLab' } as const;
const HOME = { href: '/', text: 'To the overview' } as const;

/** Every way in which a request ends before it begins, with its sentence and its remedy. */
export function refusals(render: RenderNotice): Refusals {
  return {
    signIn(c, error) {
      const { code, status, sentence, remedy } = error;
      return respondWith(
        c,
        status,
        { code, title: 'Not signed in', sentence, remedy, link: SIGN_IN },
        render,
      );
    },

    signedOut(c) {
      const notice = {
        code: 'signed_out',
        title: 'Signed out',
        sentence: 'You are not signed in, or your session has ended.',
        remedy: 'Sign in with GitLab and do it again; nothing was changed.',
        link: SIGN_IN,
      };
      return respondWith(c, 401, notice, render);
    },

    forged: (c) =>
      respondWith(
        c,
        403,
        {
          code: 'not_from_here',
          title: 'Not accepted',
          sentence: 'This did not come from a page of this session, so nothing was changed.',
          remedy: 'Load the page anew and send it again.',
          link: HOME,
        },
        render,
      ),

    tooMany(c, waitSeconds) {
      c.header('retry-after', String(waitSeconds));
      const notice = {
        code: 'too_many_requests',
        title: 'Too many requests',
        sentence: 'There were more requests from here than a person sends.',
        remedy: `Wait ${waitSeconds} s and try again.`,
      };
      return respondWith(c, 429, notice, render);
    },

    broken: (c) =>
      respondWith(
        c,
        500,
        {
          code: 'failed',
          title: 'Failed',
          sentence: 'Something went wrong here, not in your browser.',
          remedy: 'Try again; if that does not help, tell whoever runs Tollgate.',
          link: HOME,
        },
        render,
      ),

    goodbye: (c) =>
      respondWith(
        c,
        200,
        {
          code: 'signed_out',
          title: 'Signed out',
          sentence: 'You are signed out of Tollgate.',
          remedy: 'GitLab still knows this browser; on a shared machine, sign out there as well.',
          link: SIGN_IN,
        },
        render,
      ),
  };
}
