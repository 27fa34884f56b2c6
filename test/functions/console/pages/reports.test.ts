import { expect, test } from 'vitest';
import { pagesApp } from './pages-server.ts';

test.each(['/reports?by=nonsense', '/reports?by=groups&group=acme', '/reports/spend.csv?by=nonsense'])(
  '%s is told what there is, instead of being shown another report',
  async (path) => {
    const { app } = await pagesApp('full');
    const page = await app.request(path);
    const text = await page.text();
    expect([page.status, text.includes('expected one of group, project, class, branch')]).toEqual([
      path.includes('.csv') ? 422 : 200,
      true,
    ]);
    expect(text).not.toContain('All together');
  },
);

test('an empty key is the next level, as the form sends it', async () => {
  const { app } = await pagesApp('full');
  expect(await (await app.request('/reports?by=')).text()).toContain('By group');
});
