import { randomUUID } from 'node:crypto';
import { isRecord } from '../../policies/document/reading.ts';
import type { Fetch } from '../admit/admit-call.ts';
import { invokeRoute, urlRoute } from '../admit/routes.ts';
import type { RelayConfig } from '../config.ts';
import { headroomTable } from '../fallback/headroom-snapshot.ts';
import { type AwsClient, type AwsService, awsJson, heartbeatWriter, journalWriter } from './aws-json.ts';
import { type CredentialsProvider, signedFetch } from './signed-fetch.ts';

export function awsServices(
  { admitRoute, aws }: Pick<RelayConfig, 'admitRoute' | 'aws'>,
  calls: { readonly fetch: Fetch; readonly credentials: CredentialsProvider; readonly nowMs: () => number },
) {
  const { fetch, nowMs } = calls;
  const { region = '', endpoints, heartbeat, journal } = aws;
  const signed = (service: AwsService): Fetch => signedFetch({ ...calls, region, service });
  const ssm = { fetch: signed('ssm'), endpoint: endpoints.ssm };
  const dynamodb = { fetch: signed('dynamodb'), endpoint: endpoints.dynamodb };
  const relayId = randomUUID();
  return {
    admitFetch: admitFetch(),
    parameter: (name: string) => readParameter(ssm, name),
    writeJournal: journal && journalWriter({ ...dynamodb, ...journal, nowMs }),
    headroom: journal && headroomTable({ ...dynamodb, ...journal, relayId, nowMs }),
    putHeartbeat: heartbeat && heartbeatWriter({ ...dynamodb, ...heartbeat, relayId }),
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

const PARAMETER_TIMEOUT_MS = 3_000;

/**
 * Reads and decrypts one SSM parameter.
 *
 * @throws {Error} named like SSM's error, or because the parameter has no value. It never quotes a value.
 */
export async function readParameter(ssm: AwsClient, name: string): Promise<string> {
  const response = await awsJson(ssm, {
    target: 'AmazonSSM.GetParameter',
    input: { Name: name, WithDecryption: true },
    timeoutMs: PARAMETER_TIMEOUT_MS,
  });
  const parameter = isRecord(response) ? response.Parameter : undefined;
  const value = isRecord(parameter) ? parameter.Value : undefined;
  if (typeof value !== 'string') throw new Error(`parameter ${name} has no value`);
  return value;
}
