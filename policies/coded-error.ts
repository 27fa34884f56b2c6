/**
 * Makes an error class whose every failure has a code. The code leads the message, for people who read logs.
 *
 * @param name - of the class, as stack traces show it
 * @param retryable - all codes, and whether asking again may help
 */
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
