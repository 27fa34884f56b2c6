import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import * as names from '../../relay/names.ts';
import type { RelayAdmit, RelayServiceProps } from './relay-service-props.ts';

/** Where a task asks for its role's credentials, and itself: never by a proxy. */
const NO_PROXY = '169.254.170.2,169.254.169.254,127.0.0.1,localhost';

/** The image's working folder. */
const APP_FOLDER = '/app';

/** What a relay is told: names of secrets, never a secret. */
export function relayEnvironment(
  scope: Construct,
  { settings, admit, table }: RelayServiceProps,
): Record<string, string> {
  const { relay, gitlab, parameters } = settings;
  return {
    [names.ENV_ROUTER_URL]: gitlab.routerUrl,
    // Named by content: an image that does not have these descriptors does not start, and the deployment is rolled back.
    [names.ENV_PROTO_FILE]: `${APP_FOLDER}/${names.DESCRIPTORS_FOLDER}/${gitlab.descriptors.fileName}`,
    [names.ENV_ROUTER_TOKEN_PARAMETER]: parameters.routerToken,
    ...(relay.caParameter !== undefined && { [names.ENV_CA_PARAMETER]: relay.caParameter }),
    ...admitEnvironment(admit),
    [names.ENV_DEADLINE_MS]: String(relay.deadlineMs),
    [names.ENV_FALLBACK]: relay.failurePolicy,
    [names.ENV_GITLAB_INSTANCE]: gitlab.instance,
    ...(settings.metrics && { [names.ENV_DEPLOYMENT]: settings.stage }),
    ...(settings.watchdog && { [names.ENV_HEARTBEAT_TABLE]: table.tableName }),
    [names.ENV_AWS_REGION]: Stack.of(scope).region,
    // Lower case is what both the WebSocket tunnel and gRPC read.
    ...(relay.proxyUrl !== undefined && { https_proxy: relay.proxyUrl, no_proxy: NO_PROXY }),
  };
}

function admitEnvironment(admit: RelayAdmit): Record<string, string> {
  switch (admit.route) {
    case 'url':
      return { [names.ENV_ADMIT_ROUTE]: 'url', [names.ENV_ADMIT_URL]: admit.url };
    case 'invoke':
      return { [names.ENV_ADMIT_ROUTE]: 'invoke', [names.ENV_ADMIT_FUNCTION]: admit.fn.functionArn };
  }
}
