/** The relay as a process: reads its environment, wires the parts, leaves on SIGTERM. */
import { systemClock } from './clock.ts';
import { type RelayConfig, readRelayConfig } from './config.ts';
import { createHealthApp, serveHealth } from './health.ts';
import { createLogger, logEvents } from './log.ts';
import { createMetrics } from './metrics.ts';
import { readPolicyFile } from './policy-file.ts';
import { createRelay } from './relay.ts';
import { RelayError } from './relay-error.ts';
import { createRouter } from './router/router-client.ts';
import { tellAll } from './tell-all.ts';
import { fileToken, literalToken } from './token.ts';
import { VERSION } from './version.ts';
import { loadSchema } from './wire/schema.ts';

async function main(config: RelayConfig): Promise<void> {
  const log = createLogger(config.logLevel);
  const metrics = createMetrics();
  const observers = [metrics.observe, logEvents(log, systemClock)];
  const schema = loadSchema(config.protoFile);
  const rules = config.policyFile === undefined ? undefined : readPolicyFile(config.policyFile);
  if (rules === undefined) log.warn('no policy file: the fallback knows no security rules');
  const relay = createRelay({
    router: createRouter({
      target: config.router,
      schema,
      token: 'file' in config.token ? fileToken(config.token.file) : literalToken(config.token.value),
      userAgent: `tollgate/${VERSION}`,
      version: VERSION,
      ...(config.caFile !== undefined && { tls: { caFile: config.caFile } }),
    }),
    schema,
    admitUrl: config.admitUrl,
    fetch,
    policy: rules?.policy,
    directory: rules?.directory,
    deadlineMs: config.deadlineMs,
    fallback: config.fallback,
    observe: tellAll(observers, (error) => log.error({ error: nameOf(error) }, 'an observer failed')),
  });
  const health = await serveHealth(
    createHealthApp({ status: relay.status, renderMetrics: metrics.render }),
    config.health,
  );

  const leave = (signal: string): void => {
    log.info({ signal }, 'stopping');
    relay.stop().then(
      () => {
        health.close();
        log.info('stopped');
        process.exit(0);
      },
      (error: unknown) => fail(error, 'could not stop'),
    );
  };
  const fail = (error: unknown, message: string): void => {
    log.fatal({ error: nameOf(error), at: error instanceof Error ? framesOf(error) : undefined }, message);
    process.exit(1);
  };
  process.once('SIGTERM', leave);
  process.once('SIGINT', leave);
  // Nobody knows what is broken now: a fresh process is better than a guess.
  process.on('uncaughtException', (error) => fail(error, 'uncaught'));
  process.on('unhandledRejection', (error) => fail(error, 'unhandled rejection'));

  relay.start();
  log.info(
    {
      router: config.router.url,
      schema: schema.source,
      policy: rules?.policy.version,
      healthPort: health.port,
    },
    'started',
  );
}

/** Where, without the message: it might quote what came from outside. */
const framesOf = (error: Error): readonly string[] | undefined =>
  error.stack?.split('\n').filter((line) => /^\s+at /.test(line));

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

try {
  await main(readRelayConfig(process.env));
} catch (error) {
  // Before there is a log, or because of what it would say first.
  process.stderr.write(`${error instanceof RelayError ? error.message : String(error)}\n`);
  process.exit(1);
}
