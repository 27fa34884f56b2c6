/** The numbers of the channel to the router. */
export interface ChannelNumbers {
  /** @default 10 MiB both ways */
  readonly messageBytesMax?: number;
  /** @default 25 s; never below 20 s against a real router, which cuts such clients off */
  readonly keepaliveMs?: number;
  /** How long the router may take to answer a ping. @default 5 s */
  readonly keepaliveTimeoutMs?: number;
  readonly reconnectMsMax?: number;
}

/** "matches kas limit" says GitLab Runner. */
export const ROUTER_MESSAGE_BYTES_MAX = 10 * 1024 * 1024;
/**
 * A connection that died without a word is noticed by the ping after it: no question reaches us until then. The router
 * cuts off who pings more often than every 20 s.
 */
const KEEPALIVE_MS = 25_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
/** HTTP/2's 64 KB hold some thirty questions; a burst of more would wait for our acknowledgements. */
const FLOW_CONTROL_BYTES = 1024 * 1024;
const RECONNECT_MS_MIN = 100;
/** Short, since a call of the pool fails at once while the channel waits; the pool's own waiting is the longer one. */
const RECONNECT_MS_MAX = 1_000;
/** grpc-js waits 30 s by default, and so long a router that moved to another address would not be found. */
const RESOLVE_EVERY_MS_MIN = 1_000;

/** @see https://github.com/grpc/grpc-node/tree/master/packages/grpc-js#supported-channel-options */
export const channelOptions = (
  userAgent: string,
  numbers: ChannelNumbers,
): Readonly<Record<string, string | number>> => ({
  'grpc.primary_user_agent': userAgent,
  'grpc.keepalive_time_ms': numbers.keepaliveMs ?? KEEPALIVE_MS,
  'grpc.keepalive_timeout_ms': numbers.keepaliveTimeoutMs ?? KEEPALIVE_TIMEOUT_MS,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.max_receive_message_length': numbers.messageBytesMax ?? ROUTER_MESSAGE_BYTES_MAX,
  'grpc.max_send_message_length': numbers.messageBytesMax ?? ROUTER_MESSAGE_BYTES_MAX,
  'grpc-node.flow_control_window': FLOW_CONTROL_BYTES,
  'grpc.initial_reconnect_backoff_ms': RECONNECT_MS_MIN,
  'grpc.max_reconnect_backoff_ms': numbers.reconnectMsMax ?? RECONNECT_MS_MAX,
  'grpc.dns_min_time_between_resolutions_ms': RESOLVE_EVERY_MS_MIN,
  // An answer is given once: kept for a retry, it would count as written before anything has left.
  'grpc.per_rpc_retry_buffer_size': 0,
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  // The name's TXT record must not change how we call.
  'grpc.service_config_disable_resolution': 1,
  // Two routers in one process are two connections. Nothing reads channelz.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_channelz': 0,
});
