import { type Logger, pino } from 'pino';
import { withProxyCredentials } from '../functions/core/contract/network.ts';
import { nodeFetch } from './admit/admit-call.ts';
import { awsServices } from './aws/aws-services.ts';
import { awsCredentials } from './aws/signed-fetch.ts';
import { isLoopback, type RelayConfig, readPolicyFile, readRelayConfig } from './config.ts';
import { framesOf, nameOf, observeAll } from './events.ts';
import { startEmf } from './monitoring/cloudwatch.ts';
import { createHealthApp, serveHealth, startHeartbeat } from './monitoring/health.ts';
import { createLogger, logEvents } from './monitoring/log.ts';
import { createMetrics } from './monitoring/metrics.ts';
import { createRelay, systemRelayClock } from './relay.ts';
import { RelayError } from './relay-error.ts';
import { createRouter } from './router/router-client.ts';
import { openSecrets } from './token.ts';
import { fieldsWithoutSource } from './translate/alias-sources.ts';
import { VERSION } from './version.ts';
import { loadSchema } from './wire/schema.ts';
import { initialState } from './wire/schema-proof.ts';

async function main(config: RelayConfig): Promise<void> {
  const { deployment, answerWithinMs } = config;
  const clock = systemRelayClock;
  const random = Math.random;
  // Log and metrics share one destination, so no line is torn by another. A write costs two thread switches, so lines share it.
  const out = pino.destination({ dest: 1, minLength: 4_096, periodicFlush: 250 });
  const log = createLogger(config.logLevel, out);
  const ending = endOnSignals(log);
  const metrics = createMetrics();
  const write = (line: string): void => void out.write(line);
  const emf = deployment === undefined ? undefined : startEmf({ deployment, clock, random, write });
  const observers = [metrics.observe, logEvents(log, clock), ...(emf ? [emf.observe] : [])];
  const schema = loadSchema(config.protoFile);
  const policy = config.policyFile === undefined ? undefined : readPolicyFile(config.policyFile);
  if (policy === undefined) log.warn('no policy file: the fallback knows no security rules');
  const aws = awsServices(config, { fetch: nodeFetch, credentials: awsCredentials(), nowMs: clock.nowMs });
  const failed =
    (message: string) =>
    (error: unknown): void =>
      log.warn({ error: whyOf(error) }, message);
  const reading = {
    parameter: aws.parameter,
    ...{ clock, random, failed: failed('a parameter could not be read') },
  };
  const [{ token, tls, proxyCredentials }, left = []] = await Promise.all([
    openSecrets(config, reading),
    aws.headroom?.read().catch((error: unknown) => {
      log.warn({ error: nameOf(error) }, 'the headroom snapshots of other relays could not be read');
    }),
  ]);
  // Both grpc-js and the tunnel read the proxy from here.
  Object.assign(process.env, withProxyCredentials(process.env, proxyCredentials));
  const userAgent = `tollgate/${VERSION}`;
  const relay = createRelay({
    router: createRouter({ target: config.router, schema, token, userAgent, version: VERSION, tls }),
    schema,
    admitUrl: config.admitUrl,
    fetch: aws.admitFetch,
    policy,
    deadlineMs: config.deadlineMs,
    answerWithinMs,
    fallback: config.fallback,
    relays: config.relays,
    writeJournal: aws.writeJournal,
    headroom: aws.headroom && { left, write: aws.headroom.write },
    schemaState: initialState(schema, isLoopback(config.router.host)),
    observe: observeAll(observers, (error) => log.error({ error: nameOf(error) }, 'an observer failed')),
  });
  const health = await serveHealth(
    createHealthApp({ status: relay.status, renderMetrics: metrics.render }),
    config.health,
  );
  const stopHeartbeat =
    aws.putHeartbeat &&
    startHeartbeat({
      status: relay.status,
      ...{ answerWithinMs, put: aws.putHeartbeat, clock, failed: failed('a heartbeat was not written') },
    });
  ending.by(async () => {
    emf?.leave();
    await relay.stop();
    stopHeartbeat?.();
    health.close();
    emf?.stop();
  });
  await relay.loadPolicy();
  relay.start();
  log.info(
    {
      router: config.router.url,
      admit: config.admitRoute.kind,
      schema: schema.source,
      schemaHash: schema.hash,
      ...(schema.placeholder && { placeholder: true }),
      withoutSource: fieldsWithoutSource(schema.request, policy),
      policy: relay.status().policyVersion,
      healthPort: health.port,
    },
    'started',
  );
}

/** Handles signals from the start, since process 1 of a container has no default for them. Before `by` the process just exits. */
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
  // The state of the process is unknown now, so a fresh one is safer.
  process.on('uncaughtException', (error) => fail(error, 'uncaught'));
  process.on('unhandledRejection', (error) => fail(error, 'unhandled rejection'));
  return {
    by: (how) => {
      stop = how;
    },
  };
}

/** Messages of the relay's own errors quote no input and name the remedy. */
const whyOf = (error: unknown): string => (error instanceof RelayError ? error.message : nameOf(error));

try {
  await main(readRelayConfig(process.env));
} catch (error) {
  process.stderr.write(`${error instanceof RelayError ? error.message : String(error)}\n`);
  process.exit(1);
}
