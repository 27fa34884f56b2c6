import type { Rules } from '../../functions/core/admission/index.ts';
import type { RelayObserver } from '../../relay/events.ts';
import * as names from '../../relay/names.ts';
import { createRelay, type Relay } from '../../relay/relay.ts';
import { RelayError } from '../../relay/relay-error.ts';
import { createRouter } from '../../relay/router/router-client.ts';
import { isLoopback } from '../../relay/settings/aws-config.ts';
import { readRelayConfig } from '../../relay/settings/config.ts';
import { fileToken, literalToken } from '../../relay/token.ts';
import { loadSchema } from '../../relay/wire/schema.ts';
import { trustIn } from '../../relay/wire/schema-proof.ts';
import { UsageError } from '../terminal/command.ts';
import type { StartOptions } from './options.ts';

/** Flags of `npm start` and the settings of the relay they stand for: one set of checks serves both. */
const FLAGS: Readonly<Record<string, string>> = {
  [names.ENV_ROUTER_URL]: '--router',
  [names.ENV_ROUTER_TOKEN_FILE]: '--token-file',
  [names.ENV_PROTO_FILE]: '--proto',
  [names.ENV_CA_FILE]: '--ca-file',
  [`${names.ENV_ALLOW_PLAINTEXT_ROUTER}=yes`]: '--allow-plaintext-router',
};

/** A relay against the local router, or against the real one that the options name. Not started yet. */
export function newRelay(
  options: StartOptions,
  router: { readonly url: string; readonly token: string; readonly deadlineMs: number } | undefined,
  admitUrl: string,
  rules: Rules,
  observe: RelayObserver,
): Relay {
  const config = inFlags(() =>
    readRelayConfig({
      [names.ENV_ROUTER_URL]: router?.url ?? options.router,
      [names.ENV_ROUTER_TOKEN]: router?.token,
      [names.ENV_ROUTER_TOKEN_FILE]: options.tokenFile,
      [names.ENV_PROTO_FILE]: options.protoFile,
      [names.ENV_CA_FILE]: options.caFile,
      [names.ENV_ALLOW_PLAINTEXT_ROUTER]: options.allowPlaintextRouter ? 'yes' : 'no',
      [names.ENV_ADMIT_URL]: admitUrl,
    }),
  );
  const schema = inFlags(() => loadSchema(config.protoFile));
  const token = 'file' in config.token ? fileToken(config.token.file) : literalToken(config.token.value);
  // A relay waits for its token to appear; a person at a terminal wants to know.
  inFlags(() => token.read());
  return createRelay({
    router: createRouter({
      target: config.router,
      schema,
      token,
      userAgent: 'tollgate-local',
      ...(config.caFile === undefined ? {} : { tls: { caFile: config.caFile } }),
    }),
    schema,
    admitUrl: config.admitUrl,
    fetch,
    policy: rules.policy,
    deadlineMs: router?.deadlineMs ?? config.deadlineMs,
    fallback: config.fallback,
    // The local router is started with the schema of this repository; nobody knows a real one's.
    schemaTrust: router === undefined ? trustIn(schema, isLoopback(config.router.host)) : 'given',
    observe,
    // The local router is told to ask no more first; a real one may be about to.
    ...(router !== undefined && { leaveWaitingMs: 0 }),
  });
}

/** Complaints about settings name the flags people typed. */
function inFlags<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    let message = error.message.replace(/^\[\w+\] /, '');
    for (const [setting, flag] of Object.entries(FLAGS)) message = message.replaceAll(setting, flag);
    throw new UsageError(message);
  }
}
