import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  ENV_ADMIN_GROUP_ID,
  ENV_CONSOLE_URL,
  ENV_FINANCE_GROUP_ID,
  ENV_GITLAB_TOKEN_PARAMETER,
  ENV_GITLAB_URL,
  ENV_OWNERS_FROM,
  ENV_SIGNIN_CLIENT_ID,
  ENV_SIGNIN_DEVICE_CLIENT_ID,
  ENV_SIGNIN_SECRET_PARAMETER,
  ENV_VIEWERS_FROM,
} from '../../names.ts';
import { type Environment, unset } from '../environment/index.ts';
import type { RoleSettings } from './gitlab-roles.ts';
import { CALLBACK_PATH, ownAddress } from './own-address.ts';

export interface SignInConfig {
  /** Also the issuer of the ID tokens: GitLab names itself by its address. */
  readonly gitlabUrl: string;
  /** `read_api`, an administrator's; for the roles, and for what runners are. */
  readonly gitlabTokenParameter: string;
  readonly clientId: string;
  /** The id of the application for terminals; absent: there is none. */
  readonly deviceClientId: string | undefined;
  readonly clientSecretParameter: string;
  readonly redirectUrl: string;
  readonly roles: RoleSettings;
}

const OWNERS = ['maintainer', 'owner'] as const;
const VIEWERS = ['guest', 'reporter', 'developer'] as const;

/** @returns problems, each with its setting and the correction, for callers that read more settings. */
export function readSignInConfig(
  env: Environment,
): { readonly config: SignInConfig } | { readonly problems: readonly string[] } {
  const problems = unset(env, [
    ENV_GITLAB_URL,
    ENV_GITLAB_TOKEN_PARAMETER,
    ENV_CONSOLE_URL,
    ENV_SIGNIN_CLIENT_ID,
    ENV_SIGNIN_SECRET_PARAMETER,
  ]);

  const groupId = (name: string): number | undefined => {
    const text = env[name];
    if (!text) return undefined;
    if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
    problems.push(`${name} is "${text}"; expected the id GitLab shows for the group`);
    return undefined;
  };
  const oneOf = <Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined => {
    const text = env[name];
    const choice = choices.find((one) => one === text);
    if (text && choice === undefined)
      problems.push(`${name} is "${text}"; expected one of ${choices.join(', ')}`);
    return choice;
  };
  const adminGroupId = groupId(ENV_ADMIN_GROUP_ID);
  const financeGroupId = groupId(ENV_FINANCE_GROUP_ID);
  const ownersFrom = oneOf(ENV_OWNERS_FROM, OWNERS);
  const viewersFrom = oneOf(ENV_VIEWERS_FROM, VIEWERS);
  const redirectUrl = `${(env[ENV_CONSOLE_URL] ?? '').replace(/\/$/, '')}${CALLBACK_PATH}`;
  if (env[ENV_CONSOLE_URL] && !isUsable(redirectUrl))
    problems.push(`${ENV_CONSOLE_URL} is not usable; expected one like https://budget.example.com`);
  if (problems.length > 0) return { problems };
  return {
    config: {
      gitlabUrl: env[ENV_GITLAB_URL] ?? '',
      gitlabTokenParameter: env[ENV_GITLAB_TOKEN_PARAMETER] ?? '',
      clientId: env[ENV_SIGNIN_CLIENT_ID] ?? '',
      deviceClientId: env[ENV_SIGNIN_DEVICE_CLIENT_ID] || undefined,
      clientSecretParameter: env[ENV_SIGNIN_SECRET_PARAMETER] ?? '',
      redirectUrl,
      roles: {
        ...withoutAbsent({ adminGroupId, financeGroupId, ownersFrom, viewersFrom }),
      },
    },
  };
}

function isUsable(redirectUrl: string): boolean {
  try {
    ownAddress(redirectUrl);
    return true;
  } catch {
    return false;
  }
}
