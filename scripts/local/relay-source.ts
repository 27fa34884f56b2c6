import type { Rules } from '../../functions/core/admission/index.ts';
import { isLoopback, readRelayConfig } from '../../relay/config.ts';
import type { RelayEvent, RelayObserver } from '../../relay/events.ts';
import * as names from '../../relay/names.ts';
import { createRelay, type Relay } from '../../relay/relay.ts';
import { RelayError } from '../../relay/relay-error.ts';
import { createRouter } from '../../relay/router/router-client.ts';
import { fileToken, literalToken } from '../../relay/token.ts';
import { loadSchema } from '../../relay/wire/schema.ts';
import { trustIn } from '../../relay/wire/schema-proof.ts';
import { UsageError } from '../terminal/command.ts';
import type { StartOptions } from './options.ts';

/** The flags of `npm start` by the relay's settings: the relay's checks serve both. */
const FLAGS: Readonly<Record<string, string>> = {
  [names.ENV_ROUTER_URL]: '--router',
  [names.ENV_ROUTER_TOKEN_FILE]: '--token-file',
  [names.ENV_PROTO_FILE]: '--proto',
  [`${names.ENV_ALLOW_PLAINTEXT_ROUTER}=yes`]: '--allow-plaintext-router',
};

/** No job waits for a decision of the demo, which shows decisions and not fallbacks, also on a slow machine. */
export const LOCAL_DEADLINE_MS = 10_000;

/** Creates a relay for the local router, or for the real one in the options. It is not started yet. */
export function newRelay(
  options: StartOptions,
  router: { readonly url: string; readonly token: string } | undefined,
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
      [names.ENV_CA_FILE]: router === undefined ? process.env[names.ENV_CA_FILE] : undefined,
      [names.ENV_ALLOW_PLAINTEXT_ROUTER]: options.allowPlaintextRouter ? 'yes' : 'no',
      [names.ENV_ADMIT_URL]: admitUrl,
    }),
  );
  const schema = inFlags(() => loadSchema(config.protoFile));
  const token = 'file' in config.token ? fileToken(config.token.file) : literalToken(config.token.value);
  // A deployed relay waits for its token; here a missing one is an error.
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
    deadlineMs: router === undefined ? config.deadlineMs : LOCAL_DEADLINE_MS,
    fallback: config.fallback,
    // The local router has the schema of this repository; a real one's is unknown.
    schemaTrust: router === undefined ? trustIn(schema, isLoopback(config.router.host)) : 'given',
    observe,
    // The local router has stopped asking by then; a real one may be about to ask.
    ...(router !== undefined && { leaveWaitingMs: 0 }),
  });
}

/** Errors about settings name the flags instead. */
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

/** Returns one line about an event that a person should see. */
export function troubleText(event: RelayEvent): string | undefined {
  switch (event.type) {
    case 'backing_off':
      return `no stream to the router: ${event.details}${withRemedy(event.remedy)}; next try in ${Math.round(event.delayMs)} ms`;
    case 'registration_failed':
      return `registration failed: ${event.details}${withRemedy(event.remedy)}; admission goes on without it`;
    case 'unreadable':
      return `a question could not be read: ${event.problem}`;
    case 'schema':
      if (event.standing === 'placeholder')
        return 'nothing is ever rejected: these descriptors are the placeholder; give GitLab’s own with --proto';
      return event.standing === 'suspect'
        ? 'nothing is rejected: most recent questions contradict the schema'
        : undefined;
    case 'rejection_withheld':
      return `a rejection was withheld${event.code === undefined ? '' : ` (${event.code})`}: the schema is ${event.standing}`;
    case 'own_fault':
      return `a part of the relay failed: ${event.place}, ${event.error}`;
    case 'unknown_fields':
      return `the schema does not explain: ${event.fields.join(' ')}`;
    case 'suspicious':
      return `job ${event.jobId}: variables contradict GitLab in ${event.fields.join(', ')}`;
    case 'admit_failed':
      return `admit function: ${event.details}`;
    default:
      return undefined;
  }
}

const withRemedy = (remedy: string | undefined): string => (remedy === undefined ? '' : `; ${remedy}`);
