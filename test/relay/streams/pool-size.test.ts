import { expect, test } from 'vitest';
import { grown, missing, POOL_SIZES, shrunk } from '../../../relay/streams/pool.ts';

test.each([
  { wanted: 8, waiting: 8, busy: 0, to: 8, guarantee: 'an idle pool keeps its size' },
  { wanted: 8, waiting: 2, busy: 6, to: 8, guarantee: 'exactly a quarter waiting is enough' },
  { wanted: 8, waiting: 1, busy: 7, to: 16, guarantee: 'less than a quarter doubles it' },
  { wanted: 8, waiting: 8, busy: 24, to: 8, guarantee: 'a quarter of all open is enough' },
  { wanted: 8, waiting: 8, busy: 25, to: 16, guarantee: 'less than a quarter of all open doubles it' },
  { wanted: 200, waiting: 0, busy: 300, to: 256, guarantee: 'it never passes the most' },
  { wanted: 256, waiting: 0, busy: 900, to: 256, guarantee: 'at the most it stays' },
])(
  'growing from $wanted with $waiting waiting and $busy busy gives $to: $guarantee',
  ({ to, ...occupancy }) => {
    expect(grown(occupancy, POOL_SIZES)).toBe(to);
  },
);

test.each([
  { wanted: 256, waiting: 200, busy: 10, to: 224, guarantee: 'one eighth less while most wait' },
  { wanted: 256, waiting: 100, busy: 100, to: 256, guarantee: 'half waiting is no reason to shrink' },
  { wanted: 9, waiting: 9, busy: 0, to: 8, guarantee: 'it never falls below the start' },
  { wanted: 8, waiting: 8, busy: 0, to: 8, guarantee: 'at the start it stays' },
])(
  'shrinking from $wanted with $waiting waiting and $busy busy gives $to: $guarantee',
  ({ to, ...occupancy }) => {
    expect(shrunk(occupancy, POOL_SIZES)).toBe(to);
  },
);

test.each([
  { wanted: 8, waiting: 3, busy: 20, to: 5, guarantee: 'streams with a question do not count as waiting' },
  { wanted: 8, waiting: 12, busy: 0, to: 0, guarantee: 'surplus is not negative' },
  {
    wanted: 256,
    waiting: 10,
    busy: 1_000,
    to: 14,
    guarantee: 'all open streams together stay within the bound',
  },
  { wanted: 256, waiting: 0, busy: 1_024, to: 0, guarantee: 'at the bound none is opened' },
])('missing of $wanted with $waiting waiting and $busy busy is $to: $guarantee', ({ to, ...occupancy }) => {
  expect(missing(occupancy, POOL_SIZES)).toBe(to);
});
