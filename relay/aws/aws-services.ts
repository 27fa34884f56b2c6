import { randomUUID } from 'node:crypto';
import type { Beat } from '../../functions/core/contract/index.ts';
import { isRecord } from '../../policies/document/reading.ts';
import type { Fetch } from '../admit-call.ts';
import type { RelayConfig } from '../config.ts';
import { putHeartbeat } from '../heartbeat/put-heartbeat.ts';
import { journalWriter, type WriteJournal } from '../journal.ts';
import { type RoomTable, roomTable } from '../room-snapshot.ts';
import { invokeRoute } from '../route/invoke-route.ts';
import { urlRoute } from '../route/url-route.ts';
import type { CredentialsProvider } from '../signing/credentials.ts';
import { signedFetch } from '../signing/signed-fetch.ts';
import { type AwsJsonDeps, awsJson } from './aws-json.ts';
import type { AwsService } from './endpoint.ts';

interface AwsServicesDeps {
  readonly fetch: Fetch;
  readonly credentials: CredentialsProvider;
  readonly nowMs: () => number;
}

/** What the relay does at AWS, each call signed. */
export interface AwsServices {
  /** How the deciding service is called. */
  readonly admitFetch: Fetch;
  readonly parameter: (name: string) => Promise<string>;
  /** Absent unless there is a table for it. */
  readonly putBeat: ((beat: Beat) => Promise<void>) | undefined;
  /** Likewise. */
  readonly writeJournal: WriteJournal | undefined;
  /** Beside the journal. */
  readonly rooms: RoomTable | undefined;
}

/** Asks for no credentials before the first call. */
export function awsServices(
  { admitRoute, aws }: Pick<RelayConfig, 'admitRoute' | 'aws'>,
  { fetch, credentials, nowMs }: AwsServicesDeps,
): AwsServices {
  const { region = '', endpoints, heartbeat, journal } = aws;
  const signed = (service: AwsService): Fetch => signedFetch({ fetch, credentials, region, service, nowMs });
  const ssm = { fetch: signed('ssm'), endpoint: endpoints.ssm };
  const dynamodb = { fetch: signed('dynamodb'), endpoint: endpoints.dynamodb };
  const relayId = randomUUID();
  return {
    admitFetch: admitFetch(),
    parameter: (name) => readParameter(ssm, name),
    writeJournal: journal && journalWriter({ ...dynamodb, ...journal, nowMs }),
    rooms: journal && roomTable({ ...dynamodb, ...journal, relayId, nowMs }),
    putBeat: heartbeat && putHeartbeat({ ...dynamodb, ...heartbeat, relayId }),
  };

  function admitFetch(): Fetch {
    switch (admitRoute.kind) {
      case 'plain':
        return fetch;
      case 'url':
        return urlRoute(signed('lambda'));
      case 'invoke': {
        const { functionName } = admitRoute;
        return invokeRoute({ fetch: signed('lambda'), endpoint: endpoints.lambda, functionName, nowMs });
      }
    }
  }
}

const TIMEOUT_MS = 3_000;

/**
 * The text of one SSM parameter, decrypted.
 *
 * @throws {Error} named like SSM's error, or because there is no value; never quoting one.
 */
export async function readParameter(deps: AwsJsonDeps, name: string): Promise<string> {
  const answer = await awsJson(deps, {
    target: 'AmazonSSM.GetParameter',
    version: '1.1',
    input: { Name: name, WithDecryption: true },
    timeoutMs: TIMEOUT_MS,
  });
  const parameter = isRecord(answer) ? answer.Parameter : undefined;
  const value = isRecord(parameter) ? parameter.Value : undefined;
  if (typeof value !== 'string') throw new Error(`parameter ${name} has no value`);
  return value;
}
