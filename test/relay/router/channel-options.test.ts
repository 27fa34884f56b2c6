import { expect, test } from 'vitest';
import { channelOptions } from '../../../relay/router/channel-options.ts';

/** GitLab's router cuts off clients that ping more often. */
const ROUTER_PING_MS_MIN = 20_000;
/** Common load balancers cut off connections that say nothing for longer. */
const IDLE_MS_MAX = 60_000;

test('a waiting relay pings as GitLab Runner does: often enough for load balancers, not too often for the router', () => {
  const options = channelOptions('tollgate/1', {});
  expect(options['grpc.keepalive_time_ms']).toBe(55_000);
  expect(options['grpc.keepalive_time_ms']).toBeGreaterThan(ROUTER_PING_MS_MIN);
  expect(options['grpc.keepalive_time_ms']).toBeLessThan(IDLE_MS_MAX);
  expect(options['grpc.keepalive_permit_without_calls']).toBe(1);
});

test('a message may have the 10 MiB the router sends at most, both ways', () => {
  expect(channelOptions('tollgate/1', {})).toMatchObject({
    'grpc.max_receive_message_length': 10 * 1024 * 1024,
    'grpc.max_send_message_length': 10 * 1024 * 1024,
  });
});
