import { expect, test } from 'vitest';
import { channelOptions } from '../../../relay/router/router-client.ts';

/** GitLab's router cuts off clients that ping more often. */
const ROUTER_PING_MS_MIN = 20_000;
/** As long as a relay may be without a stream before its health check fails; load balancers wait for longer than that. */
const NOTICED_MS_MAX = 30_000;

test('a waiting relay pings often enough to notice a dead connection, and not too often for the router', () => {
  const options = channelOptions('tollgate/1', {});
  const [everyMs, patienceMs] = [options['grpc.keepalive_time_ms'], options['grpc.keepalive_timeout_ms']];
  expect(everyMs).toBeGreaterThan(ROUTER_PING_MS_MIN);
  expect(Number(everyMs) + Number(patienceMs)).toBeLessThanOrEqual(NOTICED_MS_MAX);
  expect(options['grpc.keepalive_permit_without_calls']).toBe(1);
});

test('a message may have the 10 MiB the router sends at most, both ways', () => {
  expect(channelOptions('tollgate/1', {})).toMatchObject({
    'grpc.max_receive_message_length': 10 * 1024 * 1024,
    'grpc.max_send_message_length': 10 * 1024 * 1024,
  });
});
