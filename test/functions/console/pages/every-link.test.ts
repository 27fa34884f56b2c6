/** Opens every link of every page over the sample of `npm start`, as each kind of user. */

import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { beforeAll, describe, expect, test } from 'vitest';
import { createConsoleRead } from '../../../../functions/answers/create-console-read.ts';
import { placesOf } from '../../../../functions/answers/reading/scope.ts';
import { createConsoleApp } from '../../../../functions/console/app.ts';
import { createAssets } from '../../../../functions/console/pages/assets.ts';
import { createPages } from '../../../../functions/console/pages/create-pages.ts';
import { silentLog, systemClock } from '../../../../functions/core/environment/environment.ts';
import { createLimitsDesk } from '../../../../functions/core/limits/create-limits-desk.ts';
import { createUploads } from '../../../../functions/core/limits/limit-table.ts';
import type { SignInEnv, User } from '../../../../functions/core/signin/model.ts';
import { firstJobId, loadPastMonth } from '../../../../scripts/local/past-month.ts';
import { closeLocalMonths, packLocalJobs } from '../../../../scripts/local/run-console.ts';
import { exampleLedger } from '../../../scripts/local/example-ledger.ts';
import { aUser } from '../house.ts';

/** All thirty days before it are of one month, which is closed by then. */
const NOW_MS = Date.parse('2026-12-07T12:00:00Z');
const ZONE = 'UTC';
const ORIGIN = 'https://budget.example.com';
/** Addresses a user opens; queries of filters make any number of them. */
const PAGES_MAX = 400;
/** Of pages that differ in their query alone, or in the number in their path. */
const ALIKE_MAX = 6;

const USERS = {
  finance: aUser('fritz', { finance: true }),
  operator: aUser('ada', { admin: true }),
  owner: aUser('olga', { ownedGroupIds: [101], viewerGroupIds: [101] }),
  developer: aUser('vera', { viewerGroupIds: [101] }),
};

let appFor: (user: User) => Hono;

beforeAll(async () => {
  const { rules, directory, ledger, rulesFor, onTrouble } = await exampleLedger();
  const clock = { ...systemClock, nowMs: () => NOW_MS };
  const { policy, limits } = rules;
  const deps = { ledger, directory, zone: ZONE, clock, onTrouble };
  await loadPastMonth({ ...deps, rulesFor, nowMs: NOW_MS });
  await closeLocalMonths({ ...deps, policy, limits });
  const knownJobIds = [firstJobId(Math.floor(NOW_MS / 86_400_000))];
  await packLocalJobs({ ...deps, knownJobIds });
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `id${ids}`;
  };
  const known = async () => directory;
  const desk = createLimitsDesk({
    ...{ table: ledger.limits, policy, ledger: ledger.ledger, directory: known, clock, newId, zone: ZONE },
  });
  const read = createConsoleRead({
    ...{ desk, policy, zone: ZONE, clock, limitTable: ledger.limits, packedLimits: limits },
    ...{ ledger: ledger.ledger, usage: ledger.usage, sheets: ledger.sheets, recounts: ledger.recounts },
    books: { instance: ledger.instance, description: 'the sample', jobs: ledger.store, chain: ledger.chain },
    recentJobIds: async () => knownJobIds,
    places: async () => placesOf(directory, NOW_MS),
    consoleUrl: ORIGIN,
  });
  const parts = { desk, read, policy, directory: known, clock, zone: ZONE, origin: ORIGIN, log: silentLog };
  const pages = createPages({ ...parts, uploads: createUploads({ table: ledger.limits, clock, newId }) });
  appFor = (user) => {
    const requireUser = createMiddleware<SignInEnv>(async (c, next) => {
      c.set('user', user);
      await next();
    });
    const signIn = { routes: new Hono<SignInEnv>(), requireUser };
    return createConsoleApp({ ...parts, signIn, pages, assets: createAssets() });
  };
});

const HREF = /(?:href|src)="(\/[^"#]*)/g;

const hrefsOf = (html: string): readonly string[] =>
  [...html.matchAll(HREF)].map(([, href = '']) => href.replaceAll('&amp;', '&'));

/** Pages that differ by numbers and values of their query are alike. */
const shapeOf = (href: string): string => {
  const [path = '', query = ''] = href.split('?');
  return `${path.replace(/\d+/g, '0')}?${[...new URLSearchParams(query).keys()].sort().join('&')}`;
};

describe.each(Object.entries(USERS))('as %s', (_, user) => {
  test('every link opens', async () => {
    const app = appFor(user);
    const from = new Map([['/', 'the start']]);
    const alike = new Map<string, number>();
    const broken: string[] = [];
    const queue = ['/'];
    for (const href of queue) {
      const response = await app.request(href);
      // A download or a page; 303 leads to one.
      if (response.status !== 200 && response.status !== 303)
        broken.push(`${response.status} ${href}, a link of ${from.get(href)}`);
      if (!(response.headers.get('content-type') ?? '').startsWith('text/html')) continue;
      const next = [
        ...hrefsOf(await response.text()),
        ...(response.headers.get('location') ?? '').split(' '),
      ];
      for (const found of next) {
        const count = alike.get(shapeOf(found)) ?? 0;
        if (found === '' || from.has(found) || found.startsWith('/auth/') || count >= ALIKE_MAX) continue;
        if (queue.length >= PAGES_MAX) continue;
        alike.set(shapeOf(found), count + 1);
        from.set(found, href);
        queue.push(found);
      }
    }
    expect(broken).toEqual([]);
    expect(queue.length).toBeGreaterThan(20);
  }, 240_000);
});
