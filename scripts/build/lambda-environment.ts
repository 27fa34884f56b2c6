import type { Plugin } from 'esbuild';

const NAMESPACE = 'lambda-environment';
const PROVIDER = `export const defaultProvider = () => async () => {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = process.env;
  if (!accessKeyId || !secretAccessKey)
    throw new Error('no credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, as Lambda sets them, are missing');
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
};`;
const NO_FILES = [
  "export { CONFIG_PREFIX_SEPARATOR } from './constants';",
  'const none = Promise.resolve({ configFile: {}, credentialsFile: {} });',
  'export const loadSharedConfigFiles = () => none;',
].join('\n');

/**
 * Lambda hands a function the credentials of its role and every setting of the SDK in its environment, and has no files of either. The
 * SDK's search through files, other processes and servers is a third of its code.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 */
export const lambdaEnvironment: Plugin = {
  name: NAMESPACE,
  setup: (build) => {
    build.onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, () => ({
      path: 'credentials',
      namespace: NAMESPACE,
    }));
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({ contents: PROVIDER }));
    build.onLoad({ filter: /[\\/]shared-ini-file-loader[\\/]loadSharedConfigFiles\.js$/ }, () => ({
      contents: NO_FILES,
    }));
  },
};
