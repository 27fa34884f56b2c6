/** A secret as it is kept. */
interface SecretText {
  readonly value: string;
  /** The stored note: token and controller. Undefined: someone else stored the value. */
  readonly note: string | undefined;
}

/** Storage of a deployment's secrets. Errors never contain values. */
export interface SecretStore {
  readonly kind: 'folder' | 'parameters';
  /** Name of the file or parameter, the same wherever it is called from. */
  place(name: SecretName): string;
  /** @throws {Error} naming the place. */
  read(name: SecretName): Promise<SecretText | undefined>;
  /** Whole or not at all. @param note - one line without the value. @throws {Error} naming the place. */
  write(name: SecretName, value: string, note: string): Promise<void>;
}

export type SecretName = 'router-token' | 'webhook-secrets' | 'webhook-tokens' | `${number}`;
