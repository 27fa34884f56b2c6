import { Hono } from 'hono';
import type { SignInEnv } from '../../../core/signin/index.ts';
import { doneText, query } from '../asked.ts';
import { type PageContext, type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { subjectOfPath } from '../parts/links.tsx';
import { unknownPlace } from '../problem-page.tsx';
import { subjectPage } from './subject-page.tsx';

/** One group, project or runner class, or the whole GitLab. */
export function subjectRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const app = new Hono<SignInEnv>();

  app.get('/instance', (c) => showSubject(c, deps, 'instance'));
  app.get('/:folder{groups|projects|runner-classes}/:name', (c) => {
    const subject = subjectOfPath(c.req.param('folder'), c.req.param('name'));
    return subject === undefined ? send(c, unknownPlace(c.var.user), 404) : showSubject(c, deps, subject);
  });

  return app;
}

async function showSubject(c: PageContext, deps: PagesDeps, subject: string): Promise<Response> {
  const { user } = c.var;
  const limit = query(c, 'limit');
  const view = await deps.read.subject(subject, limit === undefined ? {} : { limit }, user);
  if (view === undefined) return send(c, unknownPlace(user), 404);
  return send(c, subjectPage(user, { view, done: doneText(c) }, pageFormatOf(deps)));
}
