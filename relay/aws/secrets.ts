import type { RelayConfig } from '../config.ts';
import { RelayError } from '../relay-error.ts';
import type { TlsFiles } from '../router/tls.ts';
import { fileToken, literalToken, type TokenSource } from '../token.ts';
import type { AwsServices } from './aws-services.ts';
import { parameterToken } from './parameter-token.ts';
import { type StartReadingDeps, startReading } from './start-reading.ts';

type SecretsDeps = StartReadingDeps & Pick<AwsServices, 'parameter'>;

/** The token from wherever it is kept. @throws {RelayError} `token_unreadable` */
export async function openToken(
  { token, aws }: Pick<RelayConfig, 'token' | 'aws'>,
  deps: SecretsDeps,
): Promise<TokenSource> {
  const name = aws.tokenParameter;
  if (name !== undefined) return parameterToken({ ...deps, name, load: () => deps.parameter(name) });
  return 'file' in token ? fileToken(token.file) : literalToken(token.value);
}

/** Whom to trust besides the system's authorities. @throws {RelayError} `config_invalid` */
export async function openAuthority(
  { caFile, aws }: Pick<RelayConfig, 'caFile' | 'aws'>,
  deps: SecretsDeps,
): Promise<TlsFiles> {
  const name = aws.caParameter;
  if (name === undefined) return caFile === undefined ? {} : { caFile };
  const caPem = await startReading(() => deps.parameter(name), deps).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.name : 'unknown failure';
    throw new RelayError('config_invalid', `parameter ${name} could not be read (${why})`, { cause });
  });
  return { caPem };
}
