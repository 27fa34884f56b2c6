/** Makes an error class whose messages begin with a code. @param retryable - whether asking again may help */
export const codedError = <Code extends string>(name: string, retryable: Readonly<Record<Code, boolean>>) =>
  class extends Error {
    override readonly name: string = name;
    readonly code: Code;

    constructor(code: Code, message: string, options?: ErrorOptions) {
      super(`[${code}] ${message}`, options);
      this.code = code;
    }

    get retryable(): boolean {
      return retryable[this.code];
    }
  };
