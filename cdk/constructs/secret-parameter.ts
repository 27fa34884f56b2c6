import {
  ENV_CA_PARAMETER,
  ENV_GITLAB_TOKEN_PARAMETER,
  ENV_GITLAB_URL,
  ENV_PROXY_PARAMETER,
} from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import { arnHere, type NodeLambda } from './node-lambda.ts';

/**
 * Lets `program` read one SecureString while it runs, and tells it the name. The value is put there by an administrator:
 * CloudFormation cannot make a SecureString, and must never see one.
 *
 * @param variable - environment variable for the name.
 */
export function grantSecret(program: NodeLambda, variable: string, name: string, settings: Settings): void {
  program.fn.addEnvironment(variable, name);
  allowReading(program, name, settings);
}

/** The same of a SecureString for each group that gave one, below a path: `<path>/101`. */
export function grantGroupTokens(
  program: NodeLambda,
  variable: string,
  path: string,
  settings: Settings,
): void {
  program.fn.addEnvironment(variable, path);
  allowReading(program, `${path}/*`, settings);
}

function allowReading(program: NodeLambda, name: string, { parameters: { keyArn } }: Settings): void {
  program.allow(['ssm:GetParameter'], [arnHere(program, 'ssm', `parameter${name}`)]);
  // The account's own key for SSM needs no permission; a customer's does.
  if (keyArn !== undefined) {
    program.allow(['kms:Decrypt'], [keyArn], { StringLike: { 'kms:ViaService': 'ssm.*.amazonaws.com' } });
  }
}

/** GitLab's address and the way there. The proxy's own address has no password in it. */
export function grantGitLabRoute(program: NodeLambda, settings: Settings): void {
  const { url, proxyUrl, caParameter } = settings.gitlab;
  const { proxyCredentials } = settings.parameters;
  program.fn.addEnvironment(ENV_GITLAB_URL, url);
  if (proxyUrl !== undefined) program.fn.addEnvironment('https_proxy', proxyUrl);
  if (caParameter !== undefined) grantSecret(program, ENV_CA_PARAMETER, caParameter, settings);
  if (proxyCredentials !== undefined) grantSecret(program, ENV_PROXY_PARAMETER, proxyCredentials, settings);
}

/** The token that asks GitLab about jobs. */
export const grantGitLabToken = (program: NodeLambda, settings: Settings): void =>
  grantSecret(program, ENV_GITLAB_TOKEN_PARAMETER, settings.parameters.gitlabToken, settings);
