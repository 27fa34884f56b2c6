import { expect, test } from 'vitest';
import { type Arrived, arrivals } from '../../support/relay/arrivals.ts';

const STEADY = { roots: 40, perSecond: 100, seconds: 12, deadlineMs: 2_000 };
const FROM_MS = 3_000;

const freeIn = ({ verdicts }: Arrived): number =>
  verdicts.filter(({ verdict }) => verdict.outcome === 'undecided').length;
const breakerIn = ({ events }: Arrived): readonly string[] =>
  events.flatMap((event) => (event.type === 'breaker' ? [event.state] : []));

test.each([429, 503, 500])(
  '300 ms of %i at 100 jobs a second over 40 roots: no job is free',
  async (status) => {
    const during = await arrivals(STEADY, (atMs) =>
      atMs >= FROM_MS && atMs < FROM_MS + 300 ? new Response(null, { status }) : undefined,
    );
    expect(during.verdicts).toHaveLength(1_200);
    expect(freeIn(during)).toBe(0);
    expect(breakerIn(during), 'nobody was kept from asking').toEqual([]);
  },
);
