/** The relay as a process: reads its environment, wires the parts, leaves on SIGTERM. */
import type { Logger } from 'pino';
import { withProxyCredentials } from '../functions/core/contract/index.ts';
import { isLoopback } from './aws/aws-config.ts';
import { awsServices } from './aws/aws-services.ts';
import { openAuthority, openProxyCredentials, openToken } from './aws/secrets.ts';
import { type RelayConfig, readRelayConfig } from './config.ts';
import { type EmfWriter, startEmf } from './emf/emf.ts';
import { tellAll } from './events.ts';
import { createHealthApp, serveHealth } from './health.ts';
import { startHeartbeat } from './heartbeat/heartbeat.ts';
import { createLogger, logEvents, standardOut } from './log.ts';
import { createMetrics } from './metrics.ts';
import { framesOf } from './own-fault.ts';
import { readPolicyFile } from './policy-file.ts';
import { createRelay, systemRelayClock } from './relay.ts';
import { RelayError } from './relay-error.ts';
import { keptFetch } from './route/kept-fetch.ts';
import { createRouter } from './router/router-client.ts';
import { awsCredentials } from './signing/credentials.ts';
import { fieldsWithoutSource } from './translate/describe.ts';
import { VERSION } from './version.ts';
import { loadSchema } from './wire/schema.ts';
import { trustIn } from './wire/schema-proof.ts';

async function main(config: RelayConfig): Promise<void> {
  const out = standardOut();
  const log = createLogger(config.logLevel, out);
  const ending = endOnSignals(log);
  const metrics = createMetrics();
  const emf = emfOf(config, (line) => out.write(line));
  const observers = [metrics.observe, logEvents(log, systemRelayClock), ...(emf ? [emf.observe] : [])];
  const schema = loadSchema(config.protoFile);
  const rules = config.policyFile === undefined ? undefined : readPolicyFile(config.policyFile);
  if (rules === undefined) log.warn('no policy file: the fallback knows no security rules');
  const { nowMs } = systemRelayClock;
  const aws = awsServices(config, { fetch: keptFetch, credentials: awsCredentials(), nowMs });
  const secrets = {
    parameter: aws.parameter,
    clock: systemRelayClock,
    random: Math.random,
    failed: (error: unknown) => log.warn({ error: whyOf(error) }, 'a parameter could not be read'),
  };
  const [token, tls, credentials, left] = await Promise.all([
    openToken(config, secrets),
    openAuthority(config, secrets),
    openProxyCredentials(config, secrets),
    aws.rooms?.read().catch((error: unknown) => {
      log.warn({ error: nameOf(error) }, 'what other relays knew to be left of limits could not be read');
    }),
  ]);
  // Both grpc-js and the tunnel read the proxy here, and nothing else of the relay does.
  Object.assign(process.env, withProxyCredentials(process.env, credentials));
  const relay = createRelay({
    router: createRouter({
      target: config.router,
      schema,
      token,
      userAgent: `tollgate/${VERSION}`,
      version: VERSION,
      tls,
    }),
    schema,
    admitUrl: config.admitUrl,
    fetch: aws.admitFetch,
    policy: rules?.policy,
    deadlineMs: config.deadlineMs,
    answerWithinMs: config.answerWithinMs,
    fallback: config.fallback,
    relays: config.relays,
    writeJournal: aws.writeJournal,
    rooms: aws.rooms && { left: left ?? [], write: aws.rooms.write },
    schemaTrust: trustIn(schema, isLoopback(config.router.host)),
    observe: tellAll(observers, (error) => log.error({ error: nameOf(error) }, 'an observer failed')),
  });
  const health = await serveHealth(
    createHealthApp({ status: relay.status, renderMetrics: metrics.render }),
    config.health,
  );
  const failed = (error: unknown): void => log.warn({ error: whyOf(error) }, 'a heartbeat was not written');
  const { putBeat: put } = aws;
  const policyVersion = rules?.policy.version;
  const stopHeartbeat =
    put &&
    startHeartbeat({
      status: relay.status,
      policyVersion,
      answerWithinMs: config.answerWithinMs,
      put,
      clock: systemRelayClock,
      failed,
    });
  ending.by(async () => {
    emf?.leave();
    await relay.stop();
    stopHeartbeat?.();
    health.close();
    emf?.stop();
  });
  relay.start();
  log.info(
    {
      router: config.router.url,
      admit: config.admitRoute.kind,
      schema: schema.source,
      schemaHash: schema.hash,
      ...(schema.placeholder && { placeholder: true }),
      withoutSource: fieldsWithoutSource(schema.question, rules?.policy),
      policy: policyVersion,
      healthPort: health.port,
    },
    'started',
  );
}

function emfOf({ deployment }: RelayConfig, write: (line: string) => void): EmfWriter | undefined {
  return deployment === undefined
    ? undefined
    : startEmf({ deployment, clock: systemRelayClock, random: Math.random, write });
}

/**
 * Signals are heard from the beginning: the first process of a container has no default for them. Until there is something
 * to be ended with care, the process just ends.
 */
function endOnSignals(log: Logger): { by(stop: () => Promise<void>): void } {
  let stop = async (): Promise<void> => {};
  const fail = (error: unknown, message: string): void => {
    log.fatal({ error: nameOf(error), at: framesOf(error) }, message);
    process.exit(1);
  };
  const leave = (signal: string): void => {
    log.info({ signal }, 'stopping');
    stop().then(
      () => {
        log.info('stopped');
        process.exit(0);
      },
      (error: unknown) => fail(error, 'could not stop'),
    );
  };
  process.once('SIGTERM', leave);
  process.once('SIGINT', leave);
  // Nobody knows what is broken now: a fresh process is better than a guess.
  process.on('uncaughtException', (error) => fail(error, 'uncaught'));
  process.on('unhandledRejection', (error) => fail(error, 'unhandled rejection'));
  return {
    by: (how) => {
      stop = how;
    },
  };
}

/** Our own messages quote nothing from outside and say what to do. */
const whyOf = (error: unknown): string => (error instanceof RelayError ? error.message : nameOf(error));

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

try {
  await main(readRelayConfig(process.env));
} catch (error) {
  // Before there is a log, or because of what it would say first.
  process.stderr.write(`${error instanceof RelayError ? error.message : String(error)}\n`);
  process.exit(1);
}
