import { expect, test } from 'vitest';
import { fakeDesk } from './fake-desk.ts';
import { fakeRead } from './fake-read.ts';
import { pagesApp } from './pages-server.ts';
import { aSubject } from './rows.ts';

const project = (projectId: number, euros: number) => ({
  projectId,
  path: `acme/payments/p${projectId}`,
  micros: euros * 1_000_000,
});

/** The card of a group whose days came to 100 EUR. */
async function cardOf(topProjects: readonly ReturnType<typeof project>[], settledMicros = 100_000_000) {
  const view = aSubject({});
  const usage = { ...view.usage, topProjects, settledMicros, heldMicros: 0 };
  const read = { ...fakeRead('full', fakeDesk()), subject: async () => ({ ...view, usage }) };
  const page = await (await pagesApp('full', { read }).app.request('/groups/101')).text();
  const [, card] = /<h3 id="by-project">.*?<\/h3>(.*?)<\/section>/s.exec(page) ?? [];
  if (card === undefined) return undefined;
  const widths = [...card.matchAll(/<rect class="eat[^"]*" x="([\d.]+)%" width="([\d.]+)%"/g)];
  const rows = [...card.matchAll(/<td class="n">([\d.]+) EUR<\/td><td class="n">(\d+) %<\/td>/g)];
  return {
    parts: widths.map(([, x, width]) => [Number(x), Number(width)]),
    rows: rows.map(([, euros, percent]) => [Number(euros), Number(percent)]),
    hasOthers: card.includes('Other projects'),
  };
}

test('the parts of the bar are its rows, one after the other, and come to all of it with the others', async () => {
  const card = await cardOf([50, 20, 10, 5, 4, 3, 2, 1].map((euros, id) => project(id, euros)));
  expect(card?.rows).toEqual([
    [50, 50],
    [20, 20],
    [10, 10],
    [5, 5],
    [4, 4],
    [3, 3],
    // The two that are left out, and what no project of the list has.
    [8, 8],
  ]);
  expect(card?.parts.slice(0, 3)).toEqual([
    [0, 50],
    [50, 20],
    [70, 10],
  ]);
  expect(card?.hasOthers).toBe(true);
});

test('where nothing is left for others nobody is told of them, and more than all is still one whole bar', async () => {
  expect(await cardOf([project(1, 60), project(2, 40)])).toMatchObject({ hasOthers: false });
  // Groups were moved here with what they had used.
  expect(await cardOf([project(1, 150), project(2, 50)])).toMatchObject({
    rows: [
      [150, 75],
      [50, 25],
    ],
    parts: [
      [0, 75],
      [75, 25],
    ],
  });
});

test('classes of a group have no page of their own, and what no night told apart yet is not said to have no class', async () => {
  const view = aSubject({});
  const runnerClasses = [{ name: 'small', micros: 60_000_000, seconds: 60, jobs: 1 }];
  const usage = { ...view.usage, runnerClasses, settledMicros: 100_000_000, heldMicros: 0 };
  const cardOfClasses = async (path: string) => {
    const kind = path === '/instance' ? ('instance' as const) : view.kind;
    const subject = path === '/instance' ? 'instance' : view.subject;
    const read = {
      ...fakeRead('full', fakeDesk()),
      subject: async () => ({ ...view, subject, kind, usage }),
    };
    const page = await (await pagesApp('full', { read }).app.request(path)).text();
    return /<h3 id="by-class">.*?<\/h3>(.*?)<\/section>/s.exec(page)?.[1] ?? '';
  };
  const ofGroup = await cardOfClasses('/groups/101');
  expect(ofGroup).toContain('small');
  expect(ofGroup).toContain('No class, or not yet known');
  expect(ofGroup).not.toContain('/runner-classes/');
  const ofAll = await cardOfClasses('/instance');
  expect(ofAll).toContain('href="/runner-classes/small"');
  expect(ofAll).not.toContain('not told apart');
});

test('where nothing was used there is no bar', async () => {
  expect(await cardOf([])).toBeUndefined();
  expect(await cardOf([project(1, 0)], 0)).toBeUndefined();
});
