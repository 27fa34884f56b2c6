import { type Environment, refuseInvalid, unset, usageZone } from '../core/environment/settings.ts';
import { isAddressRange, readSignInConfig } from '../core/signin/config.ts';
import * as names from '../names.ts';

/** @throws {Error} `[config_invalid]` listing every setting that is missing or wrong, the sign-in's too. */
export function readConsoleConfig(env: Environment) {
  const problems = unset(env, [names.ENV_LEDGER_TABLE, names.ENV_GITLAB_INSTANCE, names.ENV_RULES_FILE]);
  const zone = usageZone(env, problems);
  const trustedProxies = (env[names.ENV_TRUSTED_PROXIES] ?? '').split(',').filter((each) => each !== '');
  for (const each of trustedProxies) {
    if (!isAddressRange(each))
      problems.push(
        `${names.ENV_TRUSTED_PROXIES} has "${each}"; expected an address or a range such as 10.0.0.0/8`,
      );
  }
  const signIn = readSignInConfig(env, problems);
  refuseInvalid(problems);
  return {
    ledgerTable: env[names.ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[names.ENV_GITLAB_INSTANCE] ?? '',
    rulesFile: env[names.ENV_RULES_FILE] ?? '',
    zone,
    signIn,
    /** ARN of the topic that owners listen to; absent: a report is mailed from the reader's own program. */
    ownersTopicArn: env[names.ENV_THRESHOLDS_TOPIC] || undefined,
    /** Addresses of proxies that are believed about a visitor's address. */
    trustedProxies,
    /** SSM parameter with the keys of signed links to requests. Absent: none is taken. */
    approvalKeyParameter: env[names.ENV_APPROVAL_KEY_PARAMETER] || undefined,
    dynamodbEndpoint: env[names.ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
