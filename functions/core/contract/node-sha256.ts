import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';

type Secret = string | ArrayBuffer | ArrayBufferView;

/** SHA-256 and its HMAC as the signer wants them, by Node's own crypto. */
export class NodeSha256 {
  readonly #secret: Uint8Array | string | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: Secret) {
    this.#secret = secret === undefined || typeof secret === 'string' ? secret : bytesOf(secret);
    this.#hash = this.#fresh();
  }

  update(chunk: string | Uint8Array): void {
    this.#hash.update(chunk);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#fresh();
  }

  #fresh(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret);
  }
}

const bytesOf = (secret: ArrayBuffer | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(secret)
    ? new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength)
    : new Uint8Array(secret);
