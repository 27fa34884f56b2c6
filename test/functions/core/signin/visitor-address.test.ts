import { expect, test } from 'vitest';
import { visitorAddress } from '../../../../functions/core/signin/config.ts';
import { rateLimit } from '../../../../functions/core/signin/require-user.ts';

const PROXIES = ['10.0.0.0/8', '2600:9000::/28'];

test.each([
  [
    'no proxy is trusted: the connection, whatever the header says',
    [],
    '10.0.0.1',
    '203.0.113.9',
    '10.0.0.1',
  ],
  ['a stranger who brings a header of their own', PROXIES, '198.51.100.4', '203.0.113.9', '198.51.100.4'],
  ['a visitor behind the proxy', PROXIES, '10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['a visitor who wrote a header before it', PROXIES, '10.0.0.1', '192.0.2.1, 203.0.113.9', '203.0.113.9'],
  ['two proxies', PROXIES, '10.0.0.1', '192.0.2.1, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
  ['a proxy of IPv6', PROXIES, '2600:9000::7', '2001:db8::5', '2001:db8::5'],
  ['a proxy that says nothing', PROXIES, '10.0.0.1', undefined, '10.0.0.1'],
  ['a hop that is no address', PROXIES, '10.0.0.1', 'nobody', '10.0.0.1'],
  ['a header without an end', PROXIES, '10.0.0.1', `${'1.1.1.1,'.repeat(9_999)}203.0.113.9`, '203.0.113.9'],
])('%s', (_, proxies, connection, forwardedFor, expected) => {
  expect(visitorAddress(proxies)({ connection, forwardedFor })).toBe(expected);
});

test('one visitor behind a proxy wears out the limit of nobody else behind it', () => {
  const limit = rateLimit({ max: 30, windowMs: 60_000, clock: { nowMs: () => 0 } });
  const visitorOf = visitorAddress(PROXIES);
  const signIn = (forwardedFor: string) => limit.take(visitorOf({ connection: '10.0.0.1', forwardedFor }));
  for (let times = 0; times < 40; times += 1) signIn('203.0.113.9');
  expect(signIn('203.0.113.9')).toBeDefined();
  expect(signIn('203.0.113.10')).toBeUndefined();
});
