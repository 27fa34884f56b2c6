import { defaultProvider } from '@aws-sdk/credential-provider-node';

/** Who the relay is at AWS. */
interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Kept and renewed in time by whoever provides them. */
export type CredentialsProvider = () => Promise<Credentials>;

/**
 * The SDK's own chain: environment, web identity, profiles, the container's role, the machine's. It keeps what it found and
 * looks again 5 min before the end, while the old ones are still used.
 */
export const awsCredentials = (): CredentialsProvider => defaultProvider();
