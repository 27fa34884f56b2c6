import type { Beat, BeatSchema } from '../../functions/core/contract/index.ts';
import {
  HEARTBEAT_ANSWER_WITHIN,
  HEARTBEAT_AT,
  HEARTBEAT_BREAKER,
  HEARTBEAT_DIRECTORY_AGE,
  HEARTBEAT_PK_SUFFIX,
  HEARTBEAT_POLICY,
  HEARTBEAT_SCHEMA,
  HEARTBEAT_SCHEMA_HASH,
  HEARTBEAT_SCHEMA_PLACEHOLDER,
  HEARTBEAT_SCHEMA_STANDING,
  HEARTBEAT_STREAMS,
  HEARTBEAT_WAITING,
  PK,
  SK,
  TTL_ATTRIBUTE,
} from '../../functions/names.ts';
import { putByHand, type RelayTable } from '../aws/put-by-hand.ts';

/** Well before the next beat. */
const TIMEOUT_MS = 5_000;
/** Long enough to be found when somebody asks what happened, short enough that crashed relays do not pile up. */
const KEPT_SECONDS = 3_600;

interface PutHeartbeatOptions extends RelayTable {
  /** Tells this process from the other relays, and from itself before a restart. */
  readonly relayId: string;
}

/** Writes the one item of this relay, over and over. @returns a `put` that rejects when the table did not take it. */
export function putHeartbeat(options: PutHeartbeatOptions): (beat: Beat) => Promise<void> {
  const { instance, relayId } = options;
  return async (beat) => {
    const { atMs, openStreams, schema, directoryAgeMs, breaker, policyVersion, answerWithinMs, waiting } =
      beat;
    const item = {
      [PK]: { S: `${instance}${HEARTBEAT_PK_SUFFIX}` },
      [SK]: { S: relayId },
      [HEARTBEAT_AT]: { N: String(atMs) },
      [HEARTBEAT_STREAMS]: { N: String(openStreams) },
      ...(schema !== undefined && schemaItem(schema)),
      ...(directoryAgeMs !== undefined && { [HEARTBEAT_DIRECTORY_AGE]: { N: String(directoryAgeMs) } }),
      ...(breaker !== undefined && { [HEARTBEAT_BREAKER]: { S: breaker } }),
      ...(policyVersion !== undefined && { [HEARTBEAT_POLICY]: { S: policyVersion } }),
      ...(answerWithinMs !== undefined && { [HEARTBEAT_ANSWER_WITHIN]: { N: String(answerWithinMs) } }),
      ...(waiting !== undefined && { [HEARTBEAT_WAITING]: { S: JSON.stringify(waiting) } }),
      [TTL_ATTRIBUTE]: { N: String(Math.floor(atMs / 1_000) + KEPT_SECONDS) },
    };
    await putByHand(options, item, TIMEOUT_MS);
  };
}

const schemaItem = ({ source, hash, placeholder, standing }: BeatSchema) => ({
  [HEARTBEAT_SCHEMA]: { S: source },
  ...(hash !== undefined && { [HEARTBEAT_SCHEMA_HASH]: { S: hash } }),
  ...(standing !== undefined && { [HEARTBEAT_SCHEMA_STANDING]: { S: standing } }),
  ...(placeholder === true && { [HEARTBEAT_SCHEMA_PLACEHOLDER]: { BOOL: true } }),
});
