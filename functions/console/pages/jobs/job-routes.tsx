import { Hono } from 'hono';
import { jobPagePath } from '../../../core/notify/console-links.ts';
import type { SignInEnv, User } from '../../../core/signin/index.ts';
import { query } from '../asked.ts';
import { ConsolePage } from '../frame.tsx';
import { type PageContext, type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import type { Markup } from '../parts/markup.ts';
import { jobPage } from './job-page.tsx';

/** A job is asked for by a word, and explained. */
export function jobRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const app = new Hono<SignInEnv>();

  app.get('/jobs', async (c) => {
    const word = query(c, 'q', WORD_CHARACTERS_MAX);
    return word === undefined ? send(c, findJobPage(c.var.user, '', undefined)) : showJob(c, deps, word);
  });
  app.get('/jobs/:word', (c) => showJob(c, deps, c.req.param('word')));

  return app;
}

const WORD_CHARACTERS_MAX = 500;
const REQUESTS_SHOWN = 5;

async function showJob(c: PageContext, deps: PagesDeps, word: string): Promise<Response> {
  const { user } = c.var;
  const answer = await deps.read.job(word, user);
  switch (answer.outcome) {
    case 'found': {
      const { explanation: job } = answer;
      // By this address a request is known to be about it.
      const link = job.job.url ?? `${deps.origin}${jobPagePath(job.jobId)}`;
      const rows = job.rejection === undefined ? [] : await deps.read.requests(user);
      const requests = rows.filter((row) => row.link === link).slice(0, REQUESTS_SHOWN);
      return send(c, jobPage(user, { job, link, requests }, pageFormatOf(deps)));
    }
    case 'unknown':
      return send(c, findJobPage(user, word, answer.sentence), 404);
    case 'unreadable':
      return send(c, findJobPage(user, word, answer.sentence), 422);
  }
}

/** Search form of jobs; with a sentence if the last search failed. */
const findJobPage = (user: User, word: string, sentence: string | undefined): Markup => (
  <ConsolePage title="Find a job" at="/jobs" user={user}>
    <div class="head">
      <div>
        <h1>Find a job</h1>
        <p>Why a job was admitted or rejected, and what would become of it now.</p>
      </div>
    </div>
    {sentence !== undefined && (
      <div class="note warn" role="status">
        <p>{sentence}</p>
      </div>
    )}
    <form class="card filters" method="get" action="/jobs" role="search">
      <label>
        Job id, decision id or the address of the job’s page
        <input
          type="search"
          name="q"
          value={word}
          maxlength={500}
          required
          autofocus
          placeholder="4711 or d-4711-1"
        />
      </label>
      <button class="main">Explain</button>
    </form>
  </ConsolePage>
);
