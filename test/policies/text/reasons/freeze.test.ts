import { expect, test } from 'vitest';
import type { Reason } from '../../../../policies/reason.ts';
import { headline } from '../../../../policies/text/reason-texts.ts';
import { NOW_MS, told, toldDiscreetly } from '../told.ts';

const first = (reason: Reason): string => headline(reason, { currency: 'EUR', nowMs: NOW_MS });

const frozen: Reason = {
  code: 'GROUP_FROZEN',
  frozenLabel: 'group acme/payments',
  untilMs: Date.UTC(2027, 0, 2, 5),
  zone: 'Europe/Berlin',
  why: 'Year-end close.',
};

test('a freeze', () => {
  expect(told([frozen])).toMatchInlineSnapshot(`
    "CI is frozen until 2 Jan 2027 06:00 Europe/Berlin (in 42 days): group acme/payments. Year-end close.

    [GROUP_FROZEN] job "e2e-large" was not started. Nothing is wrong with your code.
      group acme/payments: frozen until 2 Jan 2027 06:00 Europe/Berlin: Year-end close
    Retrying now will fail again. It will work after 2 Jan 2027 06:00 Europe/Berlin (in 42 days).
    If it cannot wait, ask the team that runs CI for an exemption.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(frozen)).toMatchInlineSnapshot(`
    "CI is frozen for this job: it may not start now.

    [GROUP_FROZEN] job "e2e-large" was not started. Nothing is wrong with your code.
    Retrying now will fail again. It will work after 2 Jan 2027 06:00 Europe/Berlin (in 42 days).
    If it cannot wait, ask the team that runs CI for an exemption.
    Decision: d-01JABC"
  `);
  const { untilMs: _, why: __, ...open } = frozen;
  expect(told([{ ...open, frozenLabel: 'everything' } as Reason])).toMatchInlineSnapshot(`
    "CI is frozen for now: everything.

    [GROUP_FROZEN] job "e2e-large" was not started. Nothing is wrong with your code.
      everything: frozen until somebody lifts it
    Retrying will fail again until somebody lifts the freeze.
    If it cannot wait, ask the team that runs CI for an exemption.
    Decision: d-01JABC"
  `);
});

test('a long explanation of a freeze is cut on the first line and whole below', () => {
  const why = 'The database of the payment provider is moved to another region, see the calendar of platform';
  const lines = told([{ ...frozen, why } as Reason]).split('\n');
  expect(lines[0]).toMatchInlineSnapshot(
    `"CI is frozen until 2 Jan 2027 06:00 Europe/Berlin (in 42 days): group acme/payments. The database of the payment provi…."`,
  );
  expect(lines[3]).toContain(why);
});

test('a freeze of something with a long name still tells when it opens', () => {
  const frozenLabel = `group ${'sub/'.repeat(30)}end, runner class gpu`;
  expect(first({ ...frozen, frozenLabel } as Reason)).toMatchInlineSnapshot(
    `"CI is frozen (opens in 42 days): group sub/sub/sub/sub/sub/sub/sub/s…/sub/sub/sub/end, runner class gpu. Year-end close."`,
  );
});
