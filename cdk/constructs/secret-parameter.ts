import { ENV_GITLAB_TOKEN_PARAMETER } from '../../functions/names.ts';
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

/** The token that asks GitLab about jobs. */
export const grantGitLabToken = (program: NodeLambda, settings: Settings): void =>
  grantSecret(program, ENV_GITLAB_TOKEN_PARAMETER, settings.parameters.gitlabToken, settings);
