import { Hono } from 'hono';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import { ownerMessage } from '../../../answers/shadow/owner-message.ts';
import type { SignInEnv } from '../../../core/signin/index.ts';
import { query, queryCursor, readValues, readWholeNumber } from '../asked.ts';
import { type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { unknownPlace } from '../problem-page.tsx';
import { shadowPage } from './shadow-page.tsx';

/** The shadow report, and its way to an owner. */
export function shadowRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { read, log } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/shadow', async (c) => {
    const { user } = c.var;
    const days = readWholeNumber(query(c, 'days')) ?? DAYS;
    const group = readWholeNumber(query(c, 'group'));
    const cursor = queryCursor(c);
    const view = await read.shadow(
      {
        days: bounded(days),
        ...withoutAbsent({ group, cursor }),
        max: CARDS,
      },
      user,
    );
    const done = SENT[query(c, 'sent') ?? ''];
    const shown = {
      view,
      days: bounded(days),
      group,
      canTell: deps.tellOwner !== undefined,
      origin: deps.origin,
      done,
    };
    return send(c, shadowPage(user, shown, pageFormatOf(deps)));
  });
  app.post('/shadow/send', async (c) => {
    const { user } = c.var;
    const values = await readValues(c);
    const group = readWholeNumber(values.group);
    const days = bounded(readWholeNumber(values.days) ?? DAYS);
    const { rows } = await read.shadow({ days, ...(group !== undefined && { group }) }, user);
    const row = rows.find(({ subject }) => subject === `group/${group}`);
    if (row === undefined || deps.tellOwner === undefined) return send(c, unknownPlace(user), 404);
    const sent = await deps.tellOwner(
      ownerMessage(row, { days, origin: deps.origin, currency: deps.policy.currency }),
    );
    log.info('shadow report', { user: user.id, subject: row.subject, outcome: sent });
    return c.redirect(`/shadow?days=${days}&sent=${sent}`, 303);
  });

  return app;
}

/** What became of a report. */
const SENT: Readonly<Record<string, string>> = {
  sent: 'Sent to the owner.',
  'told-before': 'Not sent: the owner was told of this group within the last hour.',
};

const DAYS = 14;
const DAYS_MAX = 62;
/** A card is about a kilobyte: a page stays below 100 KB. */
const CARDS = 40;

const bounded = (days: number): number => Math.min(DAYS_MAX, Math.max(1, days));
