import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '../../../../policies/limits/calendar.ts';
import { consoleHouse, LIMITS } from '../house.ts';
import { choicesOf, rest, submitted } from './form-choices.ts';
import { openBrowser } from './open-browser.ts';
import { type PagesServer, type Person, startPages } from './pages-server.ts';

const house = consoleHouse();
const dayIn = (days: number): string =>
  new Date(house.clock.nowMs() + days * DAY_MS).toISOString().slice(0, 10);

let browser: Browser;
let server: PagesServer;

beforeAll(async () => {
  await house.apply(LIMITS);
  const reason = 'Release';
  await house.apply([
    {
      kind: 'grant',
      subject: 'group/101',
      limit: 'money-month',
      amount: 5,
      from: dayIn(0),
      until: dayIn(3),
      reason,
    },
    { kind: 'freeze', subject: 'group/102', reason },
    { kind: 'breakglass', subject: 'group/101', users: [7], jobs: 3, until: dayIn(2), reason },
  ]);
  const { desk, read, policy, directory, clock } = house;
  [browser, server] = await Promise.all([
    openBrowser(),
    startPages('full', { desk, read, policy, directory: async () => directory, clock }),
  ]);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function pageOf(person: Person) {
  const context = await browser.newContext();
  await context.addCookies([{ name: 'person', value: person, url: server.origin }]);
  return context.newPage();
}

/** Some hundred forms are sent one after the other: three minutes on an idle machine. */
const TIMEOUT_MS = 20 * 60_000;

/** What the console has now: fewer would mean that the walk no longer finds them. */
test.each([
  ['ada', 50],
  ['dev', 5],
] as const)(
  'every form %s meets can be sent with each of its choices',
  async (person, choicesMin) => {
    const page = await pageOf(person);
    const { choices } = await choicesOf(page, server.origin);
    expect(choices.length).toBeGreaterThanOrEqual(choicesMin);
    const stuck: string[] = [];
    for (const choice of choices) {
      const values = { [choice.select]: choice.value };
      let problem = await submitted(page, server.origin, choice, { values, day: dayIn(2) });
      // Some choices want something else beside them: `CPU` is counted at once, and `any ref` names people.
      const others = problem === undefined ? [] : await rest(page, server.origin, choice);
      for (const other of others) {
        if (problem === undefined) break;
        const again = { values: { ...values, ...other }, day: dayIn(2) };
        if ((await submitted(page, server.origin, choice, again)) === undefined) problem = undefined;
      }
      if (problem !== undefined)
        stuck.push(`${choice.title}: ${choice.select} = '${choice.value}' (${choice.text}): ${problem}`);
    }
    expect(stuck).toEqual([]);
  },
  TIMEOUT_MS,
);
